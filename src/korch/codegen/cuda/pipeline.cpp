#include "korch/codegen/cuda/pipeline.h"

#include <algorithm>
#include <cmath>

namespace korch::tile {
namespace {

bool accesses_buffer(const TileGraph& graph, const Nest& nest, int buffer) {
  const std::vector<int> reachable = graph.pool.reachable(nest.roots());
  return std::any_of(nest.stores.begin(), nest.stores.end(),
                     [&](const Store& store) { return store.buffer == buffer; }) ||
         std::any_of(reachable.begin(), reachable.end(), [&](int id) {
           return graph.pool[id].kind == ExprKind::load && graph.pool[id].buffer == buffer;
         });
}

// A map that writes one scratch buffer, of what the phase does not write in the loops of `product`.
bool fills_panel(const TileGraph& graph, const Phase& phase, size_t number, size_t product) {
  const Nest& nest = phase.nests[number];
  if (nest.kind != NestKind::map || nest.first_slice_only || nest.stores.size() != 1 ||
      graph.buffers[nest.stores[0].buffer].role != BufferRole::scratch)
    return false;
  for (int id : graph.pool.reachable(nest.roots())) {
    if (graph.pool[id].kind != ExprKind::load) continue;
    for (const Nest& other : phase.nests)
      for (const Store& store : other.stores)
        if (store.buffer == graph.pool[id].buffer && other.around == phase.nests[product].around)
          return false;
  }
  return true;
}

bool no_dynamics(const Condition& condition) {
  return std::all_of(condition.bounds().begin(), condition.bounds().end(),
                     [](const Bound& bound) { return bound.index.dynamics().empty(); });
}

std::optional<Pipeline> pipeline_of(const ScheduledGraph& graph, size_t phase, size_t product) {
  const Phase& in = graph.phases[phase];
  const std::vector<OuterLoop>& around = in.nests[product].around;
  Pipeline result{product, product, 0, graph.schedule[phase][product].stages, {}};
  if (result.stages == 1 || around.empty() ||
      std::any_of(around.begin(), around.end(),
                  [&](const OuterLoop& loop) { return in.grid_variable(loop.variable.name) != nullptr; }))
    return std::nullopt;
  while (result.first > 0 && in.nests[result.first - 1].around == around &&
         fills_panel(graph, in, result.first - 1, product)) {
    const int panel = in.nests[--result.first].stores[0].buffer;
    if (!result.panels.insert(panel).second) return std::nullopt;
  }
  for (size_t i = 0; i < in.nests.size(); ++i) {
    if (i >= result.first && i <= product) continue;
    result.outer = std::max(result.outer, shared_loops(in.nests[i].around, around));
    for (int panel : result.panels)
      if (accesses_buffer(graph, in.nests[i], panel)) return std::nullopt;
  }
  if (result.panels.empty() || result.outer == around.size()) return std::nullopt;
  return result;
}

}  // namespace

std::vector<Pipeline> pipelines(const ScheduledGraph& graph, size_t phase,
                                const std::map<int, HeldTile>& held) {
  std::vector<Pipeline> found;
  const std::vector<Nest>& nests = graph.phases[phase].nests;
  for (size_t i = 0; i < nests.size(); ++i) {
    if (!graph.schedule[phase][i].registers || held.count(nests[i].stores[0].buffer) == 0) continue;
    if (std::optional<Pipeline> pipeline = pipeline_of(graph, phase, i))
      found.push_back(std::move(*pipeline));
  }
  return found;
}

std::optional<int> copied_load(const TileGraph& graph, const Nest& nest) {
  if (nest.kind != NestKind::map || nest.stores.size() != 1 || !nest.stores[0].condition.always_true() ||
      !nest.stores[0].offset.dynamics().empty() ||
      graph.buffers[nest.stores[0].buffer].role != BufferRole::scratch)
    return std::nullopt;
  int value = nest.stores[0].value;
  const Expr& guard = graph.pool[value];
  if (guard.kind == ExprKind::guard) {
    const Expr& otherwise = graph.pool[guard.args[1]];
    if (!no_dynamics(guard.condition) || otherwise.kind != ExprKind::constant || otherwise.number != 0 ||
        std::signbit(otherwise.number))
      return std::nullopt;
    value = guard.args[0];
  }
  const Expr& load = graph.pool[value];
  if (load.kind != ExprKind::load || load.type != DType::f32 || !load.coords[0].dynamics().empty() ||
      graph.buffers[load.buffer].role == BufferRole::scratch)
    return std::nullopt;
  return value;
}

}  // namespace korch::tile
