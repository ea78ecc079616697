// Lowering of a tile graph for the CPU: everything between what a family builds and what the printer spells.
#pragma once

#include "korch/kernel/tile_graph.h"
#include "korch/target/target.h"

namespace korch::tile {

void lower_for_cpu(TileGraph& graph, const Target& target);

}  // namespace korch::tile
