#include "korch/codegen/passes/partition.h"

#include <algorithm>

#include "korch/kernel/partition.h"

namespace korch::tile {
namespace {

constexpr size_t kMostSegments = 3;  // that are printed for every part
constexpr double kShared = 0.75;     // of their loads, at most, are left together

bool may_be_partitioned(const Nest& nest, const NestSchedule& schedule) {
  return nest.kind == NestKind::map && schedule.partitioned.empty() && schedule.transposed.empty() &&
         nest.segments.size() <= kMostSegments;
}

bool fills_scratch(const TileGraph& graph, const Nest& nest) {
  return std::all_of(nest.stores.begin(), nest.stores.end(), [&](const Store& store) {
    return graph.buffers[store.buffer].role == BufferRole::scratch;
  });
}

// The nest where all that its partitioned variables decide holds, or not all of it.
Body body_where(bool holds, ExprPool& pool, const Phase& phase, const Nest& nest,
                const NestSchedule& schedule) {
  Condition all;
  for (const std::string& variable : schedule.partitioned)
    all.require(decided_along(pool, phase, nest, schedule.variable, variable));
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
    const Index narrow = Index::variable(nest.cut, segment.low, segment.high - 1);
    const Condition here = substitute(all, {{nest.cut, narrow}});
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

Body jammed_body(ExprPool& pool, const Nest& nest, const std::string& along, const Body& inside, int count) {
  LoopVariable variable;
  for (const LoopVariable& loop : nest.loops)
    if (loop.name == along) variable = loop;
  Body body{jammed(pool, inside.stores, variable, count), {}};
  for (const Segment& segment : inside.segments)
    body.segments.push_back({segment.low, segment.high, jammed(pool, segment.stores, variable, count)});
  return body;
}

// That change along the variable.
size_t loads(const ExprPool& pool, const std::vector<Store>& stores, const std::string& variable) {
  const std::vector<int> nodes = pool.reachable(roots_of(stores));
  return static_cast<size_t>(std::count_if(nodes.begin(), nodes.end(), [&](int id) {
    return pool[id].kind == ExprKind::load && pool[id].coords[0].depends_on(variable);
  }));
}

// For how many values of a loop the condition holds, where constants tell; else the most there may be.
int64_t values_inside(const Condition& condition, const LoopVariable& loop) {
  int64_t low = 0, high = loop.extent - 1;
  for (const Bound& bound : condition.bounds()) {
    if (bound.index.terms().size() != 1) continue;
    const int64_t k = bound.index.stride(loop.name), rest = bound.index.constant();
    while (low <= high && low * k + rest < bound.low) ++low;
    while (low <= high && high * k + rest > bound.high) --high;
  }
  return high - low + 1;
}

// Of these numbers the one that leaves fewest values for one by one.
int even_jam(int64_t values, int most) {
  int best = 1;
  int64_t fewest = values;
  for (int jam = most; jam >= std::max(2, most / 2); --jam)
    if (values % jam < fewest && jam <= values) {
      best = jam;
      fewest = values % jam;
    }
  return best;
}

int worthwhile_jam(ExprPool& pool, const Phase& phase, const Nest& nest, const NestSchedule& schedule,
                   int most) {
  const auto loop = std::find_if(nest.loops.begin(), nest.loops.end(), [&](const LoopVariable& variable) {
    return variable.name == schedule.partitioned.back();
  });
  if (schedule.variable.empty() || loop == nest.loops.end() || loop->name == schedule.variable) return 1;
  most =
      even_jam(values_inside(decided_along(pool, phase, nest, schedule.variable, loop->name), *loop), most);
  if (most == 1) return 1;
  const Body inside = body_where(true, pool, phase, nest, schedule),
             together = jammed_body(pool, nest, loop->name, inside, most);
  const size_t alone = loads(pool, inside.stores, loop->name),
               jammed = loads(pool, together.stores, loop->name);
  const bool shares = alone > 0 && static_cast<double>(jammed) <= kShared * most * static_cast<double>(alone);
  return shares ? most : 1;
}

}  // namespace

void partition(ScheduledGraph& graph, int jam) {
  for (size_t p = 0; p < graph.phases.size(); ++p) {
    const Phase& phase = graph.phases[p];
    for (size_t n = 0; n < phase.nests.size(); ++n) {
      const Nest& nest = phase.nests[n];
      NestSchedule& schedule = graph.schedule[p][n];
      if (!may_be_partitioned(nest, schedule)) continue;
      for (const std::string& variable : nesting_order(phase, nest, schedule.variable))
        if (!decided_along(graph.pool, phase, nest, schedule.variable, variable).always_true())
          schedule.partitioned.push_back(variable);
      if (!schedule.partitioned.empty())
        schedule.jam = worthwhile_jam(graph.pool, phase, nest, schedule, jam);
      if (schedule.jam == 1 && !fills_scratch(graph, nest)) schedule.partitioned.clear();
    }
  }
}

Parts parts_of(ExprPool& pool, const Phase& phase, const Nest& nest, const NestSchedule& schedule) {
  Parts parts{
      body_where(true, pool, phase, nest, schedule), body_where(false, pool, phase, nest, schedule), {}};
  if (schedule.jam > 1)
    parts.jammed = jammed_body(pool, nest, schedule.partitioned.back(), parts.inside, schedule.jam);
  return parts;
}

}  // namespace korch::tile
