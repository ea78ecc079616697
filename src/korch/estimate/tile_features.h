// What a kernel's tile graph tells a model of costs beyond its candidate: which instructions its nests take,
// how their accesses walk along vectors, and what slices keep. Each takes a fraction of a millisecond to
// find.
#pragma once

#include <optional>
#include <vector>

#include "korch/device/device.h"
#include "korch/kernel/schedule.h"

namespace korch {

// Of a graph that is not lowered; none: a call of a library. `bound_us`: of the kernel, by the device's
// speeds.
std::vector<float> tile_features(const std::optional<tile::ScheduledGraph>& graph, const Device& device,
                                 double bound_us);

// Of each of them, in their order.
const std::vector<const char*>& tile_feature_names();

}  // namespace korch
