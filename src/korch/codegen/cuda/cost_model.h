// How long a kernel takes on a GPU, from its tile graph as print_cuda spells it: for plans that are made
// where no GPU is. An estimate, which proves nothing; docs/design/cuda.md has its terms.
#pragma once

#include <vector>

#include "korch/device/device.h"
#include "korch/device/function_resources.h"
#include "korch/kernel/schedule.h"

namespace korch::tile {

// Microseconds of all phases, the gaps between launches included. Of a graph that is not lowered.
// `resources`: of each phase's machine code, if that is known; else empty.
double cuda_model_us(const ScheduledGraph& graph, const std::vector<FunctionResources>& resources,
                     const Device& device);

}  // namespace korch::tile
