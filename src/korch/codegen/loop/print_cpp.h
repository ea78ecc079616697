// A Program as self-contained C++ with explicit vectors, for clang.
#pragma once

#include <string>

#include "korch/codegen/loop/loop_program.h"
#include "korch/target/target.h"

namespace korch::loop {

// The phase function is extern "C" `symbol`.
std::string print_cpp(const Program& program, const Target& target, const std::string& symbol);

}  // namespace korch::loop
