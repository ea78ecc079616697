// What the launch of a tile graph's kernel needs.
#pragma once

#include "korch/device/device.h"
#include "korch/kernel/tile_graph.h"
#include "korch/plan/kernel.h"

namespace korch::tile {

// The grid and the memory of a tile graph's kernel, before lowering; the caller fills in `flops` and `bytes`.
Kernel cpu_launch(const TileGraph& graph, const Device& target);

}  // namespace korch::tile
