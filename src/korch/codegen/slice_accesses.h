// The accesses of blocks of a kernel's slices, from the regions of its tile graph: plain data for the task
// graph of a plan (docs/design/tasks.md).
#pragma once

#include <vector>

#include "korch/kernel/tile_graph.h"
#include "korch/plan/kernel.h"

namespace korch {

// `kernel` was made of `graph`. One per phase, for blocks as block_slices(phase, threads) cuts them;
// constants and scratch are left out. Ranges hold at least what is accessed.
std::vector<PhaseAccess> slice_accesses(const tile::TileGraph& graph, const Kernel& kernel, int threads);

}  // namespace korch
