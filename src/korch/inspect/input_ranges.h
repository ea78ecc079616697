// Ranges of a network's integer inputs, from its use of them (docs/design/inspect.md, "Random inputs").
#pragma once

#include <cstdint>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

struct InputRange {
  int64_t least = 0, most = 1;
};

// The first row that applies:
//
//   it chooses an index             a number that it is compared with (of truth values: one of both), if only
//   that
//                                   keeps the index in its axis
//   an index is computed from it    0 up to the largest for which every index stays in its axis
//   a loop counts up to it          the same, up to 9 iterations
//   constants are compared with it, or limit or divide it; it is one-hot encoded
//                                   0 up to the largest constant, one more if there is a single one
//   it is scaled as a float         0 up to the number that becomes 1 (255 if it is divided by 255)
//   it is a byte                    the whole type
//   a number among integers alone   0 to 9: sums and products stay small
//   else, and for truth values      0 and 1
// For each of the graph's inputs, in a run with these extents of its open dimensions.
std::vector<InputRange> input_ranges(const Graph& graph, const std::vector<int64_t>& extents = {});

}  // namespace korch
