// What integers a network takes, told from what it does with them (docs/design/inspect.md, "Random inputs").
#pragma once

#include <cstdint>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

struct InputRange {
  int64_t least = 0, most = 1;
};

// Of each of the graph's inputs. The first that applies:
//
//   an index is computed from it    0 up to the most for which every index stays in its axis
//   it is counted by a loop         the same, up to 9 steps
//   constants are compared with it, or limit or divide it; it is one-hot encoded
//                                   0 up to the largest of them, one more where it is a single number
//   it is scaled as a float         0 up to what becomes 1 (255 where it is divided by 255)
//   a byte                          the whole type
//   a number among integers alone   0 to 9: sums and products stay small
//   else, and what is a truth value 0 and 1
std::vector<InputRange> input_ranges(const Graph& graph);

}  // namespace korch
