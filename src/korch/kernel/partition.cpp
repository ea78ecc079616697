#include "korch/kernel/partition.h"

#include <algorithm>

namespace korch::tile {
namespace {

bool is_loop(const Nest& nest, const std::string& variable) {
  return std::any_of(nest.loops.begin(), nest.loops.end(),
                     [&](const LoopVariable& loop) { return loop.name == variable; });
}

// The innermost variable of the bound; empty where one is of a fold.
std::string innermost(const Bound& bound, const std::vector<std::string>& order) {
  auto last = order.begin();
  for (const std::string& name : bound.index.variables()) {
    const auto found = std::find(order.begin(), order.end(), name);
    if (found == order.end()) return {};
    last = std::max(last, found);
  }
  return *last;
}

}  // namespace

std::vector<std::string> nesting_order(const Phase& phase, const Nest& nest) {
  std::vector<std::string> order;
  for (const GridVariable& grid : phase.grid)
    if (grid.chunk == 1) order.push_back(grid.variable.name);
  for (const LoopVariable& loop : nest.loops)
    if (loop.name != nest.schedule.variable) order.push_back(loop.name);
  if (!nest.schedule.variable.empty()) order.push_back(nest.schedule.variable);
  return order;
}

Condition decided_along(const ExprPool& pool, const Phase& phase, const Nest& nest,
                        const std::string& variable) {
  const std::vector<std::string> order = nesting_order(phase, nest);
  const bool loop = is_loop(nest, variable);
  Condition result;
  for (int node : pool.reachable(nest.roots()))
    for (const Bound& bound : pool[node].condition.bounds()) {
      const Index& index = bound.index;
      if (!index.dynamics().empty() || innermost(bound, order) != variable) continue;
      if (loop && !index.affine_in(variable)) continue;
      if (variable == nest.schedule.variable && index.variables().size() == 1) continue;
      const int64_t constant = index.constant();
      if (loop && index.stride(variable) < 0)
        result.require(Index(constant) - index, constant - bound.high, constant - bound.low);
      else
        result.require(index - Index(constant), bound.low - constant, bound.high - constant);
    }
  return result;
}

}  // namespace korch::tile
