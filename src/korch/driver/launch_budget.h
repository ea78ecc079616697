// A limit on the constants of kernel variants in an executable for a range of shapes.
#pragma once

#include "korch/search/plan_builder.h"

namespace korch {

// Variants (PlanStep::launches) may want constants packed as no plan's own kernels do. Such variants are left
// out, those that gain least per byte first, until the constants take at most kMostOfOneShape times those of
// the first plan alone. Unused constants and kernels are removed; the report says how many variants were left
// out.
constexpr double kMostOfOneShape = 2;
void limit_launch_bytes(BuiltPlan& merged);

// The plan's constants without those that only variants read.
std::vector<PlanConstant> constants_without_launches(const Plan& plan);

}  // namespace korch
