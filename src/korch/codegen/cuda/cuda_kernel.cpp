#include "korch/codegen/cuda/cuda_kernel.h"

#include "korch/codegen/cuda/print_cuda.h"
#include "korch/codegen/kernel_spec.h"

namespace korch {

std::vector<Implementation> cuda_implementations(const Graph& graph, const Candidate& candidate) {
  return implementations(graph, candidate, cuda_device(), Accuracy::standard);
}

Result<CudaKernel> generate_cuda(const Graph& graph, const Candidate& candidate,
                                 const Implementation& implementation, const std::string& symbol) {
  const Result<KernelSpec> spec = propose(graph, candidate, implementation, cuda_device());
  if (!spec) return spec.refusal();
  if (!spec.value().tiles) return Refusal{RefusalReason::no_kernel_family, "a call of a library"};
  const tile::ScheduledGraph& tiles = *spec.value().tiles;
  CudaKernel kernel;
  kernel.source = tile::print_cuda(tiles, symbol);
  for (size_t i = 0; i < tiles.phases.size(); ++i)
    // One block takes ordered slices one after the other.
    kernel.phases.push_back(
        {tile::cuda_phase_symbol(symbol, i), tiles.phases[i].rounds() > 1 ? 1 : tiles.phases[i].slices()});
  for (const tile::Buffer& buffer : tiles.buffers) {
    if (buffer.role == tile::BufferRole::constant) kernel.constant_packing.push_back(buffer.packing);
    if (buffer.role == tile::BufferRole::temporary) kernel.temporary_bytes.push_back(buffer.bytes());
  }
  kernel.threads = tile::kCudaThreads;
  kernel.workspace_bytes = tile::cuda_workspace_bytes(tiles);
  return kernel;
}

}  // namespace korch
