// Options of the provider, as texts that an application gives when it makes a session.
#pragma once

#include <map>
#include <string>

namespace korch::ort {

struct Options {
  int threads = 0;  // that executables are compiled for; 0: all cores
  std::string accuracy = "standard";
  std::string cache;  // folder of executables; empty: none are kept
  bool measure = true;
  double budget_s = 0;   // of one compilation; 0: no limit
  std::string compiler;  // the program korch; empty: the one installed with libkorch
};

// By name; what is not given keeps its default, the cache below $XDG_CACHE_HOME or ~/.cache. Throws
// Error{usage} on a name that does not exist, which is told with those that do, and on a value out of range.
Options parse_options(const std::map<std::string, std::string>& given);

}  // namespace korch::ort
