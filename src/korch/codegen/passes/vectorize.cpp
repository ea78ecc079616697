#include "korch/codegen/passes/vectorize.h"

#include <algorithm>

#include "korch/device/device.h"

namespace korch::tile {
namespace {

// What one access costs per vector when `variable` counts the lanes, in instructions or so.
double access_cost(const Index& offset, const std::string& variable, bool is_store) {
  constexpr double kByLane = 16, kLinePerLane = 24;
  if (!offset.depends_on(variable)) return is_store ? 1 : 0.5;  // broadcast
  if (!offset.affine_in(variable)) return kLinePerLane;
  const int64_t stride = offset.stride(variable);
  if (stride == 1) return 1;
  if (stride == 2 && !is_store) return 3;
  return stride > -kCacheLineFloats && stride < kCacheLineFloats ? kByLane : kLinePerLane;
}

// A condition that one variable decides cuts its loop into segments; one that mixes it with others is asked
// of the first and last lane where it is affine, else of each.
double condition_cost(const Condition& condition, const std::string& variable) {
  constexpr double kCut = 0.5, kBothEnds = 4, kByLane = 40;
  double cost = 0;
  for (const Bound& bound : condition.bounds()) {
    if (!bound.index.depends_on(variable)) continue;
    const bool alone = bound.index.variables().size() == 1;
    cost += alone ? kCut : bound.index.affine_in(variable) ? kBothEnds : kByLane;
  }
  return cost;
}

double vector_cost(const TileGraph& graph, const Phase& phase, const Nest& nest, const LoopVariable& variable,
                   bool reduced, int lanes) {
  double cost = 1;
  for (int node : graph.pool.reachable(nest.roots())) {
    const Expr& e = graph.pool[node];
    if (e.kind == ExprKind::load) cost += access_cost(e.coords[0], variable.name, false);
    if (e.kind == ExprKind::call) cost += 0.5;
    if (e.kind == ExprKind::guard) cost += condition_cost(e.condition, variable.name);
  }
  if (!reduced)
    for (const Store& store : nest.stores) cost += access_cost(store.offset, variable.name, true);
  // Lanes that stay idle in the last vector.
  const GridVariable* chunked = phase.chunked(variable.name);
  const int64_t extent = chunked != nullptr ? chunked->chunk : variable.extent;
  const double vectors = static_cast<double>((extent + lanes - 1) / lanes);
  const double idle = vectors * lanes / static_cast<double>(extent);
  return cost * idle + (reduced ? 0.01 : 0);  // a tie keeps the accumulators in separate lanes
}

// Indices of 64 bits are checked lane by lane, and what they address is loaded lane by lane: nothing is left
// for vectors where nothing is computed.
bool only_gathers(const TileGraph& graph, const Nest& nest, const std::string& variable) {
  bool gathers = false;
  for (int node : graph.pool.reachable(nest.roots())) {
    const Expr& e = graph.pool[node];
    if (e.kind == ExprKind::call && e.fn != ScalarFn::cast) return false;
    gathers = gathers || (e.kind == ExprKind::checked && e.type == DType::i64 &&
                          graph.pool.variables(node).count(variable) != 0);
  }
  return gathers;
}

// What the kind of nest leaves to lanes.
bool runs_in_lanes(const TileGraph& graph, const Nest& nest, const std::string& variable) {
  const Index& to = nest.stores[0].offset;
  switch (nest.kind) {
    case NestKind::map:
    case NestKind::reduce:
      return true;
    case NestKind::arg_reduce:
      return !nest.position.depends_on(variable);
    case NestKind::scatter:
      return scatters_in_lanes(graph, nest, variable);
    case NestKind::scan:  // rows side by side, or one after the other
      return to.affine_in(variable) && to.stride(variable) == 1;
    case NestKind::top_k:
    case NestKind::suppress:
      return false;
  }
  __builtin_unreachable();
}

bool vectorizes_across(DType type) {
  return type == DType::f32;
}

bool vectorizes_along(DType type) {
  return type == DType::f32 || type == DType::f64 || type == DType::i32 || type == DType::i64;
}

}  // namespace

std::string find_transposed(const ExprPool& pool, const Nest& nest,
                            const std::vector<LoopVariable>& variables, const std::string& vector_variable,
                            int lanes, std::vector<int>* loads) {
  if (nest.kind != NestKind::map) return {};
  for (const Store& store : nest.stores)
    if (!store.offset.affine_in(vector_variable) || store.offset.stride(vector_variable) != 1) return {};
  std::string tile;
  std::vector<int> found;
  for (int node : pool.unconditional(nest.roots())) {
    if (pool[node].kind != ExprKind::load || pool[node].type != DType::f32) continue;
    const Index& offset = pool[node].coords[0];
    if (!offset.affine_in(vector_variable) || !offset.dynamics().empty()) continue;
    const int64_t stride = offset.stride(vector_variable);
    if (stride == 0 || stride == 1) continue;
    for (const LoopVariable& variable : variables) {
      if (variable.name == vector_variable || variable.extent < lanes / 2 ||
          !offset.affine_in(variable.name) || offset.stride(variable.name) != 1 ||
          (!tile.empty() && tile != variable.name))
        continue;
      tile = variable.name;
      found.push_back(node);
    }
  }
  if (loads != nullptr) *loads = std::move(found);
  return tile;
}

namespace {

bool decides_store(const Nest& nest, const std::string& variable) {
  return std::any_of(nest.stores.begin(), nest.stores.end(),
                     [&](const Store& store) { return store.condition.depends_on(variable); });
}

}  // namespace

NestSchedule choose_lanes(const TileGraph& graph, const Phase& phase, const Nest& nest, int lanes) {
  NestSchedule result;
  const DType type = graph.pool[nest.stores[0].value].type;
  double best = 0;
  auto consider = [&](const LoopVariable& variable, bool reduced) {
    const bool possible = runs_in_lanes(graph, nest, variable.name) && !decides_store(nest, variable.name);
    if (variable.extent < 2 || !possible) return;
    const double cost = vector_cost(graph, phase, nest, variable, reduced, lanes);
    if (!result.variable.empty() && cost >= best) return;
    best = cost;
    result.variable = variable.name;
    result.across = reduced;
  };
  for (size_t i = nest.loops.size(); i-- > 0;) consider(nest.loops[i], false);
  if (nest.kind == NestKind::reduce && vectorizes_across(type))
    for (size_t i = nest.reduced.size(); i-- > 0;) consider(nest.reduced[i], true);
  if (reduces(nest.kind) && !result.across && !vectorizes_along(type)) result.variable.clear();
  if (only_gathers(graph, nest, result.variable)) result.variable.clear();
  // Stores along one variable, loads along another: transposed blocks.
  for (size_t i = nest.loops.size(); i-- > 0 && nest.kind == NestKind::map;) {
    if (nest.loops[i].extent < lanes / 2 || decides_store(nest, nest.loops[i].name)) continue;
    const std::string tile =
        find_transposed(graph.pool, nest, nest.loops, nest.loops[i].name, lanes, nullptr);
    if (tile.empty() || decides_store(nest, tile)) continue;
    result.variable = nest.loops[i].name;
    result.transposed = tile;
    break;
  }
  if (!result.variable.empty()) result.lanes = lanes;
  return result;
}

void vectorize(ScheduledGraph& graph, int lanes) {
  for (size_t p = 0; p < graph.phases.size(); ++p)
    for (size_t n = 0; n < graph.phases[p].nests.size(); ++n) {
      NestSchedule& schedule = graph.schedule[p][n];
      if (schedule.variable.empty() && !schedule.registers)
        schedule = choose_lanes(graph, graph.phases[p], graph.phases[p].nests[n], lanes);
    }
}

}  // namespace korch::tile
