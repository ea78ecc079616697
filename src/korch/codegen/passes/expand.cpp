#include "korch/codegen/passes/expand.h"

#include <algorithm>
#include <utility>

namespace korch::tile {
namespace {

constexpr int64_t kShort = 8;      // values of a loop that is written out
constexpr size_t kMostNests = 16;  // that one becomes

// The first short loop that alone decides a condition by a quotient or remainder, but for the one along which
// lanes run already.
const LoopVariable* deciding_loop(const TileGraph& graph, const Phase& phase, const ScheduledNest& nest) {
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

ScheduledNest with_value(TileGraph& graph, const ScheduledNest& nest, const std::string& variable,
                         int64_t value) {
  Rewriter rewriter(graph.pool, graph.pool, {{variable, Index(value)}});
  ScheduledNest result = nest;
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

// The nests that one becomes, in the order of the values. Whether it becomes others.
bool expand_nest(TileGraph& graph, const Phase& phase, const ScheduledNest& nest, size_t most,
                 std::vector<ScheduledNest>& result) {
  if (nest.stores.empty()) return true;  // none of them holds for this value
  const LoopVariable* loop = deciding_loop(graph, phase, nest);
  if (loop == nullptr || static_cast<size_t>(loop->extent) > most) {
    result.push_back(nest);
    return false;
  }
  for (int64_t value = 0; value < loop->extent; ++value)
    expand_nest(graph, phase, with_value(graph, nest, loop->name, value),
                most / static_cast<size_t>(loop->extent), result);
  return true;
}

}  // namespace

bool expand(ScheduledGraph& graph) {
  const std::vector<Phase> phases = std::exchange(graph.phases, {});
  const TileSchedule schedule = std::exchange(graph.schedule, {});
  bool any = false;
  for (size_t p = 0; p < phases.size(); ++p) {
    ScheduledPhase phase{phases[p].grid, {}};
    for (size_t n = 0; n < phases[p].nests.size(); ++n)
      any |= expand_nest(graph, phases[p], {phases[p].nests[n], schedule[p][n]}, kMostNests, phase.nests);
    add_phase(graph, std::move(phase));
  }
  return any;
}

}  // namespace korch::tile
