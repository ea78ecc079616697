// The Meter of CPUs: the step executor and the pool of the executables, on as many threads as the device has
// workers.
#pragma once

#include <memory>

#include "korch/backend/meter.h"
#include "korch/device/device.h"

namespace korch {

std::unique_ptr<Meter> cpu_meter(const Device& device, int64_t footprint_bytes);

}  // namespace korch
