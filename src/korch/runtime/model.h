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

// What an extent must be: plus, and factors of each of korch_model_info::dimensions times their extents. A run of which it
// is not is refused.
struct ExtentRule {
  uint32_t dimension;
  int64_t plus;
  const int64_t* factors;
  const char* text;  // "past + 1"
};

// The network for shapes up to some bounds.
struct Variant {
  Program program;
  double predicted_us;                // at its bounds
  const int64_t* bounds;              // of each of korch_model_info::dimensions
  const int64_t* const* output_dims;  // of each output, at these bounds
  const int64_t* extents;             // of each of Model::extents: what it is, or -1 where the run tells
  // Where korch_model_info counts its steps, and those of them that copy outputs.
  uint32_t first_step, first_copy, copy_count;
};

struct Model {
  const Variant* variants;  // the first takes all shapes
  uint32_t variant_count;
  const void* weights;
  uint32_t isa;  // IsaLevel
  korch_model_info info;
  const OutputExtent* extents;
  uint64_t extent_count;
  const ExtentRule* extent_rules;
  uint64_t extent_rule_count;
};

// Whether this CPU and its operating system offer the instructions. Runs on every x86-64.
bool cpu_offers(IsaLevel isa);

}  // namespace korch::rt

extern "C" const korch::rt::Model korch_model;
