// Other schedules of a plan's kernels. A family lists one schedule for each choice of layouts, the one that
// its model of the core ranks first, so that the program stays small; it knows others (other tiles, other
// grids). Of the kernels that a plan spends its time in, those are measured too.
#pragma once

#include <string>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/search/columns.h"
#include "korch/search/cost_source.h"

namespace korch {

// A chosen column whose kernel has another schedule.
struct Rescheduled {
  int column = -1;       // that the program has
  std::string schedule;  // as text
  double cost_us = 0;
};

// Of the kernels of `chosen` that take a fiftieth of its time or more, those that take most first, the
// schedules that cost clearly less than their own; `by_estimates`: of each kernel only the
// one that by the source's model costs least, if clearly less. Behind the deadline no other kernel is begun. Columns are as before when it returns.
std::vector<Rescheduled> better_schedules(const Graph& graph, const Device& target,
                                          const std::vector<int>& chosen, const Deadline& deadline,
                                          CostSource& costs, bool by_estimates, Columns& columns);

// Adds a column for each, in their order, behind all others. False, and nothing is added, where a family does
// not know such a schedule.
bool add_columns(const Graph& graph, const Device& target, const std::vector<Rescheduled>& rescheduled,
                 Columns& columns);

// `chosen` with the columns that were added from `first_added` on, in place of those that they reschedule.
std::vector<int> with_columns_of(const std::vector<Rescheduled>& rescheduled, int first_added,
                                 std::vector<int> chosen);

}  // namespace korch
