// --dump-dir: a file per stage, and per kernel of a plan its source and, where it has one, its tile graph.
#pragma once

#include <functional>
#include <string>

#include "korch/base/file_roles.h"
#include "korch/search/plan_builder.h"

namespace korch {

class Dumps {
 public:
  // An empty folder: nothing is written. `files` must outlive this.
  Dumps(std::string folder, FileRoles& files) : folder_(std::move(folder)), files_(files) {}

  // Refuses now, before any work, what could not be written later. Error{usage}.
  void reserve(const std::string& file) const;
  // `text` is called only where there is a folder. Error{io}.
  void write(const std::string& file, const std::function<std::string()>& text) const;
  void write_kernels(const BuiltPlan& built, const Device& target) const;

 private:
  std::string path(const std::string& file) const { return folder_ + "/" + file; }

  std::string folder_;
  FileRoles& files_;
};

}  // namespace korch
