// Operators on images, [batch, channels, spatial axes ...], as emit_bounded takes them: extents of the batch
// and of the spatial axes may be less than their bounds.
#pragma once

#include <string>
#include <vector>

#include "korch/onnx/graph_builder.h"

namespace korch::onnx {

// Windows that reach beyond an extent read padding there. Throws Error{unsupported} for operators that do not
// work on images, and Error{usage} if a window does not fit the least extent.
std::vector<Operand> emit_bounded_images(GraphBuilder& builder, Op op, const Attrs& attrs,
                                         const std::vector<Operand>& inputs, const std::string& origin);

}  // namespace korch::onnx
