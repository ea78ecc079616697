#include "korch/codegen/loop/schedule.h"

#include <algorithm>

namespace korch::loop {
namespace {

constexpr int64_t kFloatsPerLine = 16;

// What one access costs per vector when `variable` counts the lanes, in instructions or so.
double access_cost(const Index& offset, const std::string& variable, bool is_store) {
  constexpr double kByLane = 16, kLinePerLane = 24;
  if (!offset.depends_on(variable)) return is_store ? 1 : 0.5;  // broadcast
  if (!offset.affine_in(variable)) return kLinePerLane;
  const int64_t stride = offset.stride(variable);
  if (stride == 1) return 1;
  if (stride == 2 && !is_store) return 3;
  return stride > -kFloatsPerLine && stride < kFloatsPerLine ? kByLane : kLinePerLane;
}

// A condition that one variable decides cuts its loop into segments; one that mixes it with others goes lane
// by lane.
double condition_cost(const Condition& condition, const std::string& variable) {
  constexpr double kByLane = 40;
  double cost = 0;
  for (const Bound& bound : condition.bounds())
    if (bound.index.depends_on(variable)) cost += bound.index.variables().size() == 1 ? 0.5 : kByLane;
  return cost;
}

bool is_access(const Expr& e) {
  return e.kind == ExprKind::load || e.kind == ExprKind::stage;
}

double vector_cost(const Program& program, const Nest& nest, const std::vector<int>& roots,
                   const LoopVariable& variable, bool reduced, int lanes) {
  const ExprPool& pool = *program.pool;
  double cost = 1;
  for (int node : pool.reachable(roots)) {
    const Expr& e = pool[node];
    if (is_access(e)) cost += access_cost(access_offset(program, node), variable.name, false);
    if (e.kind == ExprKind::call) cost += 0.5;
    if (e.kind == ExprKind::guard) cost += condition_cost(e.condition, variable.name);
  }
  if (!reduced)
    for (const NestTarget& target : nest.targets) cost += access_cost(target.offset, variable.name, true);
  // Lanes that stay idle in the last vector.
  int64_t extent = variable.extent;
  for (const GridVariable& grid : program.grid)
    if (grid.variable.name == variable.name) extent = grid.chunk;
  const double vectors = static_cast<double>((extent + lanes - 1) / lanes);
  const double idle = vectors * lanes / static_cast<double>(extent);
  return cost * idle + (reduced ? 0.01 : 0);  // a tie keeps the accumulators in separate lanes
}

bool vectorizes_across(const ExprPool& pool, int root) {
  return pool[root].type == DType::f32;
}

}  // namespace

std::vector<int> unconditional_nodes(const ExprPool& pool, const std::vector<int>& roots) {
  return pool.reachable(roots,
                        [](const Expr& e) { return e.kind != ExprKind::guard && e.kind != ExprKind::fold; });
}

Index access_offset(const Program& program, int node) {
  const Expr& e = (*program.pool)[node];
  return e.kind == ExprKind::stage ? program.buffer_of(e.value).offset(e.coords) : e.coords[0];
}

std::string find_tile(const Program& program, const Nest& nest, const std::vector<int>& roots,
                      const std::vector<LoopVariable>& variables, const std::string& vector_variable,
                      int lanes, std::vector<int>* loads) {
  const ExprPool& pool = *program.pool;
  if (nest.kind != NestKind::map) return {};
  for (const NestTarget& target : nest.targets)
    if (!target.offset.affine_in(vector_variable) || target.offset.stride(vector_variable) != 1) return {};
  std::string tile;
  std::vector<int> found;
  for (int node : unconditional_nodes(pool, roots)) {
    if (!is_access(pool[node]) || pool[node].type != DType::f32) continue;
    const Index offset = access_offset(program, node);
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

Schedule schedule_nest(const Program& program, const Nest& nest, const std::vector<int>& roots, int lanes) {
  Schedule result;
  const ExprPool& pool = *program.pool;
  double best = 0;
  auto consider = [&](const LoopVariable& variable, bool reduced) {
    if (variable.extent < 2) return;
    const double cost = vector_cost(program, nest, roots, variable, reduced, lanes);
    if (!result.vector_variable.empty() && cost >= best) return;
    best = cost;
    result.vector_variable = variable.name;
    result.horizontal = reduced;
  };
  for (size_t i = nest.loops.size(); i-- > 0;) consider(nest.loops[i], false);
  if (nest.kind == NestKind::reduce && vectorizes_across(pool, roots[0]))
    for (size_t i = nest.reduced.size(); i-- > 0;) consider(nest.reduced[i], true);
  if (nest.kind != NestKind::map && !result.horizontal && pool[roots[0]].type != DType::f32 &&
      pool[roots[0]].type != DType::f64 && pool[roots[0]].type != DType::i32 &&
      pool[roots[0]].type != DType::i64)
    result.vector_variable.clear();
  // Stores along one variable, loads along another: transposed blocks.
  for (size_t i = nest.loops.size(); i-- > 0 && nest.kind == NestKind::map;) {
    if (nest.loops[i].extent < lanes / 2) continue;
    std::vector<int> loads;
    const std::string tile = find_tile(program, nest, roots, nest.loops, nest.loops[i].name, lanes, &loads);
    if (tile.empty()) continue;
    result.vector_variable = nest.loops[i].name;
    result.tile_variable = tile;
    result.tile_loads = std::move(loads);
    break;
  }
  return result;
}

}  // namespace korch::loop
