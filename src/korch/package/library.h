// An executable as a shared library of this process.
#pragma once

#include <memory>

#include "korch/package/executable.h"

namespace korch {

struct CloseLibrary {
  void operator()(void* handle) const;
};
using Library = std::unique_ptr<void, CloseLibrary>;

// Loads a file that was read, and so checked, before. A file that has replaced another of its name is loaded
// beside the other. Error{io} when it is not for this machine or cannot be loaded.
Library open_library(const ExecutableInfo& executable);

// Null when there is none.
void* find_symbol(const Library& library, const char* symbol);

// Error{io} when there is none.
void* require_symbol(const Library& library, const char* symbol, const ExecutableInfo& executable);

}  // namespace korch
