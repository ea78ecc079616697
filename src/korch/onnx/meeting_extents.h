// Extents that must be equal where operators join what has them. Each is made of what a run tells; whether
// they are equal for all of that the importer finds out by trying.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch::onnx {

// Two Values of one i64, and the node that joins what has them.
struct MeetingExtents {
  ValueId a = kNoId, b = kNoId;
  std::string origin;
};

// A sentence for each open dimension of which not every extent makes them equal, that says for which it does.
// Those that several dimensions or data decide are not looked at.
std::vector<std::string> extents_that_do_not_fit(const Graph& graph,
                                                 const std::vector<MeetingExtents>& meeting);

// The open dimensions, with what one of several that meet must be for the others (OpenDimension::sum): a sum
// of their multiples. Throws Error{usage} where the range of one is not that of its sum.
std::vector<OpenDimension> with_sums(const Graph& graph, const std::vector<MeetingExtents>& meeting);

}  // namespace korch::onnx
