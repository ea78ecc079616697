// Lowering of a tile graph for the CPU: everything between what a family builds and what the printer spells.
#pragma once

#include "korch/device/device.h"
#include "korch/kernel/schedule.h"

namespace korch::tile {

// Throws Unproven.
void lower_for_cpu(ScheduledGraph& graph, const Device& target);

}  // namespace korch::tile
