// The states of a plan, for reading its network again.
#pragma once

#include "korch/onnx/import.h"
#include "korch/plan/plan.h"

namespace korch {

// The plan's states and no others; those that grow get the capacity that they have in the plan.
StateOptions states_of(const Plan& plan);

}  // namespace korch
