// Execution states of a program (Korch, section 4): sets of primitives that hold whatever their members read
// from. Differences of nested states are what a kernel may be made of; their number tells how much there is
// to choose from.
#pragma once

#include <optional>

#include "korch/ir/graph.h"

namespace korch {

// Of the live primitives, constants aside; every Value has one producer. The empty state counts. Exact up to
// the precision of a double, by going over the primitives in an order that keeps few of them waited for;
// nullopt where more than `max_frontiers` sets of these have to be told apart.
std::optional<double> count_execution_states(const Graph& graph, size_t max_frontiers = 1 << 15);

}  // namespace korch
