// Execution states of a program (Korch, section 4): sets of primitives that contain all producers of their
// members. The difference of two nested states may be a kernel; the number of states tells how much there is
// to choose from.
#pragma once

#include <optional>

#include "korch/ir/graph.h"

namespace korch {

// Counts the states of the live primitives, constants aside, the empty state included; every Value must have
// one producer. Exact up to the precision of a double. Walks the primitives in an order that keeps few of
// them waited for; nullopt if more than `max_frontiers` sets of waited-for primitives must be told apart.
std::optional<double> count_execution_states(const Graph& graph, size_t max_frontiers = 1 << 15);

}  // namespace korch
