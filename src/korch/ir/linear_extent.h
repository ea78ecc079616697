// Extents that are sums of what a run tells.
#pragma once

#include <optional>

#include "korch/ir/graph.h"

namespace korch {

// The extent of an open dimension plus a number.
struct ExtentBeside {
  ValueId extent = kNoId;
  int64_t plus = 0;
};

// For a Value of one i64 that was computed as a sum of several dimensions' extents: the dimension that must
// be this sum in every run (OpenDimension::sum), but for a number. Nothing where there is none.
std::optional<ExtentBeside> dimension_of_sum(const Graph& graph, ValueId value);

}  // namespace korch
