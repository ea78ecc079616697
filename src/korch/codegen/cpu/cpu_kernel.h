// A tile graph as a kernel for the CPU: lowered, spelled as C++, with its grid and memory.
#pragma once

#include "korch/device/device.h"
#include "korch/kernel/schedule.h"
#include "korch/plan/kernel.h"

namespace korch::tile {

// The grid and the memory of a tile graph's kernel, before lowering; the caller fills in `flops` and `bytes`.
Kernel cpu_launch(const TileGraph& graph, const Device& target);
// Its source, once it is lowered.
std::string cpu_source(ScheduledGraph graph, const Device& target);
// Both.
Kernel cpu_kernel(ScheduledGraph graph, const Device& target);

}  // namespace korch::tile
