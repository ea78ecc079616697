// A kernel spelled as CUDA C++, run on the emulator and compared with the interpreter.
#pragma once

#include <string>

#include "check_kernel.h"
#include "emulator.h"

namespace korch::testing {

// In both orders of threads, then again with every access checked (Checks::memory): a block for each slice,
// and half as many. Empty when all is right, else what is wrong, with the graph and the kernel's text.
std::string check_emulated(const Graph& graph, const Candidate& candidate, const Reference& reference,
                           const CudaKernel& kernel, const Implementation& implementation);

// One run with every access checked.
struct CheckedRun {
  std::string wrong;  // as KernelCheck::problem
  std::vector<Finding> findings;
};
CheckedRun run_checked(Emulator& emulator, const Graph& graph, const Candidate& candidate,
                       const Reference& reference, Launch launch, int64_t slices_per_block);

}  // namespace korch::testing
