#include "korch/driver/solve_report.h"

#include <fmt/format.h>

#include "korch/driver/stage_deadlines.h"

namespace korch {

void report_solve(const SolveMemo& solved, const Columns& columns, const CompileOptions& options,
                  PlanReport& report) {
  const Solution& solution = solved.solution;
  report.strategy = name(options.strategy);
  if (options.strategy == Strategy::random) report.strategy += fmt::format(":{}", options.random_seed);
  report.accuracy = name(options.accuracy);
  report.solver_status =
      solved.budget_spent ? (options.budget_s > 0 ? "budget spent" : "time spent") : name(solution.status);
  report.objective_us = solution.objective_us;
  report.bound_us = solution.bound_us;
  report.gap =
      solution.objective_us > 0 ? (solution.objective_us - solution.bound_us) / solution.objective_us : 0;
  report.candidates = static_cast<int>(columns.candidates.size());
  report.columns = static_cast<int>(columns.infos.size());
  report.kernels = solved.kernels;
  report.measured = solved.measured;
  report.solves = solution.rounds;
  report.cuts = solution.cuts;
  report.solver_s = solution.seconds;
  report.bound_violations = solved.bound_violations;
  report.certified = solved.certified;
  report.bounds = name(options.measure && !options.exhaustive ? options.bounds : Bounds::analytic);
  report.learned_violations = solved.learned_violations;
  report.whole_runs = solved.whole_runs;
  report.refused = columns.refused;
  if (options.budget_s == 0 && report.pruned.count("budget") + report.refused.count("budget") +
                                       report.pruned.count("alternatives_budget") >
                                   0)
    report.limits.push_back(fmt::format("growing: alternatives, candidates or columns took longer than {} s",
                                        StageLimits().growing_s));
}

}  // namespace korch
