// Of the launches of a plan's step what the runtime makes of them, for who tells and who compares.
#pragma once

#include <vector>

#include "korch/plan/plan.h"

namespace korch::launch {

// Predicted, in microseconds, of each way.
std::vector<double> predicted_us(const PlanLaunches& launches, const std::vector<int64_t>& extents);
// What a run takes where the functions are trusted: the way that is predicted to take the least, and less
// enough than the step's own.
size_t chosen_way(const PlanLaunches& launches, const std::vector<int64_t>& extents);

}  // namespace korch::launch
