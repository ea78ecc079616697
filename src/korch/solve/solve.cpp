#include <algorithm>

#include "korch/solve/orchestrator.h"
#include "korch/solve/problem.h"

namespace korch {

const char* name(SolveStatus status) {
  constexpr const char* kNames[] = {"optimal", "feasible", "infeasible", "unknown"};
  static_assert(std::size(kNames) == static_cast<size_t>(SolveStatus::unknown) + 1);
  return kNames[static_cast<size_t>(status)];
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
