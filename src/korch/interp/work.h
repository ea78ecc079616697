// The cost of evaluating one node, to decide whether it is folded.
#pragma once

#include "korch/ir/op.h"

namespace korch {

// About how many elements are read, from above. A window reads no more than the data under it.
double evaluation_work(Op op, const Attrs& attrs, const std::vector<TensorType>& inputs,
                       const std::vector<TensorType>& outputs);

// Limit of the cost of folding one graph's constants: seconds.
constexpr double kMaxFoldingWork = 0x1p31;

}  // namespace korch
