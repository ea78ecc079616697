// Plans of one network, each for shapes up to its own bounds, as the one plan of an executable.
#pragma once

#include <vector>

#include "korch/search/plan_builder.h"

namespace korch {

// The first is for all shapes, the others for smaller ones; kernels and constants that are equal are one. The
// report is the first's.
BuiltPlan merged_plan(std::vector<BuiltPlan> parts);

}  // namespace korch
