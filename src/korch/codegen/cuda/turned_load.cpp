#include "korch/codegen/cuda/turned_load.h"

#include <algorithm>
#include <cstdlib>

namespace korch::tile {
namespace {

constexpr int64_t kFar = 8, kLong = 16;  // elements; values of a loop

bool is_long(const Phase& phase, const LoopVariable& loop) {
  const GridVariable* chunked = phase.chunked(loop.name);
  return (chunked != nullptr ? chunked->chunk : loop.extent) >= kLong;
}

bool is_beside(const Index& offset, const std::string& variable) {
  return offset.dynamics().empty() && offset.affine_in(variable) && offset.stride(variable) == 1;
}

}  // namespace

std::optional<TurnedLoad> turned_load(const TileGraph& graph, const Phase& phase, const Nest& nest,
                                      const std::string& fast) {
  if (nest.kind != NestKind::map) return std::nullopt;
  for (const LoopVariable& loop : nest.loops)
    if (loop.name == fast && !is_long(phase, loop)) return std::nullopt;
  for (const Store& store : nest.stores)
    if (!store.condition.always_true() || !is_beside(store.offset, fast) ||
        graph.buffers[store.buffer].role == BufferRole::scratch)
      return std::nullopt;
  for (int id : graph.pool.unconditional(nest.roots())) {
    const Expr& e = graph.pool[id];
    if (e.kind != ExprKind::load || e.type == DType::bool_ || size_bytes(e.type) > 4 ||
        graph.buffers[e.buffer].role == BufferRole::scratch)
      continue;
    const Index& offset = e.coords[0];
    if (!offset.affine_in(fast) || std::abs(offset.stride(fast)) < kFar) continue;
    for (const LoopVariable& loop : nest.loops)
      if (loop.name != fast && is_beside(offset, loop.name) && is_long(phase, loop))
        return TurnedLoad{id, loop.name};
  }
  return std::nullopt;
}

std::string turned_along(const TileGraph& graph, const Phase& phase, const Nest& nest) {
  for (const LoopVariable& loop : nest.loops)
    if (turned_load(graph, phase, nest, loop.name)) return loop.name;
  return "";
}

}  // namespace korch::tile
