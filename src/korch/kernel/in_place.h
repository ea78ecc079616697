// Which outputs may share the memory of an input.
#pragma once

#include <utility>
#include <vector>

#include "korch/kernel/tile_graph.h"

namespace korch::tile {

// (input, output) pairs such that every element of the input is read only by the very iteration that writes
// the output's element at the same place. Only kernels of one nest with one output are considered: others
// read again.
std::vector<std::pair<int, int>> in_place_pairs(const TileGraph& graph);

}  // namespace korch::tile
