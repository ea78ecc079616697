// Kernels measured one by one do not tell what they do to each other: plans that are nearly as good by their
// costs are run whole against the program's (docs/design/search.md).
#pragma once

#include <vector>

#include "korch/search/columns.h"
#include "korch/search/contests.h"
#include "korch/search/cost_source.h"
#include "korch/search/solve_memo.h"
#include "korch/solve/lazy.h"

namespace korch {

// Plans beside the solver's; empty: there is none.
struct OtherPlans {
  std::vector<int> greedy;
  std::vector<int> unchanged;  // the best one for the network without alternatives
  std::vector<CostedPlan> next;
};

// How long plans run against each other.
struct WholeRunTimes {
  double all_s = 6;     // shared by all but the unchanged network's, unless a few rounds take longer
  double fine_s = 2.4;  // where 1 % decides: over so many loadings, since two executables differ by as much
                        // from one to the next
  int fine_loadings = 3;
};

// These plans, and one whose kernels leave each other more of the workers, against the memo's, which holds
// the one that is faster beyond doubt when it returns.
void run_whole(const Columns& columns, CostSource& costs, Contests& contests, const OtherPlans& others,
               const WholeRunTimes& times, SolveMemo& memo);

// The memo's plan against the same with the columns that reschedule its kernels, from `first_added` on.
void run_rescheduled(const Columns& columns, int first_added, Contests& contests, const WholeRunTimes& times,
                     SolveMemo& memo);

}  // namespace korch
