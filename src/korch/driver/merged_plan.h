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

// The largest extents of each of an executable's plans, by the names of the dimensions. The first plan has
// the dimensions' own. The others have halves, quarters, ... of them, at least the least extents, and
// multiples of what the least and the largest extents are multiples of. They are chosen one after the other,
// those that save most first, as if a run's time were in proportion to the extents of its plan, and half an
// extent as likely as the extent.
constexpr size_t kMostPlans = 7;
using PlanBounds = std::map<std::string, int64_t>;
std::vector<PlanBounds> plan_bounds(const std::vector<PlanDimension>& dimensions);
// For each dimension the least extent for which the plan is taken. Below it another plan is taken, with the
// same bounds of the other dimensions.
PlanBounds plan_leasts(const PlanBounds& plan, const std::vector<PlanBounds>& all,
                       const std::vector<PlanDimension>& dimensions);

// The dimensions as options state them, before a model is read; so one name may belong to axes of several
// inputs.
std::vector<PlanDimension> stated_dimensions(const std::map<std::string, Shape>& most,
                                             const std::map<std::string, Shape>& least);

}  // namespace korch
