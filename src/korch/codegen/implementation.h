// The ways one Candidate can be one kernel on a Device. `implementations` lists them; `propose`
// (kernel_spec.h) says what the kernel of one is. Families are rows of one table (implementation.cpp).
#pragma once

#include <string>
#include <vector>

#include "korch/base/result.h"
#include "korch/candidate/candidate.h"
#include "korch/codegen/schedule.h"
#include "korch/device/device.h"
#include "korch/kernel/schedule.h"
#include "korch/options/compile_options.h"
#include "korch/plan/kernel.h"

namespace korch {

struct Implementation {
  std::string family;                  // "loop", "conv_direct", "conv_winograd", "matmul", "depthwise", ...
  std::vector<Layout> input_layouts;   // one per Candidate::inputs, canonical for their shapes
  std::vector<Layout> output_layouts;  // one per Candidate::outputs
  Schedule schedule;                   // of the struct that the family has
  double flops = 0;                    // arithmetic of this implementation, for the lower bound
  int64_t flops_at_once = 1;           // so many times float32's peak is the most it can reach
  double bytes = 0;                    // distinct bytes it must touch
};

std::string to_string(const Implementation& implementation);

// All ways known; empty reasons are never silent: `refused`, if given, receives why a family declined.
std::vector<Implementation> implementations(const Graph& graph, const Candidate& candidate,
                                            const Device& target, Accuracy accuracy,
                                            std::vector<Refusal>* refused = nullptr);

// Of all families.
LinearContext linear_context();

// The same family and layouts with schedules that `implementations` does not list, since at the bounds of all
// shapes they are hardly ever the fastest: other tiles, and grids over other axes. What part of them a run of
// smaller extents needs differs (docs/design/variants.md).
std::vector<Implementation> rescheduled(const Graph& graph, const Candidate& candidate,
                                        const Implementation& implementation, const Device& target);

}  // namespace korch
