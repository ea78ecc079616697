#include <algorithm>

#include "korch/solve/orchestrator.h"
#include "korch/solve/problem.h"

namespace korch {

const char* name(SolveStatus status) {
  switch (status) {
    case SolveStatus::optimal:
      return "optimal";
    case SolveStatus::feasible:
      return "feasible";
    case SolveStatus::infeasible:
      return "infeasible";
    case SolveStatus::unknown:
      return "unknown";
  }
  return "";
}

double time_limit_s(const Problem& problem, const SolveOptions& options) {
  constexpr double kLeast_s = 4, kColumnsPerSecond = 6000;
  return options.time_limit_s.value_or(
      std::max(kLeast_s, static_cast<double>(problem.columns.size()) / kColumnsPerSecond));
}

Solution solve(const Problem& problem, const SolveOptions& options) {
  return Orchestrator(problem).solve(time_limit_s(problem, options), options.start, options.width);
}

}  // namespace korch
