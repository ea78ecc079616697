// The axes of a group: which dimensions of its Values hold the same coordinates.
//
// A Value of the group that a reduction or a product of the group leads to is *combined*. It has one list of
// axes per dimension, whoever reads it. All others are *plain*: elementwise and layout primitives make them
// of what the group reads. A plain Value has axes by the read, as if it were computed at each reader again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "korch/base/result.h"
#include "korch/candidate/candidate.h"
#include "korch/groups/axis_forest.h"
#include "korch/ir/index_map.h"

namespace korch::groups {

// Of a Value, per dimension.
using Coordinates = std::vector<AxisList>;

using block::Place;

// A dimension of a convolution's operand that is read at scale * rows + step * taps + offset: its axis, and
// theirs. One of `rows` and `taps` may be empty.
struct WindowRead {
  AxisList of, rows, taps;
  int64_t scale = 1, step = 1, offset = 0;
};

// A convolution that terms have: of one row and column, or of each channel by itself.
bool is_term_convolution(const Graph& graph, const Node& node);
bool is_depthwise(const Graph& graph, const Node& node);

class GroupAxes {
 public:
  // Refused: a primitive that terms do not have, and axes that mix.
  static Result<GroupAxes> of(const Graph& graph, const Candidate& candidate);

  const AxisForest& forest() const { return forest_; }
  bool is_combined(ValueId value) const { return combined_.contains(value); }
  // The primitive of the group that makes the Value, or null.
  const Node* maker(ValueId value) const;
  // Of a combined Value, or a plain one that the group gives.
  Coordinates dimensions(ValueId value) const { return forest_.expanded(dimensions_.at(value)); }
  // What the primitive sums or reduces over.
  AxisList combined_over(NodeId node) const { return forest_.expanded(flattened(taps_.at(node))); }
  // The dimensions of this operand that it reads in windows; each list has one axis, or is empty.
  std::vector<WindowRead> windows(NodeId node, size_t operand) const;
  // Where it reads this operand, which is plain.
  Coordinates read(NodeId node, size_t operand) const { return forest_.expanded(reads_.at({node, operand})); }
  // Where a plain Value reads its operand; nothing where a layout primitive mixes axes, or another element
  // than the one at these coordinates would be read.
  std::optional<Coordinates> read_through(const Node& node, size_t operand, const Coordinates& at) const;
  // Whether terms have the primitive that makes this plain Value of float32.
  bool is_term(ValueId value) const;

 private:
  GroupAxes(const Graph& graph, const Candidate& candidate);
  std::optional<Refusal> classify();
  std::optional<Refusal> link();
  std::optional<Refusal> link(NodeId node);
  // The axes of a dimension that an operand is read along by `coordinate`, if it is no window: then one of
  // its own, and the window is noted.
  std::optional<AxisList> axes_along(NodeId node, size_t operand, const Coordinate& coordinate,
                                     int64_t extent, const Coordinates& view, const Coordinates& taps);
  std::optional<Refusal> split_window() const;
  // Empty if each element of what the primitives make is at coordinates of its own.
  std::string repeated_axis() const;
  // Where a Reshape of a broadcast Value joins axes that the Value has and such that it has not (the heads
  // that share keys): splits what it is read by.
  void split_for_broadcasts(const Place& read);
  bool is_broadcast(ValueId value) const;
  std::vector<Place> plain_reads() const;
  // Makes the axes of several reads of one Value one, where nothing speaks against it.
  void join_reads();
  void add_places(const Place& read, std::vector<Place>& places) const;
  bool join(const Place& a, const Place& b);
  std::unordered_set<int> given_axes() const;  // of the group's outputs
  Coordinates fresh(const Shape& shape);
  std::vector<int64_t> extents_of(const AxisList& axes) const;

  const Graph& graph_;
  const Candidate& candidate_;
  AxisForest forest_;
  std::unordered_map<ValueId, NodeId> makers_;
  std::unordered_set<ValueId> combined_;
  std::unordered_map<ValueId, Coordinates> dimensions_;
  std::unordered_map<NodeId, Coordinates> taps_;
  std::map<std::pair<NodeId, size_t>, Coordinates> reads_;
  std::map<std::pair<NodeId, size_t>, std::vector<WindowRead>> windows_;
};

// Whether a layout primitive reads its operand at coordinates of axes, as Slice does not. Reshape does,
// though it may mix axes.
bool keeps_axes(const Graph& graph, const Node& node);

}  // namespace korch::groups
