// Append: how a state grows in place (docs/design/states.md).
//
//   result = Append(old, new, length, count) {axis, capacity}
//
// Along `axis` the result begins with `length` rows of `old`; `count` rows of `new` follow, then zeros, up to
// `capacity`. Lengths are i64[]; a length outside of 0 to the operand's extent ends the run as an index
// outside of its axis does. The capacity has room for all rows of both.
//
// A run may give the same bytes for `old` and for the result, laid out as the result. Then nothing but the
// new rows is written, and what follows them stays what it was: nobody may look at it.
#pragma once

#include <vector>

#include "korch/ir/graph.h"

namespace korch {

// An input of the graph whose one reader appends to it, and the output that is the result.
struct Appended {
  NodeId node = kNoId;
  int input = -1, output = -1;  // of the graph
  friend bool operator==(const Appended&, const Appended&) = default;
};

// In the order of the inputs.
std::vector<Appended> appended_inputs(const Graph& graph);

}  // namespace korch
