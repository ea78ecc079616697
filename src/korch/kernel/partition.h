// Where the conditions of a map are decided. A bound that mixes variables is decided by the innermost of
// them. If that is a variable of the grid or of an outer loop, the bound is known with its value. If it is
// the loop's own variable, the bound holds between two values that are known before the loop begins. A nest
// that is partitioned along some variables runs a body without these bounds where all hold, and another one
// elsewhere.
#pragma once

#include <string>
#include <vector>

#include "korch/kernel/tile_graph.h"

namespace korch::tile {

// In the order in which their values become known: the grid's, those of the loops around the nest and of
// its own, the vector variable last.
std::vector<std::string> nesting_order(const Phase& phase, const Nest& nest,
                                       const std::string& vector_variable);

// All bounds of the nest's guards that `variable` decides, together, none with a constant in it; always() if
// there is none. Bounds that a loop decides have the form low <= k * variable + rest <= high, k > 0; other
// forms do not count, nor do bounds of the vector variable alone (its segments decide these). If two exclude
// each other, the one nearer to the store counts. Bounds that are tested only where such a bound fails do not
// count.
Condition decided_along(const ExprPool& pool, const Phase& phase, const Nest& nest,
                        const std::string& vector_variable, const std::string& variable);

}  // namespace korch::tile
