// The model of costs that is part of the program: trained on networks and machines that docs/results/costs.md
// names.
#pragma once

#include "korch/estimate/tree_model.h"

namespace korch {

const TreeModel& shipped_model();

}  // namespace korch
