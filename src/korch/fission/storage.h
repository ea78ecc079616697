// Types that are only stored (f8, f4, i4, u4, i2, u2) leave the graph: kernels see their bytes and
// arithmetic.
#pragma once

#include "korch/ir/graph.h"

namespace korch {

// Casts from such a type become a table of its 256 bytes, or a conversion of the integer that the byte is;
// casts to one become arithmetic in float32 or int32. Every Value of one, the graph's inputs and outputs too,
// becomes one of its carrier (i8 or u8), whose bytes are the same.
void lower_storage_types(Graph& graph);

}  // namespace korch
