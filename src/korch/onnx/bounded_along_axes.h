// Operators that reduce, normalize or search along axes, on bounded operands (bounded.h).
#pragma once

#include <string>
#include <vector>

#include "korch/onnx/graph_builder.h"

namespace korch::onnx {

bool is_along_axes(Op op);

// As emit_bounded, of these operators.
std::vector<Operand> emit_bounded_along_axes(GraphBuilder& builder, Op op, const Attrs& attrs,
                                             const std::vector<Operand>& inputs, const std::string& origin);

}  // namespace korch::onnx
