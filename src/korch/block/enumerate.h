// The search for block graphs of a group (docs/design/block.md).
#pragma once

#include <vector>

#include "korch/block/block_graph.h"
#include "korch/block/choice.h"
#include "korch/block/laws.h"

namespace korch::block {

struct SearchLimits {
  SaturationLimits saturation = {};
  int choices = 200;    // of nodes that compute the group
  double dearer = 1.5;  // than the cheapest of them
  int operations = 40;  // of a block graph: calls and folds
  double slower = 3;    // than the cheapest block graph
  int structures = 24;  // that are kept, the cheapest ones
  int alike = 2;        // of them with the same loops and grid
};

struct SearchLog {
  Saturation saturation;
  int choices = 0;
  int generated = 0;  // block graphs
  Pruned pruned;
};

// What ranks a block graph before anything is known of a machine: operations on elements and elements read,
// each as often as slices and blocks of some 64 values of an axis do them; values that outgrow a cache of the
// nearest level count again.
double rough_cost(const BlockGraph& graph);

// Block graphs that compute all results of the group, the cheapest first, each once and without fault. The
// same for the same group. Right by construction, and therefore to be proven by who takes them (prove.h).
std::vector<BlockGraph> structures(const Terms& group, const SearchLimits& limits, SearchLog& log);

}  // namespace korch::block
