// What a network keeps busy while it runs: kernels are measured in as much memory, so that they find caches
// as cold as in the plan.
#pragma once

#include <cstdint>

#include "korch/ir/graph.h"

namespace korch {

struct WorkingSet {
  int64_t weights_bytes = 0;     // all constants
  int64_t activation_bytes = 0;  // the most that is live at once when primitives run one after the other
};

// Both rounded up to powers of two: costs are kept under them.
WorkingSet working_set(const Graph& graph);

}  // namespace korch
