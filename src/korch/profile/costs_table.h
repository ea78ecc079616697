// A database's costs as a table that other programs learn from (`korch costs table`): CSV, a head, then a
// line per kernel that a model may learn from:
//
//   network,device,candidate,kernel,family,weight,cost_us,bound_us,log_factor,draft.family,...,tile.tile_products,...
//
// `device` and `candidate` are hashes. Kernels of one candidate compute the same on one device, so a model is
// to order them. `weight` is what a row counts in training (cost_training.h), `log_factor` what a model is to
// say: ln(cost / bound). A column per feature follows, the draft's first (estimate/features.h).
#pragma once

#include <functional>
#include <string_view>

#include "korch/profile/cost_training.h"

namespace korch {

// Calls `write` with each line, the head first.
void write_costs_table(const CostSet& costs, const std::function<void(std::string_view line)>& write);

}  // namespace korch
