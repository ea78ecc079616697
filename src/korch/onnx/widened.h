// Narrow weights that a network reads as floats.
#pragma once

#include <string>

#include "korch/onnx/graph_builder.h"

namespace korch::onnx {

// A sentence with both sizes; empty: none. Of a graph without dead nodes.
std::string widened_weights_note(const GraphBuilder& builder, const Graph& graph);

}  // namespace korch::onnx
