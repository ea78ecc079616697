// Lower bounds on kernels from the machine's peaks, and peaks that measured kernels disprove.
#pragma once

#include <optional>
#include <vector>

#include "korch/device/device.h"
#include "korch/search/columns.h"

namespace korch {

double lower_bound_us(double flops, double bytes, const Device& target);

// Kernels that were measured below their bounds disprove the peaks.
struct BeatenPeaks {
  std::optional<Device>
      reached;  // the device, its speeds raised until every bound that is believed holds; none: all do
  std::vector<int> not_believed;  // columns more than twice as fast as their bound: a wrong count or clock
};

// The columns have their costs.
BeatenPeaks beaten_peaks(const Columns& columns, const Device& target);

}  // namespace korch
