// What evaluating one node costs, to decide whether it is folded.
#pragma once

#include "korch/ir/op.h"

namespace korch {

// About how many elements are read, from above. A window reads no more than the data under it.
double evaluation_work(Op op, const Attrs& attrs, const std::vector<TensorType>& inputs,
                       const std::vector<TensorType>& outputs);

// What folding one graph's constants may cost: seconds.
constexpr double kMaxFoldingWork = 0x1p31;

}  // namespace korch
