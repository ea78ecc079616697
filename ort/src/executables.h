// Executables: subgraphs compiled by libkorch, kept in a folder for other sessions and processes.
#pragma once

#include <functional>
#include <korch/korch.hpp>
#include <map>
#include <memory>
#include <string>

#include "options.h"
#include "subgraph.h"

namespace korch {
class TempDir;
}

namespace korch::ort {

// What an executable depends on besides the subgraph, in a line: the machine, the compiler, the options.
std::string surroundings(const Options& options);
// The name of its file.
std::string cache_name(const Subgraph& subgraph, const std::string& surroundings);

struct Log {
  std::function<void(const std::string&)> inform, warn;
};

class Executables {
 public:
  // `log` hears of compilations, and is warned of a folder or files in it that are of no use.
  Executables(Options options, Log log);
  ~Executables();

  // Compiles it, unless this object, or the folder, has it. Takes seconds to minutes. Throws Failure, Error
  // or RunFailure when there is no executable that can run; nothing is kept then.
  Executable of(const Subgraph& subgraph);
  const Options& options() const { return options_; }

 private:
  void compile(const Subgraph& subgraph, const std::string& path) const;
  Executable load(const Subgraph& subgraph, const std::string& path) const;
  void drop_old() const;

  const Options options_;
  const Log log_;
  const std::string surroundings_;
  std::unique_ptr<TempDir> own_folder_;  // where none are kept
  std::map<std::string, Executable> loaded_;
};

}  // namespace korch::ort
