// Measures some of a network's kernels, for a model of costs to learn from.
#pragma once

#include <cstdint>

#include "korch/profile/kernel_bank.h"
#include "korch/search/columns.h"

namespace korch {

// About half of them are of plans at costs that are drawn around the bounds and around what the model of
// costs says, since it is among such kernels that plans are chosen; the others are any that the program may
// choose. Those that the bank's database knows count.
void measure_sample(const Graph& graph, const Columns& columns, KernelBank& bank, int kernels, uint64_t seed);

}  // namespace korch
