// What a CPU's cores can do at best: multiply-adds, copies and additions that the compiler makes of a few
// lines.
#pragma once

#include "korch/backend/peak_samples.h"
#include "korch/device/device.h"

namespace korch {

// Of so many threads at once; takes a second or so.
PeakSamples sample_cpu_peaks(const Device& device, int workers);

}  // namespace korch
