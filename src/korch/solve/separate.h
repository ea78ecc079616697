// Entry rows that a fractional point violates (docs/design/solve.md, "Entry rows").
#pragma once

#include <span>
#include <vector>

#include "korch/solve/network.h"

namespace korch {

// For a set W of nodes: the first arc that makes a node of W reads none of W. So whatever is made of W is
// preceded by an arc that enters W. `target` is in `inside`.
struct EntrySet {
  int target;
  std::vector<int> inside;  // ascending
};

// Each arc counts with one of its inputs, the one that is made least; ties are many, and either rule finds
// sets that the other does not.
enum class TieRule { first, last };

// Sets whose entering arcs carry less than `made[target]`, by maximum flow from nothing to each target.
// `first_maker[a][i]`: how much arc a is the first maker of its output i; `made[n]`: how much node n is made.
// Finds no violated set only for the inputs that it counts.
std::vector<EntrySet> violated_entries(const Network& network,
                                       const std::vector<std::vector<double>>& first_maker,
                                       std::span<const double> made, const std::vector<int>& targets,
                                       TieRule ties);

}  // namespace korch
