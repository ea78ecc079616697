#include "korch/launch/choice.h"

#include <algorithm>

#include "korch/runtime/launch_cost.h"

namespace korch::launch {

std::vector<double> predicted_us(const PlanLaunches& launches, const std::vector<int64_t>& extents) {
  std::vector<double> result;
  for (const PlanLaunch& way : launches.ways) {
    rt::LaunchCost cost{};
    for (size_t e = 0; e < rt::kMostLaunchExtents; ++e) cost.shares[e] = {1, 0, 1, 0};
    for (size_t e = 0; e < way.shares.size(); ++e)
      cost.shares[e] = {way.shares[e].times, way.shares[e].plus, way.shares[e].by, way.shares[e].count};
    std::copy(way.over.begin(), way.over.end(), cost.over);
    std::copy(way.under.begin(), way.under.end(), cost.under);
    result.push_back(rt::launch_us(cost, extents.data(), static_cast<uint32_t>(extents.size())));
  }
  return result;
}

size_t chosen_way(const PlanLaunches& launches, const std::vector<int64_t>& extents) {
  const std::vector<double> us = predicted_us(launches, extents);
  return static_cast<size_t>(std::min_element(us.begin(), us.end()) - us.begin());
}

}  // namespace korch::launch
