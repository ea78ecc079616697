// Coordinates of batched matrices: all axes but the last two number the matrices of a tensor.
#pragma once

#include "korch/codegen/linear/output_map.h"

namespace korch::linear {

// Elements before the two matrix axes.
int64_t matrices_of(const Shape& shape);

// An operand's own batch coordinates for a batch number of the result, whose batch axes have these extents.
Coords operand_batch(const std::vector<int64_t>& extents, const Shape& operand, const Index& batch);

// A flat number of an operand's matrix for its batch coordinates, and back.
Index flatten(const Shape& shape, const Coords& batch);
Coords unflatten(const Shape& shape, const Index& flat);

Coords with_matrix(Coords batch, const Index& row, const Index& column);

}  // namespace korch::linear
