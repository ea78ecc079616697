// What a compilation takes this machine for: whether it has the workers that are asked for, and the speeds
// that plans are bounded by.
#pragma once

#include <string>
#include <vector>

#include "korch/profile/database.h"
#include "korch/search/columns.h"
#include "korch/search/solve_memo.h"
#include "korch/search/strategy.h"
#include "korch/target/target.h"

namespace korch {

// Error{usage} when kernels are to be measured and this machine cannot run the target's code, or has so few
// processors for so many workers that it would measure nothing but their taking turns.
void require_measurable(const Target& target);

// What is to be said where there are more workers than `cpus`; "" otherwise.
std::string crowding(int workers, int cpus);

struct PlanningSpeeds {
  Peaks peaks;
  std::string are;    // where they are from, as in PlanReport::peaks_are
  std::string doubt;  // as in PlanReport::doubts; "": none
};

// Measured ones where the target runs here (`runs`; `database` may be null), else nominal ones. A plan that
// is drawn at random needs none.
PlanningSpeeds planning_speeds(const Target& target, Strategy strategy, bool runs, Database* database);

// As in PlanReport::doubts: something else ran while kernels were measured; kernels beat the peaks, which
// then are raised in the database where that can be believed.
std::vector<std::string> doubts_after_measuring(const SolveMemo& solved, const Graph& graph,
                                                const Columns& columns, const Target& target,
                                                const Peaks& peaks, Database* database);

}  // namespace korch
