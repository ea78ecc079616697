#include "korch/codegen/passes/expand.h"

#include <algorithm>

namespace korch::tile {
namespace {

constexpr int64_t kShort = 8;      // values of a loop that is written out
constexpr size_t kMostNests = 16;  // that one becomes

// The first short loop that alone decides a condition by a quotient or remainder, but for the one along which
// lanes run already.
const LoopVariable* deciding_loop(const TileGraph& graph, const Phase& phase, const Nest& nest) {
  if (nest.kind == NestKind::scatter) return nullptr;  // its points have an order
  for (int node : graph.pool.reachable(nest.roots()))
    for (const Bound& bound : graph.pool[node].condition.bounds()) {
      const std::set<std::string> names = bound.index.variables();
      if (names.size() != 1 || bound.index.affine_in(*names.begin())) continue;
      for (const LoopVariable& loop : nest.loops)
        if (loop.name == *names.begin() && loop.extent <= kShort && loop.name != nest.schedule.variable &&
            phase.chunked(loop.name) == nullptr)
          return &loop;
    }
  return nullptr;
}

Nest with_value(TileGraph& graph, const Nest& nest, const std::string& variable, int64_t value) {
  Rewriter rewriter(graph.pool, graph.pool, {{variable, Index(value)}});
  Nest result = nest;
  const std::vector<int> values = rewriter.rewrite(nest.roots());
  for (size_t i = 0; i < result.stores.size(); ++i) {
    result.stores[i].value = values[i];
    result.stores[i].offset = rewriter.rewrite(nest.stores[i].offset);
    result.stores[i].condition = substitute(nest.stores[i].condition, {{variable, Index(value)}});
  }
  std::erase_if(result.stores, [](const Store& store) { return store.condition.always_false(); });
  result.position = substitute(nest.position, {{variable, Index(value)}});
  std::erase_if(result.loops, [&](const LoopVariable& loop) { return loop.name == variable; });
  return result;
}

// The nests that one becomes, in the order of the values.
void expand_nest(TileGraph& graph, const Phase& phase, const Nest& nest, size_t most,
                 std::vector<Nest>& result) {
  if (nest.stores.empty()) return;  // none of them holds for this value
  const LoopVariable* loop = deciding_loop(graph, phase, nest);
  if (loop == nullptr || static_cast<size_t>(loop->extent) > most) {
    result.push_back(nest);
    return;
  }
  for (int64_t value = 0; value < loop->extent; ++value)
    expand_nest(graph, phase, with_value(graph, nest, loop->name, value),
                most / static_cast<size_t>(loop->extent), result);
}

}  // namespace

void expand(TileGraph& graph) {
  for (Phase& phase : graph.phases) {
    std::vector<Nest> nests;
    for (const Nest& nest : phase.nests) expand_nest(graph, phase, nest, kMostNests, nests);
    phase.nests = std::move(nests);
  }
}

}  // namespace korch::tile
