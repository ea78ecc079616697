// A candidate as a graph of its own, as it is or with smaller extents.
#pragma once

#include <map>
#include <optional>

#include "korch/candidate/candidate.h"

namespace korch::testing {

// Nodes, inputs, constants and outputs in the order of the candidate that it was made of, so that the
// implementations of that one fit.
struct Alone {
  Graph graph;
  Candidate candidate;
};

using Extents = std::map<int64_t, int64_t>;  // from, to; others stay

// Constants of several floats get random values instead of theirs; others keep them, since they may be part
// of a kernel's text. Throws Error{invalid} where operators or constants do not allow the extents.
Alone alone(const Graph& graph, const Candidate& candidate, const Extents& extents = {});

// As many extents as its operators allow become `least` + extent % kTail where they are larger than that;
// others follow from them: what is reshaped, what a window of some stride leaves, what is concatenated.
// Nothing where none can.
constexpr int64_t kTail = 16;  // lanes of the widest vectors, and a multiple of most tiles
std::optional<Alone> shrunken(const Graph& graph, const Candidate& candidate, int64_t least);

}  // namespace korch::testing
