// The tables of one executable, written by `package`, read by the C interface (c_api.cpp).
#pragma once

#include "korch/runtime/korch.h"
#include "korch/runtime/step.h"

namespace korch::rt {

// Values of korch::Isa (target/target.h).
enum IsaLevel : uint32_t { kPortable, kX86_64_v3, kX86_64_v4, kX86_64_v4_vnni };

// An axis of an output whose extent the run writes, after the outputs, as one i64.
struct OutputExtent {
  uint32_t output, axis;
};

struct Model {
  Program program;
  const void* weights;
  uint32_t isa;  // IsaLevel
  korch_model_info info;
  const OutputExtent* extents;
  uint64_t extent_count;
};

// Whether this CPU and its operating system offer the instructions. Runs on every x86-64.
bool cpu_offers(IsaLevel isa);

}  // namespace korch::rt

extern "C" const korch::rt::Model korch_model;
