#include "korch/codegen/linear/batch_coords.h"

namespace korch::linear {

int64_t matrices_of(const Shape& shape) {
  return element_count(Shape(shape.begin(), shape.end() - 2));
}

Coords operand_batch(const std::vector<int64_t>& extents, const Shape& operand, const Index& batch) {
  const size_t rank = operand.size() - 2;
  Coords coords(rank);
  int64_t stride = 1;
  for (size_t axis = extents.size(); axis-- > 0;) {
    const size_t skipped = extents.size() - rank;
    if (axis >= skipped && operand[axis - skipped] != 1) {
      const Index quotient = tile::floor_div(batch, stride);
      coords[axis - skipped] = axis == 0 ? quotient : tile::floor_mod(quotient, extents[axis]);
    }
    stride *= extents[axis];
  }
  return coords;
}

Index flatten(const Shape& shape, const Coords& batch) {
  Index flat = 0;
  for (size_t i = 0; i < batch.size(); ++i) flat = flat * shape[i] + batch[i];
  return flat;
}

Coords unflatten(const Shape& shape, const Index& flat) {
  const size_t rank = shape.size() - 2;
  Coords coords(rank);
  int64_t stride = 1;
  for (size_t axis = rank; axis-- > 0;) {
    const Index quotient = tile::floor_div(flat, stride);
    coords[axis] = axis == 0 ? quotient : tile::floor_mod(quotient, shape[axis]);
    stride *= shape[axis];
  }
  return coords;
}

Coords with_matrix(Coords batch, const Index& row, const Index& column) {
  batch.push_back(row);
  batch.push_back(column);
  return batch;
}

}  // namespace korch::linear
