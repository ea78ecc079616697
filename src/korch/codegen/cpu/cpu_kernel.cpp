#include "korch/codegen/cpu/cpu_kernel.h"

#include <algorithm>

#include "korch/codegen/cpu/print_cpp.h"
#include "korch/kernel/in_place.h"

namespace korch::tile {
namespace {

KernelPhase phase_of(const Phase& phase, size_t number, const Device& target) {
  // Shares handed out at a time: long enough to hide the hand-out, short enough to balance.
  constexpr double kGrainWork = 16384;  // elements
  constexpr int64_t kSharesPerWorker = 4;
  double work = phase.slice_work();
  for (const GridVariable& variable : phase.grid)  // chunked variables count whole in a nest's work
    if (variable.chunk > 1)
      work = work * static_cast<double>(variable.chunk) / static_cast<double>(variable.variable.extent);
  KernelPhase result;
  result.symbol = phase_symbol(number);
  result.rounds = phase.rounds();
  result.grid = phase.slices() / result.rounds;
  result.grain = std::clamp<int64_t>(static_cast<int64_t>(kGrainWork / std::max(1.0, work)), 1,
                                     std::max<int64_t>(1, result.grid / (kSharesPerWorker * target.workers)));
  return result;
}

}  // namespace

Kernel cpu_launch(const TileGraph& graph, const Device& target) {
  Kernel kernel;
  kernel.in_place = in_place_pairs(graph);
  kernel.scratch_bytes = graph.scratch_bytes;
  for (size_t i = 0; i < graph.phases.size(); ++i)
    kernel.phases.push_back(phase_of(graph.phases[i], i, target));
  for (const Buffer& buffer : graph.buffers) {
    if (buffer.role == BufferRole::constant) kernel.constant_packing.push_back(buffer.packing);
    if (buffer.role == BufferRole::temporary) kernel.temporary_bytes.push_back(buffer.bytes());
  }
  return kernel;
}

}  // namespace korch::tile
