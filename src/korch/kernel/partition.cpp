#include "korch/kernel/partition.h"

#include <algorithm>

namespace korch::tile {
namespace {

bool is_loop(const Nest& nest, const std::string& variable) {
  return std::any_of(nest.loops.begin(), nest.loops.end(),
                     [&](const LoopVariable& loop) { return loop.name == variable; });
}

// The innermost variable of the bound, or nothing where that does not decide it.
std::string decider(const Bound& bound, const Nest& nest, const std::string& vector_variable,
                    const std::vector<std::string>& order) {
  if (!bound.index.dynamics().empty()) return {};
  const std::set<std::string> names = bound.index.variables();
  auto last = order.begin();
  for (const std::string& name : names) {
    const auto found = std::find(order.begin(), order.end(), name);
    if (found == order.end()) return {};  // of a fold
    last = std::max(last, found);
  }
  if (is_loop(nest, *last) && !bound.index.affine_in(*last)) return {};
  return *last == vector_variable && names.size() == 1 ? std::string() : *last;
}

}  // namespace

std::vector<std::string> nesting_order(const Phase& phase, const Nest& nest,
                                       const std::string& vector_variable) {
  std::vector<std::string> order;
  for (const GridVariable& grid : phase.grid)
    order.push_back(grid.chunk == 1 ? grid.variable.name : grid.block());
  for (const OuterLoop& loop : nest.around)
    if (std::find(order.begin(), order.end(), loop.variable.name) == order.end())
      order.push_back(loop.variable.name);
  for (const LoopVariable& loop : nest.loops)
    if (loop.name != vector_variable) order.push_back(loop.name);
  if (!vector_variable.empty()) order.push_back(vector_variable);
  return order;
}

Condition decided_along(const ExprPool& pool, const Phase& phase, const Nest& nest,
                        const std::string& vector_variable, const std::string& variable) {
  const std::vector<std::string> order = nesting_order(phase, nest, vector_variable);
  Condition result;
  const auto require = [&](const Index& index, int64_t low, int64_t high) {
    Condition more = result;
    more.require(index, low, high);
    if (!more.always_false()) result = std::move(more);
  };
  std::vector<int> nodes = nest.roots();
  std::set<int> seen(nodes.begin(), nodes.end());
  const auto visit = [&](int node) {
    if (seen.insert(node).second) nodes.push_back(node);
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Expr& e = pool[nodes[i]];
    bool all = e.kind == ExprKind::guard;  // decided: the other alternative is not met
    for (const Bound& bound : e.condition.bounds()) {
      const std::string by = decider(bound, nest, vector_variable, order);
      all = all && !by.empty();
      if (by != variable) continue;
      const int64_t constant = bound.index.constant();
      if (is_loop(nest, variable) && bound.index.stride(variable) < 0)
        require(Index(constant) - bound.index, constant - bound.high, constant - bound.low);
      else
        require(bound.index - Index(constant), bound.low - constant, bound.high - constant);
    }
    if (all)
      visit(e.args[0]);
    else
      for (int operand : pool.operands(nodes[i])) visit(operand);
  }
  return result;
}

}  // namespace korch::tile
