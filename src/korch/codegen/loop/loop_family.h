// The family "loop": every candidate without linear and opaque primitives, as generated loop nests
// (docs/design/codegen-loop.md).
#pragma once

#include <string>
#include <vector>

#include "korch/codegen/implementation.h"

namespace korch {

void list_loop(const Graph& graph, const Candidate& candidate, const Target& target, Accuracy accuracy,
               std::vector<Implementation>& found, std::vector<Refusal>& refused);
Result<tile::TileGraph> build_loop(const Graph& graph, const Candidate& candidate,
                                   const Implementation& implementation, const Target& target);

// The same kernel as CUDA C++ (codegen/cuda/print_cuda.h tells its signature and how it uses the workspace).
struct CudaKernel {
  std::string symbol;
  std::string source;           // self-contained
  int64_t grid = 1;             // blocks, or fewer
  int threads = 1;              // per block
  int64_t workspace_bytes = 0;  // per block
};
Result<CudaKernel> generate_loop_cuda(const Graph& graph, const Candidate& candidate,
                                      const Implementation& implementation, const std::string& symbol);

}  // namespace korch
