// When two nodes are one: they compute the same of the same inputs, or are two views in a row.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

// Equal keys: the nodes compute the same. A constant is told by its type and a hash of its data.
std::string node_key(Op op, const Attrs& attrs, const std::vector<ValueId>& inputs);

// The attributes of two views, `outer` of what `inner` gives, as one; both are of this operator, which is
// Reshape, Transpose, Slice or Expand.
Attrs composed_views(Op op, const Attrs& inner, const Attrs& outer);

}  // namespace korch
