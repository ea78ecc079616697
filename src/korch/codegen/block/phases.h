// The phases of a block graph's kernel: one that computes its results; or two, of parts of a loop and of what
// puts them together (BlockSchedule::parts).
#pragma once

#include <string>
#include <variant>

#include "korch/codegen/block/arguments.h"
#include "korch/codegen/schedule.h"
#include "korch/device/device.h"

namespace korch::blocks {

// Adds the graph's arguments, the phases that pack operands, and the one that computes the results. Or why it
// has no kernel.
std::string add_phases(const block::BlockGraph& graph, const BlockSchedule& schedule, const Device& target,
                       Arguments& arguments, tile::TileBuilder& builder);

// The graph in two phases, its loop's axis in so many parts: the first one gives the accumulators of one
// part, and has no axis of parts; the second one's leaves are the graph's, then the accumulators of all
// parts, whose last axis is that of parts. Or why it has none.
struct Phases {
  block::BlockGraph first, second;
};
std::variant<Phases, std::string> phases_of(const block::BlockGraph& graph, int64_t parts);

}  // namespace korch::blocks
