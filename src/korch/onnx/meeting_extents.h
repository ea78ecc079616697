// Extents that must be equal, since an operator joins tensors that have them. Each is computed from extents
// that a run tells. The importer tries all of these to find out whether they are always equal.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch::onnx {

// Two extents, Values of one i64, and the node that joins tensors with them.
struct MeetingExtents {
  ValueId a = kNoId, b = kNoId;
  std::string origin;
  bool in_every_run = true;  // not in a body or a branch, which a run may leave out
  ValueId result = kNoId;    // of the join
};

// Those whose results the outputs need.
std::vector<MeetingExtents> needed(const Graph& graph, const std::vector<MeetingExtents>& meeting);

// A sentence for each open dimension that does not make them equal for all its extents, with the extents for
// which it does. Extents that depend on several dimensions or on data are left out.
std::vector<std::string> extents_that_do_not_fit(const Graph& graph,
                                                 const std::vector<MeetingExtents>& meeting);

// The open dimensions. Where several meet in every run, one is the sum of multiples of the others
// (OpenDimension::sum). If its range is not that of its sum it gets no sum, and a sentence among `warnings`
// says so.
std::vector<OpenDimension> with_sums(const Graph& graph, const std::vector<MeetingExtents>& meeting,
                                     std::vector<std::string>* warnings);

}  // namespace korch::onnx
