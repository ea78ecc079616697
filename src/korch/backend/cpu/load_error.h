#pragma once

#include <string>

namespace korch {

// Error{io}: this process cannot load code. Thrown here because loaded_kernels.cpp is built without RTTI, as
// LLVM is.
[[noreturn]] void throw_load_error(const std::string& what);

}  // namespace korch
