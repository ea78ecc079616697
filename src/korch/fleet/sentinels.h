// Kernels that leader and workers measure first: one that multiplies and adds in registers and L1, one that
// copies memory. Who takes another time for them would give other costs.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "korch/backend/backend.h"
#include "korch/fleet/work.h"

namespace korch {

// How a device's kernels are measured here; tests make it up.
using MakeMeter = std::function<std::unique_ptr<Meter>(const Device& device, int64_t footprint_bytes)>;

// Compiled by the leader: workers need no compiler. Throws Error{internal} where that fails.
std::vector<KernelWork> make_sentinels(const Backend& backend, const Device& device);

// The least of some looks at each, since disturbances only make a look longer. Throws Error{io} where one
// does not run.
std::vector<double> sentinel_times_us(const std::vector<KernelWork>& sentinels, const MakeMeter& make_meter);

}  // namespace korch
