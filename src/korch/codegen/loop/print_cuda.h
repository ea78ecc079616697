// A Program as CUDA C++: the same nests, a thread block per slice, its threads along the loops of each nest.
#pragma once

#include <string>

#include "korch/codegen/loop/loop_program.h"

namespace korch::loop {

constexpr int kCudaThreads = 256;               // per block, what the text assumes
constexpr int64_t kCudaSharedBytes = 32 << 10;  // stages beyond this live in global memory

// `extern "C" __global__ void symbol(T* arg0, ..., int* status, char* workspace)`, to be launched with
// Program::grid_size() blocks (or fewer) of kCudaThreads; `workspace` holds Program::scratch_bytes per block
// when they exceed kCudaSharedBytes. A gather index out of range sets *status to 1.
std::string print_cuda(const Program& program, const std::string& symbol);

}  // namespace korch::loop
