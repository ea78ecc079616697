// Functions that a model brings along (FunctionProto) give way to the nodes of their bodies.
#pragma once

#include "onnx.pb.h"

namespace korch::onnx {

// Every node of the graph that calls a function of the model becomes the function's nodes, which may call
// others. Their values and names get the caller's before them. Throws Error{invalid} on functions that call
// themselves, that two share a name, and on calls that do not fit; Error{resource} when the bodies come to
// too many nodes; Error{unsupported} where a function was written for another opset than the model.
void inline_functions(proto::ModelProto& model);

}  // namespace korch::onnx
