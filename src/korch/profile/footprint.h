// The memory that a network accesses in a run. Kernels are measured in as much memory, so that they find
// caches as cold as in the plan.
#pragma once

#include <cstdint>

#include "korch/ir/graph.h"

namespace korch {

// Bytes: all constants, and the most that is live at once when primitives run one after the other. Rounded up
// to a power of two, since costs are kept under it.
int64_t footprint_bytes(const Graph& graph);

}  // namespace korch
