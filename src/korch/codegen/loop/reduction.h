// Reductions and linear primitives as nests: the operands' coordinates from those of the result and of the
// reduced domain.
#pragma once

#include <vector>

#include "korch/codegen/loop/domain.h"
#include "korch/codegen/loop/draft.h"

namespace korch::tile {

bool is_linear(const Node& node);
bool is_reduction(const Node& node);                             // or linear
int64_t reduced_elements(const Graph& graph, const Node& node);  // that one result combines

// The nest that computes the result's element at `coords` out of all points of `reduced`; the reduced axes
// lie in `memory_order` (outermost first). Its kept loops and the target's destination are left to the
// caller.
DraftNest reduction_nest(const Graph& graph, const Node& node, const std::vector<Index>& coords,
                         const Domain& reduced, const std::vector<int>& memory_order);

}  // namespace korch::tile
