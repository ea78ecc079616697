// Whether terms are equal for all values of their leaves, by the laws of laws.h.
#pragma once

#include <utility>
#include <vector>

#include "korch/block/block_graph.h"
#include "korch/block/laws.h"

namespace korch::block {

// A term of `from`, with all that it reads, in `to`, which has the same axes and leaves. Its number there.
int copy_term(const Terms& from, int term, Terms& to);

struct Proof {
  bool proven = false;  // all pairs; else nothing is known
  Saturation saturation;
};

// An e-graph that does not saturate may still prove.
Proof prove(const Terms& terms, const std::vector<std::pair<int, int>>& pairs,
            const SaturationLimits& limits = {});

// In the first block a rescaling multiplies 0 by what it makes of the accumulators' identities, whatever else
// it reads: whether that is a number.
bool starts_with_numbers(const BlockGraph& graph);

// Whether the block graph, of the group's leaves, computes the group's results: its meaning, and the
// equations of its rescalings. It takes no exponential that is equal to none of the group's, but of x - max
// x, and what it rescales begins with numbers: no infinity times 0.
Proof prove(const Terms& group, const BlockGraph& graph, const SaturationLimits& limits = {});
// The same of several block graphs that together compute the terms.
Proof prove(const Terms& group, Terms computed, const std::vector<const BlockGraph*>& graphs,
            const SaturationLimits& limits = {});

}  // namespace korch::block
