// Of the launches of a plan's step what the runtime makes of them, for who tells and who compares.
#pragma once

#include <string>
#include <vector>

#include "korch/plan/plan.h"

namespace korch::launch {

// Predicted, in microseconds, of each way.
std::vector<double> predicted_us(const PlanLaunches& launches, const std::vector<int64_t>& extents);
// The way that is predicted to take the least: what a run takes where the functions are trusted.
size_t chosen_way(const PlanLaunches& launches, const std::vector<int64_t>& extents);

}  // namespace korch::launch
