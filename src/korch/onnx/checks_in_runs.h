// Checks of extents that run with the network.
#pragma once

#include <vector>

#include "korch/onnx/graph_builder.h"

namespace korch::onnx {

// What the extents of a run decide, and no dimension alone, or the data: where it is wrong, the run ends
// with an error. The smallest output waits for that.
// Throws Error{unsupported} if no output can.
void check_in_runs(GraphBuilder& builder, const std::vector<MeetingExtents>& unchecked);

}  // namespace korch::onnx
