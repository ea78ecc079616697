// The runtime's choice among the kernel variants of a plan's step, for tools that show or compare it.
#pragma once

#include <vector>

#include "korch/plan/plan.h"

namespace korch::variants {

// The predicted microseconds of each variant.
std::vector<double> predicted_us(const KernelVariants& variants, const std::vector<int64_t>& extents);
// The variant that a run takes if the functions are trusted: the one with the least predicted time, unless
// the step's own is nearly as fast.
size_t chosen_variant(const KernelVariants& variants, const std::vector<int64_t>& extents);

}  // namespace korch::variants
