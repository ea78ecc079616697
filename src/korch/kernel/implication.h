// What follows from a condition that is known to hold.
#pragma once

#include "korch/kernel/index.h"

namespace korch::tile {

// The values that `index` may take where `known` holds: its range, narrowed by the bounds on the same
// expression but for a constant and the sign. Empty (low > high) where it cannot hold.
IndexRange range_where(const Index& index, const Condition& known);

// Whether `other` follows.
bool implies(const Condition& known, const Condition& other);

// The rest of `condition` that must still be tested; never if it cannot hold beside `known`.
Condition remaining(const Condition& condition, const Condition& known);

}  // namespace korch::tile
