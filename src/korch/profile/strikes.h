// Kernels that proved wrong, or that a library refuses although it seemed to offer them. A strike is keyed by
// the kernel's key, the instructions it is compiled for, and the versions of compiler and korch, so that
// another version may take the kernel again.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "korch/device/device.h"
#include "korch/plan/plan.h"
#include "korch/profile/database.h"

namespace korch {

class Strikes {
 public:
  // What the database remembers counts as well; it may be null.
  Strikes(Database* database, const Device& device);

  void strike(const StruckKernel& kernel);
  // The record of a kernel that was struck. From any thread.
  std::optional<StruckKernel> find(const Kernel& kernel) { return find(kernel.key().hex()); }
  std::optional<StruckKernel> find(const std::string& kernel_key);
  // All that find() has found or strike() has added, by key.
  std::vector<StruckKernel> met() const;

 private:
  Hash database_key(const std::string& kernel_key) const;

  Database* database_;
  const std::string code_, compiler_;
  mutable std::mutex mutex_;
  std::map<std::string, StruckKernel> met_;
};

}  // namespace korch
