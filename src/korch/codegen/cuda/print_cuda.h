// A tile graph as CUDA C++: a thread block per slice, its threads along the loops of each nest and together
// through the loops around them, a barrier after each nest whose threads may meet the next one's in memory.
#pragma once

#include <string>

#include "korch/kernel/schedule.h"

namespace korch::tile {

constexpr int kCudaThreads = 256;               // per block, what the text assumes
constexpr int64_t kCudaSharedBytes = 40 << 10;  // of scratch; buffers beyond lie in global memory

// Of a graph that is not lowered, per phase a kernel, to be launched one after the other: `extern "C"
// __global__ void symbol(T* in0, ..., int* status, char* workspace)`, each with as many blocks as the phase
// has slices (or fewer) of kCudaThreads. Arguments are aligned to 16 bytes; `workspace` holds
// cuda_workspace_bytes per block. A gather index out of range sets *status to 1.
std::string print_cuda(const ScheduledGraph& graph, const std::string& symbol);
int64_t cuda_workspace_bytes(const ScheduledGraph& graph);
// `symbol` for the first phase, symbol_1, symbol_2 ... for the others.
std::string cuda_phase_symbol(const std::string& symbol, size_t phase);

}  // namespace korch::tile
