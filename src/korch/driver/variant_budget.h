// What the constants of variants may take in an executable for a range of shapes.
#pragma once

#include "korch/search/plan_builder.h"

namespace korch {

// Kernel variants of a step (PlanStep::variants) that want constants packed as no plan's own kernels do are
// left out, those first that gain least per byte, until the constants take no more than kMostOfOneShape times
// those of the first plan alone. What nobody uses any more is gone; the report says what was left out.
constexpr double kMostOfOneShape = 2;
void limit_variant_bytes(BuiltPlan& merged);

}  // namespace korch
