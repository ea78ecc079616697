#include "korch/codegen/passes/partition.h"

#include <algorithm>

#include "korch/kernel/partition.h"

namespace korch::tile {
namespace {

constexpr size_t kMostSegments = 3;  // that are printed for every part
constexpr int kJam = 4;              // values at once
constexpr double kShared = 0.75;     // of their loads, at most, are left together

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

std::vector<Store> jammed(ExprPool& pool, const std::vector<Store>& stores, const LoopVariable& variable,
                          int count) {
  std::vector<Store> result;
  for (int i = 0; i < count; ++i) {
    Rewriter rewriter(pool, pool, {{variable.name, Index::variable(variable.name, variable.extent) + i}});
    const std::vector<int> values = rewriter.rewrite(roots_of(stores));
    for (size_t s = 0; s < values.size(); ++s)
      result.push_back(
          {stores[s].buffer, rewriter.rewrite(stores[s].offset), values[s], stores[s].condition});
  }
  return result;
}

Body jammed_body(ExprPool& pool, const Nest& nest, const Body& inside, int count) {
  LoopVariable variable;
  for (const LoopVariable& loop : nest.loops)
    if (loop.name == nest.partitioned.back()) variable = loop;
  Body body{jammed(pool, inside.stores, variable, count), {}};
  for (const Segment& segment : inside.segments)
    body.segments.push_back({segment.low, segment.high, jammed(pool, segment.stores, variable, count)});
  return body;
}

size_t loads(const ExprPool& pool, const std::vector<Store>& stores) {
  const std::vector<int> nodes = pool.reachable(roots_of(stores));
  return static_cast<size_t>(
      std::count_if(nodes.begin(), nodes.end(), [&](int id) { return pool[id].kind == ExprKind::load; }));
}

int worthwhile_jam(ExprPool& pool, const Phase& phase, const Nest& nest) {
  const auto is_loop = [&](const LoopVariable& loop) { return loop.name == nest.partitioned.back(); };
  if (nest.partitioned.back() == nest.schedule.variable || nest.schedule.variable.empty() ||
      std::none_of(nest.loops.begin(), nest.loops.end(), is_loop))
    return 1;
  const Body inside = body_where(true, pool, phase, nest), together = jammed_body(pool, nest, inside, kJam);
  const bool shares = static_cast<double>(loads(pool, together.stores)) <=
                      kShared * kJam * static_cast<double>(loads(pool, inside.stores));
  return shares ? kJam : 1;
}

}  // namespace

void partition(TileGraph& graph) {
  for (Phase& phase : graph.phases)
    for (Nest& nest : phase.nests) {
      if (!may_be_partitioned(graph, nest)) continue;
      for (const std::string& variable : nesting_order(phase, nest))
        if (!decided_along(graph.pool, phase, nest, variable).always_true())
          nest.partitioned.push_back(variable);
      if (!nest.partitioned.empty()) nest.jam = worthwhile_jam(graph.pool, phase, nest);
    }
}

Parts parts_of(ExprPool& pool, const Phase& phase, const Nest& nest) {
  Parts parts{body_where(true, pool, phase, nest), body_where(false, pool, phase, nest), {}};
  if (nest.jam > 1) parts.jammed = jammed_body(pool, nest, parts.inside, nest.jam);
  return parts;
}

}  // namespace korch::tile
