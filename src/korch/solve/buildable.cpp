#include <algorithm>
#include <utility>

#include "korch/solve/orchestrator.h"
#include "korch/solve/problem.h"

namespace korch {

constexpr int kNarrow = 4;           // width of the first searches
constexpr double kLeastProof = 0.5;  // of the limit, however long it took to find a plan

Solution solve_buildable(const Problem& problem, const Build& build, const SolveOptions& options) {
  const double limit_s = time_limit_s(problem, options);
  Orchestrator orchestrator(problem);
  Solution best;  // of which everything can be built
  double seconds = 0;
  int rounds = 0;
  const auto counted = [&](Solution solution) {
    seconds += solution.seconds;
    rounds += solution.rounds;
    best.bound_us = std::max(best.bound_us, solution.bound_us);
    solution.bound_us = best.bound_us;
    solution.seconds = seconds;
    solution.rounds = rounds;
    return solution;
  };
  int width = std::min(kNarrow, options.width);
  for (;;) {
    // A search finds a plan in a fraction of what a proof takes, a narrow one in a fraction of that: most of
    // what cannot be built goes before they begin.
    const std::vector<int>& start = best.chosen.empty() ? options.start : best.chosen;
    Solution found = counted(orchestrator.regress(start, width));
    if (found.status == SolveStatus::infeasible) return found;
    if (!build(found.chosen)) continue;
    best = found;
    if (std::exchange(width, options.width) < options.width && found.status != SolveStatus::optimal) continue;
    if (found.status == SolveStatus::optimal) return best;
    const double proof_s = std::max(limit_s - seconds, kLeastProof * limit_s);
    found = counted(orchestrator.solve(proof_s, best.chosen, /*width=*/0));
    if (found.status == SolveStatus::infeasible || build(found.chosen)) return found;
    if (seconds >= limit_s) {
      best.bound_us = std::min(found.bound_us, best.objective_us);
      best.seconds = seconds;
      best.rounds = rounds;
      return best;
    }
  }
}

}  // namespace korch
