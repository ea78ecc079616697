// In which order a kernel combines the terms of what it reduces.
#pragma once

#include <set>
#include <string>

#include "korch/kernel/schedule.h"

namespace korch::tile {

// A text for each reduction of a lowered graph: what is combined, over how many terms, in which order and in
// which lanes; nothing of who computes which result. Kernels of one candidate that have the same texts give
// the same results to the bit, as far as structure tells. Of a product in registers the terms of each result
// follow one another, whatever the tile, and wherever the loops over them are cut.
std::set<std::string> sum_orders(const ScheduledGraph& graph);

}  // namespace korch::tile
