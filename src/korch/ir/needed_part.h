// Which part of each Value a network with extents of its own (Graph::extents, open dimensions) needs: behind
// an extent, outputs count for nothing, and so does much of what they are made of. Follows the operators
// backwards.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

// Indices below ceil(e * times / by), where `extent` is a Value of one i64 that holds e >= 0; without one e is 1.
struct NeededExtent {
  ValueId extent = kNoId;
  int64_t times = 1, by = 1;
  bool operator==(const NeededExtent&) const = default;
};

// So many times as much, rounded up; nothing where that is not one such extent, or would overflow.
std::optional<NeededExtent> scaled(const NeededExtent& extent, int64_t times, int64_t by);

// Per axis; none: all of it.
using NeededPart = std::vector<std::optional<NeededExtent>>;

// Of Values that `nodes`, in topological order, make or read, as far as a part is enough; not those that
// nothing reads. Nodes may be a part of the graph that makes all of its outputs.
std::map<ValueId, NeededPart> needed_parts(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace korch
