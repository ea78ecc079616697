#include "korch/codegen/cuda/cuda_kernel.h"

#include "korch/codegen/cuda/print_cuda.h"

namespace korch {

Result<CudaKernel> generate_cuda(const Graph& graph, const Candidate& candidate,
                                 const Implementation& implementation, const std::string& symbol) {
  Target target;  // what shapes the slices: blocks of a GPU's size instead of a few workers
  constexpr int kMultiprocessors = 132;
  target.threads = kMultiprocessors;
  Result<tile::TileGraph> built = tile_graph(graph, candidate, implementation, target);
  if (!built) return built.refusal();
  const tile::TileGraph& tiles = built.value();
  if (const std::string obstacle = tile::cuda_obstacle(tiles); !obstacle.empty())
    return Refusal{RefusalReason::no_kernel_family, obstacle};
  for (const tile::Buffer& buffer : tiles.buffers)
    if (is_small_float(buffer.type))
      return Refusal{RefusalReason::unsupported_type, korch::name(buffer.type)};
  CudaKernel kernel;
  kernel.source = tile::print_cuda(tiles, symbol);
  for (size_t i = 0; i < tiles.phases.size(); ++i)
    kernel.phases.push_back({tile::cuda_phase_symbol(symbol, i), tiles.phases[i].slices()});
  for (const tile::Buffer& buffer : tiles.buffers)
    if (buffer.role == tile::BufferRole::temporary) kernel.temporary_bytes.push_back(buffer.bytes());
  kernel.threads = tile::kCudaThreads;
  kernel.workspace_bytes = tiles.scratch_bytes > tile::kCudaSharedBytes ? tiles.scratch_bytes : 0;
  return kernel;
}

}  // namespace korch
