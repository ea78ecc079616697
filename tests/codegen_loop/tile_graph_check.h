// Checks the tile graph of an implementation: verified before and after lowering, printed and parsed to the
// same text, and interpreted to what the primitives' interpreter gives.
#pragma once

#include <string>
#include <vector>

#include "korch/codegen/implementation.h"

namespace korch::testing {

// `expected`: the candidate's outputs in float64.
void check_tile_graph(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
                      const Device& target, const std::vector<HostTensor>& inputs,
                      const std::vector<HostTensor>& expected, double tolerance, const std::string& what);
// The same of a graph that is at hand.
void check_tiles(tile::ScheduledGraph tiles, const Graph& graph, const Candidate& candidate,
                 const Implementation& implementation, const Device& target,
                 const std::vector<HostTensor>& inputs, const std::vector<HostTensor>& expected,
                 double tolerance, const std::string& what);

}  // namespace korch::testing
