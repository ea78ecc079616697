// Nests of a slice that need not pass over an intermediate twice.
#pragma once

#include "korch/codegen/loop/draft.h"

namespace korch::tile {

// An intermediate whose first reader is a reduction over all of it is computed by that reduction, which
// stores it on the way.
void merge_into_reductions(Draft& draft);

}  // namespace korch::tile
