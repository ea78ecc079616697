// Append: how a state grows in place (docs/design/states.md).
//
//   result = Append(old, new, length, count, place) {axis, capacity}
//
// Along `axis` the result has `capacity` rows: the first `length` of `old`, then zeros, but from `place` on
// the first `count` rows of `new`. All three are i64[]. A length or a count outside of 0 to the operand's
// extent, a place outside of 0 to `length`, and new rows beyond the capacity end the run as an index outside
// of its axis does.
//
// A run may give the same bytes for `old` and for the result, laid out as the result. Then nothing is written
// but the new rows and zeros up to row `length` + `count`; what follows stays what it was: nobody may look at
// it.
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
