// What a plan's report says of the search for it.
#pragma once

#include "korch/options/compile_options.h"
#include "korch/plan/plan_report.h"
#include "korch/search/columns.h"
#include "korch/search/solve_memo.h"

namespace korch {

// Adds to a report what was asked for, the program's size, and what the solver found and proved. What earlier
// stages left out stands in the report already.
void report_solve(const SolveMemo& solved, const Columns& columns, const CompileOptions& options,
                  PlanReport& report);

}  // namespace korch
