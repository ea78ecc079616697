#include "korch/codegen/passes/partition.h"

#include <algorithm>

#include "korch/kernel/partition.h"

namespace korch::tile {
namespace {

constexpr size_t kMostSegments = 3;  // that are printed for every part

bool may_be_partitioned(const TileGraph& graph, const Nest& nest) {
  return nest.kind == NestKind::map && nest.schedule.transposed.empty() &&
         nest.segments.size() <= kMostSegments &&
         std::all_of(nest.stores.begin(), nest.stores.end(), [&](const Store& store) {
           return graph.buffers[store.buffer].role == BufferRole::scratch;
         });
}

// The nest where all that its partitioned variables decide holds, or not all of it.
Body body_where(bool holds, ExprPool& pool, const Phase& phase, const Nest& nest) {
  Condition all;
  for (const std::string& variable : nest.partitioned)
    all.require(decided_along(pool, phase, nest, variable));
  const auto decided = [&](const std::vector<Store>& stores, const Condition& condition) {
    Rewriter rewriter(pool, pool, {});
    rewriter.assume(condition, holds);
    const std::vector<int> values = rewriter.rewrite(roots_of(stores));
    std::vector<Store> result;
    for (size_t i = 0; i < values.size(); ++i)
      result.push_back(
          {stores[i].buffer, rewriter.rewrite(stores[i].offset), values[i], stores[i].condition});
    return result;
  };
  Body body{decided(nest.stores, all), {}};
  for (const Segment& segment : nest.segments) {
    const Index narrow = Index::variable(nest.schedule.variable, segment.low, segment.high - 1);
    const Condition here = substitute(all, {{nest.schedule.variable, narrow}});
    body.segments.push_back({segment.low, segment.high, decided(segment.stores, here)});
  }
  return body;
}

}  // namespace

void partition(TileGraph& graph) {
  for (Phase& phase : graph.phases)
    for (Nest& nest : phase.nests) {
      if (!may_be_partitioned(graph, nest)) continue;
      for (const std::string& variable : nesting_order(phase, nest))
        if (!decided_along(graph.pool, phase, nest, variable).always_true())
          nest.partitioned.push_back(variable);
    }
}

Parts parts_of(ExprPool& pool, const Phase& phase, const Nest& nest) {
  return {body_where(true, pool, phase, nest), body_where(false, pool, phase, nest)};
}

}  // namespace korch::tile
