// A loop dealt out in two phases: slices go over parts of its axis each by itself, and a second block graph
// puts together what their accumulators hold. For few results of long folds, as in decoding: FlashDecoding,
// of any block graph with one loop.
//
// Axis n becomes p and n: n = p * (extent of n) + n. Each accumulator r of the first graph is a result that
// depends on p. The second one takes the maximum, the sum, ... over p; of a rescaled sum it multiplies each
// part by the factor of its rescaling from what the part's accumulators hold (before) to what all hold (now).
#pragma once

#include <string>
#include <variant>

#include "korch/block/block_graph.h"
#include "korch/block/prove.h"

namespace korch::block {

struct TwoPhases {
  BlockGraph first;
  // Its leaves are the first graph's, then the first graph's results.
  BlockGraph second;
  bool operator==(const TwoPhases&) const = default;
};

// The group with the axis in `parts` parts, which divide its extent (0 where that is not known): the last
// axis is the number of the part.
Terms split_axis(Terms group, int axis, int64_t parts);

// Or why it has no two phases.
std::variant<TwoPhases, std::string> split_loop(const BlockGraph& graph, int64_t parts);

// Whether both together compute the group, whose axis is split (split_axis).
Proof prove(const Terms& group, const TwoPhases& phases, const SaturationLimits& limits = {});

}  // namespace korch::block
