// Intervals of a graph's Values, from intervals of its inputs: interval arithmetic.
#pragma once

#include <limits>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

struct Interval {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool holds(const Interval& other) const { return least <= other.least && other.most <= most; }
};
Interval hull(const Interval& a, const Interval& b);

// Of the numbers that a type has; floats have all.
Interval interval_of(DType type);
// Of a constant's elements; everything if it is large or no number.
Interval interval_of(const HostTensor& constant);
// Of a node's result from those of its operands: everything where nothing is known.
Interval interval_of(const Graph& graph, const Node& node, const std::vector<Interval>& operands);

// The operand of a node that is an index, or -1; and the range that it may have.
int index_operand(const Node& node);
Interval index_interval(const Graph& graph, const Node& node);

}  // namespace korch
