// Kernels of block graphs that the search finds for a graph of primitives, as machine code.
#pragma once

#include <map>
#include <string>

#include "harness.h"

namespace korch::testing {

// A graph's text with numbers for names: $m or ${m}; ${b*e} is their product. For {random} a
// constant has values in place of them.
Graph graph_with(std::string text, std::map<std::string, int64_t> extents);

// The whole graph as one group: with the structures that the search offers for it, and their extents.
std::vector<std::shared_ptr<const block::PlacedGraph>> structures_of(const Graph& graph);
// With this block graph of its terms.
std::shared_ptr<const block::PlacedGraph> placed_by_hand(const Graph& graph, const std::string& block);

}  // namespace korch::testing
