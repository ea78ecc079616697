// Which part of each Value a network with extents of its own (Graph::extents, open dimensions) needs: behind
// an extent, outputs count for nothing, and so does much of what they are made of. Follows the operators
// backwards.
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

// floor((n * times + plus) / by) of that many, at least, as one such extent; nothing where that would
// overflow.
std::optional<NeededExtent> affine(const NeededExtent& n, int64_t times, int64_t plus, int64_t by);
// Of n that many: at least values[n], which grow with n; beyond the last one there is no n.
std::optional<NeededExtent> following(const NeededExtent& n, const std::vector<int64_t>& values);

// Per axis; none: all of it.
using NeededPart = std::vector<std::optional<NeededExtent>>;

// Of Values that `nodes`, in topological order, make or read, as far as a part is enough; not those that
// nothing reads. Nodes may be a part of the graph that makes all of its outputs.
std::map<ValueId, NeededPart> needed_parts(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace korch
