// Bounded operands (bounded.h) whose extents must be equal, at one bound.
#pragma once

#include <string>
#include <vector>

#include "korch/onnx/bounded.h"

namespace korch::onnx {

// The inputs of a Concat or a product of matrices. Extents that meet are one number, which is within all of
// their bounds: an axis with more is cut to the least of them.
std::vector<Operand> with_equal_bounds(GraphBuilder& builder, Op op, const Attrs& attrs,
                                       const std::vector<Operand>& inputs, const std::string& origin);

}  // namespace korch::onnx
