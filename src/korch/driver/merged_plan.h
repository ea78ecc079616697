// Plans of one network, each for shapes up to its own bounds, as the one plan of an executable.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/search/plan_builder.h"

namespace korch {

// The first is for all shapes, the others for smaller ones; kernels and constants that are equal are one. The
// report is the first's.
BuiltPlan merged_plan(std::vector<BuiltPlan> parts);

// The largest extents that each of an executable's plans is for, by the names of the dimensions. The first
// are those of the dimensions, the others halves, quarters, ... of them, no less than the least extents and
// multiples of what those and the largest are multiples of: one
// after the other those that save most, where a run takes time in proportion to the extents of the best plan
// whose bounds suffice, and halves of extents are as likely as the extents.
constexpr size_t kMostPlans = 7;
using PlanBounds = std::map<std::string, int64_t>;
std::vector<PlanBounds> plan_bounds(const std::vector<OpenDimension>& dimensions);
// Of each dimension the least extent for which the plan is taken: another one, for the same bounds of the
// other dimensions, is for less.
PlanBounds plan_leasts(const PlanBounds& plan, const std::vector<PlanBounds>& all,
                       const std::vector<OpenDimension>& dimensions);

// As options state them, before a model is read: that one name is of several inputs' axes is not known.
std::vector<OpenDimension> stated_dimensions(const std::map<std::string, Shape>& most,
                                             const std::map<std::string, Shape>& least);

}  // namespace korch
