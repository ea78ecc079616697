// A block graph whose leaves and results are Values of a graph of primitives.
#pragma once

#include <vector>

#include "korch/block/block_graph.h"
#include "korch/ir/graph.h"

namespace korch::block {

// Axes, most significant first: the digits of a coordinate. None: the coordinate is 0.
using AxisList = std::vector<int>;

struct Place {
  ValueId value = kNoId;
  std::vector<AxisList> at;  // per dimension of the Value
  bool operator==(const Place&) const = default;
};

struct PlacedGraph {
  BlockGraph graph;             // with extents
  std::vector<Place> leaves;    // one per leaf
  std::vector<Place> results;   // one per result
  std::string origin;           // for people: where it is from, and what is known of it
  bool has_two_phases = false;  // which were checked: its loop may be dealt out in parts (split.h)
};

}  // namespace korch::block
