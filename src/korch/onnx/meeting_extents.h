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
  bool in_every_run = true;  // not in a body or a branch, which a run may leave out
  ValueId result = kNoId;    // of the join
};

// Those whose results the outputs need.
std::vector<MeetingExtents> needed(const Graph& graph, const std::vector<MeetingExtents>& meeting);

// A sentence for each open dimension of which not every extent makes them equal, that says for which it does.
// Those that several dimensions or data decide are not looked at.
std::vector<std::string> extents_that_do_not_fit(const Graph& graph,
                                                 const std::vector<MeetingExtents>& meeting);

// The open dimensions, with what one of several that meet in every run must be for the others
// (OpenDimension::sum): a sum of their multiples. Where the range of one is not that of its sum it has none,
// and a sentence among `warnings` says so.
std::vector<OpenDimension> with_sums(const Graph& graph, const std::vector<MeetingExtents>& meeting,
                                     std::vector<std::string>* warnings);

}  // namespace korch::onnx
