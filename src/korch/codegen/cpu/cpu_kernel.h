// A tile graph as a kernel for the CPU: lowered, spelled as C++, and what its launch needs.
#pragma once

#include "korch/kernel/tile_graph.h"
#include "korch/plan/kernel.h"
#include "korch/target/target.h"

namespace korch::tile {

// Constants are packed row-major. `flops` and `bytes` are left to the caller.
Kernel cpu_kernel(TileGraph graph, const Target& target);

}  // namespace korch::tile
