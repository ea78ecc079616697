#include <algorithm>
#include <iterator>

#include "korch/device/device.h"

namespace korch {
namespace {

constexpr double kCyclesPer_us = 3000;  // 3 GHz: servers of ten years, with all cores at work, have 2 to 4

// Two units for fused multiply-adds since Haswell and Zen 2; without that instruction, one multiplication and
// one addition.
constexpr double flops_per_lane(Isa isa) {
  return isa == Isa::portable ? 2 : 4;
}

// Read and written, per core and cycle.
constexpr double kL1Vectors = 2;    // one load and one store
constexpr double kL2Bytes = 48;     // of 64 that a line in each cycle would be
constexpr double kL3Bytes = 16;     // what cores reach that all work, of 32 on the way
constexpr double kMemoryBytes = 4;  // 12 GB/s: a channel of memory for two to four cores

constexpr double kLaunch_us = 0.02;  // a phase without barrier: two clock reads and a call

}  // namespace

Device with_nominal_speeds(Device device) {
  const double cycles = kCyclesPer_us * device.workers;  // of all workers, per us
  const double nearest = kL1Vectors * device.vector_bytes;
  const double bytes[] = {nearest, kL2Bytes, kL3Bytes, kMemoryBytes};
  for (size_t level = 0; level < device.memory.size(); ++level)
    device.memory[level].bytes_per_us = cycles * bytes[std::min(level, std::size(bytes) - 1)];
  const std::optional<Isa> isa = isa_named(device.code);
  device.flops_per_us = cycles * flops_per_lane(isa.value_or(Isa::portable)) * device.lanes();
  device.launch_us = kLaunch_us;
  return device;
}

}  // namespace korch
