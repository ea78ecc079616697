#include "korch/target/target.h"

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

Peaks nominal_peaks(const Target& target) {
  const double cycles = kCyclesPer_us * target.threads;  // of all threads, per us
  return {.flops_per_us = cycles * flops_per_lane(target.isa) * target.vector_lanes(),
          .l1_bytes_per_us = cycles * kL1Vectors * target.vector_bytes(),
          .l2_bytes_per_us = cycles * kL2Bytes,
          .l3_bytes_per_us = cycles * kL3Bytes,
          .memory_bytes_per_us = cycles * kMemoryBytes,
          .launch_us = kLaunch_us};
}

}  // namespace korch
