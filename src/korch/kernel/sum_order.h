// In which order a kernel combines the terms of what it reduces.
#pragma once

#include <set>
#include <string>

#include "korch/kernel/schedule.h"

namespace korch::tile {

// A text for each reduction of a lowered graph: what is combined, over how many terms, in which order and in
// which lanes; not which slice computes it. Kernels of one candidate with equal texts give the same bits, as
// far as structure tells. A product in registers adds each result's terms one after the other, whatever the
// tile, and wherever the loops over terms are cut.
std::set<std::string> sum_orders(const ScheduledGraph& graph);

}  // namespace korch::tile
