#include "korch/codegen/linear/batch_coords.h"

#include "korch/codegen/loop/index_map.h"

namespace korch::linear {
namespace {

Shape batch_of(const Shape& shape) {
  return Shape(shape.begin(), shape.end() - 2);
}

}  // namespace

int64_t matrices_of(const Shape& shape) {
  return element_count(batch_of(shape));
}

Coords operand_batch(const std::vector<int64_t>& extents, const Shape& operand, const Index& batch) {
  return tile::broadcast_coords(tile::unflatten(batch, extents), batch_of(operand));
}

Index flatten(const Shape& shape, const Coords& batch) {
  return tile::flatten(batch, batch_of(shape));
}

Coords unflatten(const Shape& shape, const Index& flat) {
  return tile::unflatten(flat, batch_of(shape));
}

Coords with_matrix(Coords batch, const Index& row, const Index& column) {
  batch.push_back(row);
  batch.push_back(column);
  return batch;
}

}  // namespace korch::linear
