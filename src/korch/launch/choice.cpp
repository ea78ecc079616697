#include "korch/launch/choice.h"

#include <algorithm>

#include "korch/runtime/launch_cost.h"

namespace korch::launch {

std::vector<double> predicted_us(const PlanLaunches& launches, const std::vector<int64_t>& extents) {
  std::vector<double> result;
  for (const PlanLaunch& way : launches.ways)
    result.push_back(rt::launch_us(cost_of(way), extents.data(), static_cast<uint32_t>(extents.size())));
  return result;
}

size_t chosen_way(const PlanLaunches& launches, const std::vector<int64_t>& extents) {
  std::vector<double> us = predicted_us(launches, extents);
  us[0] = rt::launch_rank(us[0], 0);
  return static_cast<size_t>(std::min_element(us.begin(), us.end()) - us.begin());
}

}  // namespace korch::launch
