// Other ways to run the steps of a plan, of which each run takes those that are fastest for its extents
// (docs/design/launch.md).
#pragma once

#include <map>
#include <string>

#include "korch/base/deadline.h"
#include "korch/search/plan_builder.h"

namespace korch {

// Which ways may stand beside a step's own: none; those that give the same bits; those too that add up in
// another order, so that results depend on the choice within rounding.
enum class LaunchWays { none, exact, reassociating };

struct LaunchOptions {
  LaunchWays ways = LaunchWays::exact;
  // By the names of dimensions: the least extents for which this plan is taken; else those that there are.
  std::map<std::string, int64_t> least;
  Deadline deadline = {};  // after which steps keep their own kernels alone
  double most_s = 60;      // of one plan's steps, where there is no deadline or a later one
  // By how much more regret is borne, relative: of fewer ways; of those whose constants are packed as the
  // step's own; of its own kernel alone.
  double of_fewer = 0.01, of_same_packing = 0.05, of_own = 0.02;
};

// For every step of which runs of smaller extents need a part: its kernel's candidate with the same inputs,
// outputs and layouts in other schedules and, of families that `columns` lists, other kernels, that give the
// same results. Each is measured at some extents with what such a run needs of it; those that are together
// nearly as good as all become the step's ways, if there is more than one. `columns` gets a column for each
// schedule that it does not list; the program is solved by then.
void add_launches(const Graph& graph, Columns& columns, KernelBank& bank, const Device& target,
                  const LaunchOptions& options, BuiltPlan& built);

}  // namespace korch
