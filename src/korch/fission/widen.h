// Arithmetic on float16 and bfloat16 is done in float32: kernels convert these types and move them, nothing
// else.
#pragma once

#include "korch/ir/graph.h"

namespace korch {

// Every node that computes with one of the two types gets its operands through Casts to float32 and its
// results through Casts back; a Cast between one of them and another
// type goes through float32. Constants become float32 at once, however large. Results are
// rounded where ONNX rounds them. Layout operators stay. Returns the number of nodes replaced.
int widen_small_floats(Graph& graph);

}  // namespace korch
