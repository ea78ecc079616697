#include "korch/kernel/in_place.h"

namespace korch::tile {

std::vector<std::pair<int, int>> in_place_pairs(const TileGraph& graph) {
  std::vector<std::pair<int, int>> pairs;
  if (graph.phases.size() != 1 || graph.phases[0].nests.size() != 1) return pairs;
  const Nest& nest = graph.phases[0].nests[0];
  if (nest.kind == NestKind::scatter || ranks(nest.kind)) return pairs;
  if (nest.stores.size() != 1 || !nest.stores[0].condition.always_true()) return pairs;
  const Store& store = nest.stores[0];
  const Buffer& output = graph.buffers[store.buffer];
  const std::vector<int> nodes = graph.pool.reachable(nest.roots());
  for (size_t i = 0; i < graph.buffers.size() && graph.buffers[i].role == BufferRole::input; ++i) {
    const Buffer& input = graph.buffers[i];
    bool same = input.bytes() == output.bytes() && input.elements == output.elements;
    for (int node : nodes) {
      const Expr& e = graph.pool[node];
      if (e.kind == ExprKind::load && e.buffer == static_cast<int>(i))
        same = same && e.coords[0] == store.offset;
    }
    if (same) pairs.push_back({static_cast<int>(i), 0});
  }
  return pairs;
}

}  // namespace korch::tile
