// The GPU of this machine.
#pragma once

#include <optional>
#include <string>

#include "korch/device/device.h"

namespace korch {

struct GpuHere {
  std::optional<Device> device;
  std::string state;  // for people: what it is, or "no: " and why there is none
  std::string why_not() const { return state.starts_with("no: ") ? state.substr(4) : state; }
};

// The first one that NVIDIA's driver tells of (KORCH_CUDA_DRIVER names another library for it). Speeds of
// known kinds are those of kGpus, of others guesses by its clocks.
GpuHere gpu_here();

// A GPU that tests play (docs/design/cuda.md, "Right without a GPU"): its speed means nothing.
bool is_emulated(const Device& gpu);

}  // namespace korch
