// Nests of a slice that need not pass over a stage twice.
#pragma once

#include "korch/codegen/loop/draft.h"

namespace korch::tile {

// A stage whose first reader is a reduction over all of it is computed by that reduction, which stores it on
// the way.
void merge_stages_into_reductions(Draft& draft);

}  // namespace korch::tile
