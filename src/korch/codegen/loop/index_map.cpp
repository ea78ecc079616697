#include "korch/codegen/loop/index_map.h"

namespace korch::tile {
namespace {

Index reflected(const Index& index, int64_t extent) {
  // One reflection at either end: (n-1) - |(n-1) - |x||.
  const Index last(extent - 1);
  return last - absolute(last - absolute(index));
}

}  // namespace

Index flatten(const std::vector<Index>& coords, const Shape& shape) {
  Index flat(0);
  for (size_t axis = 0; axis < shape.size(); ++axis) flat = flat * shape[axis] + coords[axis];
  return flat;
}

std::vector<Index> unflatten(const Index& flat, const Shape& shape) {
  std::vector<Index> coords(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    coords[axis] = shape[axis] == 1 ? Index(0) : floor_mod(floor_div(flat, stride), shape[axis]);
    stride *= shape[axis];
  }
  return coords;
}

std::vector<Index> broadcast_coords(const std::vector<Index>& coords, const Shape& operand) {
  std::vector<Index> result;
  for (size_t axis = 0; axis < operand.size(); ++axis)
    result.push_back(operand[axis] == 1 ? Index(0) : coords[coords.size() - operand.size() + axis]);
  return result;
}

Index memory_offset(const std::vector<Index>& coords, const Shape& shape, const Layout& layout) {
  if (layout.has_strides()) {
    const Shape stride = strides(shape, layout);
    Index offset(0);
    for (size_t axis = 0; axis < shape.size(); ++axis) offset = offset + coords[axis] * stride[axis];
    return offset;
  }
  Layout outer = layout;
  outer.block_axis = -1;
  Shape blocks = shape;
  std::vector<Index> at = coords;
  blocks[layout.block_axis] = (blocks[layout.block_axis] + layout.block - 1) / layout.block;
  at[layout.block_axis] = floor_div(coords[layout.block_axis], layout.block);
  return memory_offset(at, blocks, outer) * layout.block + floor_mod(coords[layout.block_axis], layout.block);
}

MappedRead read_at(const IndexMaps& maps, size_t operand, std::vector<Index> coords,
                   const std::vector<Index>& taps) {
  const IndexMap& map = maps.operands[operand];
  if (map.view != maps.result) coords = unflatten(flatten(coords, maps.result), map.view);
  MappedRead read;
  read.operand = static_cast<int>(operand);
  for (size_t axis = 0; axis < map.coordinates.size(); ++axis) {
    const Coordinate& c = map.coordinates[axis];
    Index at(0);
    if (c.axis >= 0) {
      at = floor_div(coords[c.axis], c.per);
      if (c.modulo != 0) at = floor_mod(at, c.modulo);
      if (c.scale != 1) at = at * c.scale;
    }
    if (c.tap >= 0) at = at + taps[c.tap] * c.step;
    if (c.offset != 0) at = at + Index(c.offset);
    if (c.divisor != 1) {
      read.when.require(floor_mod(at, c.divisor), 0, 0);
      at = floor_div(at, c.divisor);
    }
    const int64_t last = map.operand[axis] - 1;
    switch (c.outside) {
      case Outside::never:
        break;
      case Outside::fill:
        read.when.require(at, 0, last);
        break;
      case Outside::other:
        read.when.require(coords[c.axis], -c.offset, last - c.offset);
        break;
      case Outside::reflect:
        at = reflected(at, last + 1);
        break;
      case Outside::edge:
        at = clamp(at, 0, last);
        break;
    }
    read.coords.push_back(at);
  }
  return read;
}

std::vector<MappedRead> map_layout(const Graph& graph, const Node& node, const std::vector<Index>& coords) {
  const IndexMaps maps = index_maps(graph, node);
  std::vector<MappedRead> reads;
  for (size_t i = 0; i < maps.operands.size(); ++i) {
    if (element_count(maps.operands[i].operand) == 0) continue;
    MappedRead read = read_at(maps, i, coords);
    if (!read.when.always_false()) reads.push_back(std::move(read));
  }
  return reads;
}

std::vector<Index> result_coords(const Graph& graph, const Node& node, const std::vector<Index>& coords) {
  const IndexMaps maps = index_maps(graph, node);
  const IndexMap& map = maps.operands[0];
  std::vector<Index> at(map.view.size());
  for (size_t axis = 0; axis < coords.size(); ++axis) at[map.coordinates[axis].axis] = coords[axis];
  return map.view == maps.result ? at : unflatten(flatten(at, map.view), maps.result);
}

}  // namespace korch::tile
