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

Solution solve(const Problem& problem, const SolveOptions& options) {
  return Orchestrator(problem).solve(options.time_limit_s, options.start);
}

}  // namespace korch
