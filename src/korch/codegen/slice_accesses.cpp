#include "korch/codegen/slice_accesses.h"

#include <algorithm>
#include <map>

#include "korch/base/error.h"
#include "korch/kernel/region.h"

namespace korch {
namespace {

// Of one argument and block. More would be exact, and slow to compare.
constexpr size_t kMostRanges = 256;
// Gaps below a cache line and a half are filled at once: tasks that meet within a line are better apart
// anyway.
constexpr int64_t kNoGap_bytes = 96;
constexpr int64_t kMostRuns = 1 << 14;  // of one box; of more, its hull

void add_runs(const tile::StridedBox& box, int64_t element_bytes, std::vector<ByteRange>& ranges) {
  std::vector<tile::StridedBox::Axis> outer;
  int64_t run = element_bytes, runs = 1;
  for (const tile::StridedBox::Axis& axis : box.axes) {  // strides ascend
    if (axis.stride * element_bytes <= run + kNoGap_bytes && outer.empty()) {
      run += (axis.extent - 1) * axis.stride * element_bytes;
    } else {
      outer.push_back(axis);
      runs *= axis.extent;
    }
  }
  const int64_t first = box.base * element_bytes;
  if (runs > kMostRuns) {
    ranges.push_back({first, (box.last() + 1) * element_bytes});
    return;
  }
  std::vector<int64_t> at(outer.size(), 0);
  for (int64_t start = first;;) {
    ranges.push_back({start, start + run});
    size_t axis = 0;
    for (; axis < outer.size(); ++axis) {
      start += outer[axis].stride * element_bytes;
      if (++at[axis] < outer[axis].extent) break;
      start -= outer[axis].stride * outer[axis].extent * element_bytes;
      at[axis] = 0;
    }
    if (axis == outer.size()) return;
  }
}

std::vector<ArgumentAccess> access_of(const tile::TileGraph& graph, const tile::Phase& phase, int64_t begin,
                                      int64_t end) {
  std::map<int, std::pair<std::vector<ByteRange>, std::vector<ByteRange>>> found;  // read, written
  for (const tile::Access& access : tile::accesses(graph, phase, begin, end)) {
    const tile::Buffer& buffer = graph.buffers[static_cast<size_t>(access.buffer)];
    if (buffer.role == tile::BufferRole::scratch || buffer.role == tile::BufferRole::constant) continue;
    auto& [read, written] = found[access.buffer];
    for (const tile::StridedBox& box : access.region.boxes)
      add_runs(box, static_cast<int64_t>(size_bytes(buffer.type)),
               access.direction == tile::Direction::read ? read : written);
  }
  std::vector<ArgumentAccess> result;
  for (auto& [buffer, ranges] : found)
    result.push_back({buffer, joined(std::move(ranges.first), kMostRanges),
                      joined(std::move(ranges.second), kMostRanges)});
  return result;
}

}  // namespace

std::vector<PhaseAccess> slice_accesses(const tile::TileGraph& graph, const Kernel& kernel, int threads) {
  KORCH_ASSERT(graph.phases.size() == kernel.phases.size(), "a kernel has the phases of its tile graph");
  std::vector<PhaseAccess> result;
  for (size_t i = 0; i < graph.phases.size(); ++i) {
    const tile::Phase& phase = graph.phases[i];
    const KernelPhase& launch = kernel.phases[i];
    PhaseAccess access;
    access.work = phase.slice_work() * static_cast<double>(phase.slices());
    for (const tile::GridVariable& variable : phase.grid)  // chunked variables count whole in a slice's work
      if (variable.chunk > 1) access.work /= static_cast<double>(variable.count());
    const int64_t block = block_slices(launch, threads);
    // Rounds that workers share leave nobody idle: what others would run between them takes their caches.
    const bool apart = launch.rounds == 1 || launch.grid == 1;
    std::vector<ArgumentAccess> all;
    if (!apart) all = access_of(graph, phase, 0, launch.slices());
    for (int64_t round = 0; round < launch.slices(); round += launch.grid)
      for (int64_t begin = round; begin < round + launch.grid; begin += block) {
        const int64_t end = std::min(round + launch.grid, begin + block);
        access.blocks.push_back(apart ? access_of(graph, phase, begin, end) : all);
      }
    result.push_back(std::move(access));
  }
  return result;
}

}  // namespace korch
