// Of an executable for a range of shapes: up to which extents it has a plan.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "korch/driver/likely_runs.h"
#include "korch/options/compile_options.h"

namespace korch {

constexpr size_t kMostPlans = 7;
using PlanBounds = std::map<std::string, int64_t>;  // the largest extents, by the names of the dimensions

// The time of a network that is planned for these extents alone, of each dimension; in any unit.
using TimeOf = std::function<double(const std::vector<int64_t>& extents)>;

// The first are those of the dimensions. The others are chosen one after the other, those that save most:
// each run takes the best plan whose bounds suffice, in which it takes the time of the extents that such a
// plan computes. What counts of a run is its time over that of a plan for it alone. So a decoder's single
// token has a plan apart from its prompts, whatever the cache; and where time does not grow with an extent,
// there are no plans for smaller ones: one that saves less than `least_saved` of all is none. Bounds are
// levels of the dimensions (extent_levels) and extents of runs.
std::vector<PlanBounds> plan_bounds(const std::vector<OpenDimension>& dimensions,
                                    const std::vector<LikelyRun>& runs, const TimeOf& time_of,
                                    double least_saved = 0.01);

// Of each dimension the least extent for which the plan is taken: another one that suffices for less of it,
// and for all of the other dimensions, takes less time.
PlanBounds plan_leasts(const PlanBounds& plan, const std::vector<PlanBounds>& all,
                       const std::vector<OpenDimension>& dimensions, const TimeOf& time_of);

}  // namespace korch
