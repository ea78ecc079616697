// The part of each Value that a run needs, if its extents are smaller than the bounds (Graph::extents, open
// dimensions). Outputs behind an extent do not count, and neither do many of the elements that they are made
// of. Walks the operators backwards.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

// Indices below floor((e * times + plus) / by), where `extent` is a Value of one i64 that holds e >= 0;
// without one `times` is 0.
struct NeededExtent {
  ValueId extent = kNoId;
  int64_t times = 1, plus = 0, by = 1;  // times >= 0, by > 0
  bool operator==(const NeededExtent&) const = default;
};

// An extent of at least floor((n * times + plus) / by), for n needed elements; nothing if it would overflow.
std::optional<NeededExtent> affine(const NeededExtent& n, int64_t times, int64_t plus, int64_t by);
// An extent of at least values[n], for n needed elements; values ascend, and n is within them.
std::optional<NeededExtent> following(const NeededExtent& n, const std::vector<int64_t>& values);

// Per axis; none: all of it.
using NeededPart = std::vector<std::optional<NeededExtent>>;

// For Values that `nodes`, in topological order, make or read, if a part is enough; without Values that
// nothing reads. The nodes may be a part of the graph that makes all of its outputs.
std::map<ValueId, NeededPart> needed_parts(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace korch
