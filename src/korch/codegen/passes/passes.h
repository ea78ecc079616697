// Lowering of a tile graph for the CPU: everything between what a family builds and what the printer spells.
#pragma once

#include "korch/base/error.h"
#include "korch/device/device.h"
#include "korch/kernel/schedule.h"

namespace korch::tile {

// After a pass it cannot be shown that the graph is one: its accesses may leave their buffers.
class Unproven : public Error {
 public:
  using Error::Error;
};

// Throws Unproven.
void lower_for_cpu(ScheduledGraph& graph, const Device& target);

}  // namespace korch::tile
