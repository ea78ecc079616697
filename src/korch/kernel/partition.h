// Where the conditions of a map are decided. A bound that mixes variables is decided by the innermost of
// them: once its value is known where that is a variable of the grid or an outer loop; along the loop itself,
// it holds between two values that are known before the loop begins. A nest that is partitioned along some
// variables runs a body without these bounds where all hold, and another one elsewhere.
#pragma once

#include <string>
#include <vector>

#include "korch/kernel/tile_graph.h"

namespace korch::tile {

// In the order in which their values become known: the grid's, those of the loops around the nest and of
// its own, the vector variable last.
std::vector<std::string> nesting_order(const Phase& phase, const Nest& nest,
                                       const std::string& vector_variable);

// All bounds together that guards of the nest ask and `variable` decides, none with a constant in it. Those
// of a loop have the form low <= k * variable + rest <= high, k > 0; others decide nothing, nor do those of
// the vector variable alone (its segments do). Where two exclude each other, the one nearer to what is stored
// counts; what is asked only where such a condition fails does not. always(): there is none.
Condition decided_along(const ExprPool& pool, const Phase& phase, const Nest& nest,
                        const std::string& vector_variable, const std::string& variable);

}  // namespace korch::tile
