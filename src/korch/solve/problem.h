// The binary linear program of kernel orchestration (Korch, section 5), over tensors (a Value in a layout),
// not Values. Knows nothing of graphs and kernels.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

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
  // States that regression keeps at each place before a proof. 0: branch and bound looks for the plan alone.
  int width = 32;
};

// The limit that the options mean for this problem.
double time_limit_s(const Problem& problem, const SolveOptions& options);

Solution solve(const Problem& problem, const SolveOptions& options = {});

// An order in which the columns can run, or empty when they cannot.
std::vector<int> schedule(const Problem& problem, const std::vector<int>& chosen);

}  // namespace korch
