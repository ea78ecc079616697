// What an executable holds besides code for a CPU: tables, weights, and what is not loaded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "korch/package/data_object.h"
#include "korch/package/package_input.h"
#include "korch/package/tables.h"

namespace korch {

class ExecutableParts {
 public:
  // `gpu`: the code of its kernels; null: they run on a CPU, and `isa` is what that needs. `input` outlives
  // it.
  ExecutableParts(const PackageInput& input, Isa isa, const DeviceCode* gpu = nullptr);
  ExecutableParts(const ExecutableParts&) = delete;
  ExecutableParts& operator=(const ExecutableParts&) = delete;

  // All but the record of checksums. They show bytes of this and of the input.
  std::vector<DataSection> sections() const;
  PackageReport report() const;

 private:
  const PackageInput& input_;
  std::vector<std::string_view> weights_;  // with padding between
  WeightsLayout layout_;
  Blob tables_, info_;
  std::string sources_, graphs_;
};

}  // namespace korch
