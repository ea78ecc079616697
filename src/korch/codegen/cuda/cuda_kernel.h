// A candidate's kernel as CUDA C++ (print_cuda.h tells its signature and how it uses the workspace).
#pragma once

#include <string>

#include "korch/codegen/implementation.h"

namespace korch {

struct CudaPhase {
  std::string symbol;
  int64_t grid = 1;  // blocks, or fewer
};

struct CudaKernel {
  std::string source;             // self-contained
  std::vector<CudaPhase> phases;  // launched one after the other
  int threads = 1;                // per block
  int64_t workspace_bytes = 0;    // per block
  std::vector<int64_t> temporary_bytes;
  std::vector<Packing> constant_packing;  // one per constant operand
};

// All ways known on cuda_device(); every one has CUDA text, but for the types that generate_cuda refuses.
std::vector<Implementation> cuda_implementations(const Graph& graph, const Candidate& candidate);

// Refuses what the family refuses, library calls, and float16 and bfloat16.
Result<CudaKernel> generate_cuda(const Graph& graph, const Candidate& candidate,
                                 const Implementation& implementation, const std::string& symbol);

}  // namespace korch
