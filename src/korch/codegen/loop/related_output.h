// Where an element of one output goes in another output of the same candidate.
#pragma once

#include <optional>
#include <vector>

#include "korch/codegen/loop/compose.h"

namespace korch::tile {

// When `to` follows from `from` by elementwise primitives, transposes and reshapes: the coordinates of `to`
// whose element is made of that of `from` at `coords`.
std::optional<std::vector<Index>> follow(const Graph& graph, const Candidate& candidate, ValueId from,
                                         const std::vector<Index>& coords, ValueId to);

}  // namespace korch::tile
