// The GPU of this machine.
#pragma once

#include <optional>
#include <string>

#include "korch/device/device.h"

namespace korch {

struct GpuHere {
  std::optional<Device> device;
  std::string state;  // for people: what it is, or why there is none
};

// The first one that NVIDIA's driver tells of. Speeds of known kinds are those of kGpus, of others guesses by
// its clocks.
GpuHere gpu_here();

}  // namespace korch
