// The binary linear program of kernel orchestration (Korch, section 5), over tensors (a Value in a layout),
// not Values. Knows nothing of graphs and kernels.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "korch/base/deadline.h"

namespace korch {

struct Column {
  double cost_us = 0;  // measured, or a lower bound; infinite: cannot be built
  bool measured = false;
  std::vector<int> inputs;   // tensors read
  std::vector<int> outputs;  // tensors made
  std::vector<int> covers;   // classes of equal Values computed inside, outputs' classes included
  bool is_reorder =
      false;  // changes the layout of one Value; for reports, the solver sees it from the tensors
  bool may_cost_less = false;  // something may have disturbed its measurement
};

struct Problem {
  std::vector<int> tensor_class;  // of each tensor: its class of equal Values
  std::vector<int> available;     // tensors that need no producer: graph inputs
  std::vector<int> required;      // tensors that must exist at the end: graph outputs
  std::vector<Column> columns;
};

enum class SolveStatus { optimal, feasible, infeasible, unknown };
const char* name(SolveStatus status);

// Fills in better costs of the columns it is given; false when nothing was learnt.
using Measure = std::function<bool(const std::vector<int>&)>;

struct Solution {
  SolveStatus status = SolveStatus::unknown;
  std::vector<int> chosen;  // columns in an order that can run
  double objective_us = 0;
  double bound_us = 0;  // proven lower bound
  int rounds = 0;       // solves
  int cuts = 0;         // rows of the program at the end
  double seconds = 0;
};

struct SolveOptions {
  // Of solving; measuring is not counted. A plan is looked for in any case, the limit is for proving it.
  // None: 4 s, and more for more than 24,000 columns.
  std::optional<double> time_limit_s;
  std::vector<int> start;  // columns that suffice for a plan, to start from; or empty
  // Of solve_lazily: after which a search throws BudgetSpent, as `measure` may.
  Deadline deadline = {};
  // States that regression keeps at each place before a proof. 0: branch and bound looks for the plan alone.
  int width = 32;
  // Of solve_lazily: measures columns that may cost less once more, and says when they may not any longer.
  Measure second_look = nullptr;
  // Of solve_lazily: is told the best plan before that is proven, may measure more columns for reasons of its
  // own, and tells another plan, the same where it measured none, or none.
  std::function<Solution(const Solution&)> other_plan = nullptr;
};

// The limit that the options mean for this problem.
double time_limit_s(const Problem& problem, const SolveOptions& options);

Solution solve(const Problem& problem, const SolveOptions& options = {});

// As solve, among what can be built: `build` is shown the columns of a plan, and gives those that it cannot
// build an infinite cost; false when there were any. What it takes is not counted.
using Build = std::function<bool(const std::vector<int>&)>;
Solution solve_buildable(const Problem& problem, const Build& build, const SolveOptions& options = {});

// An order in which the columns can run, or empty when they cannot.
std::vector<int> schedule(const Problem& problem, const std::vector<int>& chosen);

// Lazy measurement (docs/design/solve.md): solves with lower bounds, asks for the cost of the unmeasured
// columns of the solution, and repeats until all of it is measured. `measure` marks columns whose cost is
// final, and may do so with more than it is given (isomorphic ones); a column it cannot build gets an
// infinite cost, which is final. When it has learnt nothing, the loop ends with the best plan that is
// measured throughout (status feasible), if there is one.
struct CostedPlan {
  double cost_us = 0;
  std::vector<int> chosen;
  auto operator<=>(const CostedPlan&) const = default;
};
struct LazyResult {
  Solution solution;
  std::vector<CostedPlan> others;  // plans measured throughout that cost little more, cheapest first
  int bound_violations = 0;        // columns measured below their bound
  bool certified = false;
};
LazyResult solve_lazily(Problem& problem, const Measure& measure, const SolveOptions& options = {});

}  // namespace korch
