// Which axes of a group are one. A dimension of a Value is a list of axes, most significant first; two
// dimensions, or runs of dimensions, that hold the same coordinates have the same axes. Where they are cut in
// different places, axes are split into factors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "korch/block/placed_graph.h"

namespace korch::groups {

using block::AxisList;

class AxisForest {
 public:
  // The axes of a dimension of this extent.
  AxisList fresh(int64_t extent);
  // In place of axes that were split their factors, and of axes that are one the same number.
  AxisList expanded(const AxisList& axes) const;
  std::vector<AxisList> expanded(const std::vector<AxisList>& dimensions) const;
  // Of an axis that `expanded` gave.
  int64_t extent(int axis) const { return nodes_[static_cast<size_t>(axis)].extent; }

  // Makes the lists equal; false if no factors do, as of 4 x 6 and 6 x 4: the axes are of no use then.
  bool unify(const AxisList& a, const AxisList& b);

 private:
  struct Node {
    int64_t extent = 1;
    int same = -1;  // as this one, which came earlier; -1: a number of its own
    AxisList factors = {};
  };
  int root(int axis) const;
  void append(int axis, AxisList& list) const;
  // Of an axis in two: `outer` many of what is left.
  void split(int axis, int64_t outer);

  std::vector<Node> nodes_;
};

// All of them, in order.
AxisList flattened(const std::vector<AxisList>& dimensions);
bool has_repeated(const AxisList& axes);

}  // namespace korch::groups
