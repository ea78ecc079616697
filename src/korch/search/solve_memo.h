// What solving found, as the kernel database remembers it: with the same columns, a second compilation
// neither measures nor solves, and its plan and report are the same to the byte.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "korch/plan/plan.h"
#include "korch/search/other_schedules.h"
#include "korch/solve/problem.h"

namespace korch {

struct SolveMemo {
  Solution solution;
  bool certified = false;
  bool budget_spent = false;           // before the solver was done; such a memo is not kept
  int kernels = 0;                     // different ones among the columns, after pruning
  int measured = 0;                    // of them
  int modelled = 0;                    // of the others; such a memo is not kept
  int bound_violations = 0;            // kernels measured below their analytic bound
  int learned_violations = 0;          // kernels measured below what was learned of their kind until then
  bool bounded_low = false;            // the bound is by 5 % quantiles of what was not measured
  int audited = 0, audited_below = 0;  // kernels measured to judge them, and those that cost less than theirs
  std::map<std::string, int> refused, pruned;
  std::vector<std::string> struck;  // keys of kernels that the program could not take
  std::vector<double>
      cost_us;              // by column: measured, or the last bound; infinite: cannot be built, or left out
  std::string is_measured;  // by column: '0' or '1'
  // A column each, behind those of the program, in this order; the solution may choose them.
  std::vector<Rescheduled> rescheduled;
  std::vector<WholeRun> whole_runs;
  std::string
      disturbed;  // what else ran while kernels were measured (profile/machine_load.h); "": it was calm
};

std::string to_json(const SolveMemo& memo);
// Nothing when the text is not a memo of this program, or its plan cannot run.
std::optional<SolveMemo> solve_memo_from_json(const std::string& text, const Problem& problem);

}  // namespace korch
