// Primitive Graph -> ONNX model (opset 14) that any ONNX runtime can run.
//
// Graph inputs and outputs keep their names; other values get unique ones. Where a Value has several
// producers the first is exported. Most primitives are ONNX operators; WindowSum and WindowDot are depthwise
// convolutions (with ones), transposed operands of MatMul become Transpose nodes.
#pragma once

#include <string>

#include "korch/ir/graph.h"

namespace korch {

// Throws Error{unsupported} naming a composite operator or a WindowSum of integers, Error{invalid} when the
// model exceeds 2 GiB. The file is written beside and renamed.
void export_onnx(const Graph& graph, const std::string& path);
std::string export_onnx_bytes(const Graph& graph);

}  // namespace korch
