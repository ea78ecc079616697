// Generated C++ to object code, in process, with clang's libraries.
#pragma once

#include <string>
#include <vector>

#include "korch/base/result.h"

namespace korch {

// The bytes of a relocatable ELF object (position independent, hidden nothing: phase symbols are global).
// Thread-safe. Deterministic: same source, same bytes. `more`: further arguments of clang's front end, by
// which tests instrument what they run. `code`: a CPU's (Device::code).
Result<std::string> compile_object(const std::string& source, const std::string& code,
                                   const std::vector<const char*>& more = {});

// The shell command that compiles such a source to the same code; the file's name follows it.
std::string compile_command(const std::string& code);

// Version of compiler and flags, part of cost keys.
std::string compiler_version();

// Objects loaded into this process; code stays until destruction.
class LoadedKernels {
 public:
  LoadedKernels();
  ~LoadedKernels();
  LoadedKernels(const LoadedKernels&) = delete;
  LoadedKernels& operator=(const LoadedKernels&) = delete;
  // Each object becomes a namespace of its own: equal symbols in different objects do not clash.
  // Returns the addresses of `symbols`.
  Result<std::vector<void*>> load(const std::string& object, const std::vector<std::string>& symbols);

 private:
  struct State;
  State* state_;
};

}  // namespace korch
