// Options of the provider, as texts that an application gives when it makes a session.
#pragma once

#include <map>
#include <string>

namespace korch::ort {

struct Options {
  int threads = 0;                             // that executables are compiled for; 0: all cores
  std::string cache;                           // folder of executables; empty: none are kept
  std::string compiler;                        // the program korch; empty: the one installed with libkorch
  std::map<std::string, std::string> compile;  // what was asked of the compiler, by name
};

// By name (korch/options/option_table.h); what is not given keeps its preset, the cache below $XDG_CACHE_HOME
// or ~/.cache. Throws Error{usage} on a name that does not exist and on a value out of range.
Options parse_options(const std::map<std::string, std::string>& given);

}  // namespace korch::ort
