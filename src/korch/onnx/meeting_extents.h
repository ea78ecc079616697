// Extents that must be equal, since an operator joins tensors that have them. Each is computed from extents
// that a run tells. The importer tries all of these to find out whether they are always equal.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch::onnx {

// What a run's extents must be.
enum class ExtentRelation {
  equal,
  equal_or_one,  // or the first is 1, and repeated
  at_most,       // the first is the second or less
  different,
};

// Whether the extents are taken to be equal, where several dimensions or unknown ones meet.
inline bool are_one(ExtentRelation relation) {
  return relation == ExtentRelation::equal || relation == ExtentRelation::equal_or_one;
}

// Two extents, Values of one i64, and the node that joins tensors with them.
struct MeetingExtents {
  ValueId a = kNoId, b = kNoId;
  std::string origin;
  bool in_every_run = true;           // not in a body or a branch, which a run may leave out
  std::vector<ValueId> results = {};  // of the join
  ExtentRelation relation = ExtentRelation::equal;
};

// Those whose results the outputs need.
std::vector<MeetingExtents> needed(const Graph& graph, const std::vector<MeetingExtents>& meeting);

// Which extents of the open dimensions make a network fit together.
struct FittingDimensions {
  // Where several meet in every run, one is the sum of multiples of the others (OpenDimension::sum). Where
  // the extents of one meet that do not fit for all of them, those that fit are listed
  // (OpenDimension::fitting).
  std::vector<OpenDimension> dimensions;
  std::vector<std::string> warnings;      // a sentence for each that is restricted
  std::vector<MeetingExtents> unchecked;  // that neither decides, and that do not fit for all extents
};

// Extents that depend on data are among the unchecked ones. Throws Error{invalid} if no extents fit.
FittingDimensions fitting_dimensions(const Graph& graph, const std::vector<MeetingExtents>& meeting);

}  // namespace korch::onnx
