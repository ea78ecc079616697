// A kernel spelled as CUDA C++, run on the emulator and compared with the interpreter.
#pragma once

#include <string>

#include "check_kernel.h"

namespace korch::testing {

// In both orders of threads. Empty when all is right, else what is wrong, with the graph and the kernel's
// text.
std::string check_emulated(const Graph& graph, const Candidate& candidate, const Reference& reference,
                           const CudaKernel& kernel, const Implementation& implementation);

}  // namespace korch::testing
