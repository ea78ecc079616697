#include "korch/codegen/loop/index_map.h"

namespace korch::tile {
namespace {

Index reflected(const Index& index, int64_t extent) {
  // One reflection at either end: (n-1) - |(n-1) - |x||.
  const Index last(extent - 1);
  return last - absolute(last - absolute(index));
}

std::vector<MappedRead> map_pad(const PadAttrs& pad, const Shape& in, const std::vector<Index>& coords) {
  MappedRead read;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    Index at = coords[axis] - Index(pad.before[axis]);
    switch (pad.mode) {
      case PadMode::constant:
        read.when.require(at, 0, in[axis] - 1);
        break;
      case PadMode::reflect:
        at = reflected(at, in[axis]);
        break;
      case PadMode::edge:
        at = clamp(at, 0, in[axis] - 1);
        break;
    }
    read.coords.push_back(at);
  }
  return {read};
}

std::vector<MappedRead> map_concat(const Graph& graph, const Node& node, const std::vector<Index>& coords) {
  const auto axis = static_cast<size_t>(std::get<AxisAttrs>(node.attrs).axis);
  std::vector<MappedRead> reads;
  int64_t start = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const int64_t extent = graph.value(node.inputs[i]).type.shape[axis];
    if (extent == 0) continue;
    MappedRead read;
    read.operand = static_cast<int>(i);
    read.coords = coords;
    read.coords[axis] = coords[axis] - Index(start);
    read.when.require(coords[axis], start, start + extent - 1);
    start += extent;
    if (!read.when.always_false()) reads.push_back(read);
  }
  return reads;
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
  if (layout.block_axis < 0) {
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

std::vector<MappedRead> map_layout(const Graph& graph, const Node& node, const std::vector<Index>& coords) {
  const Shape& in = graph.value(node.inputs[0]).type.shape;
  const Shape& out = graph.value(node.outputs[0]).type.shape;
  MappedRead read;
  if (node.op == Op::Transpose) {
    const auto& perm = std::get<PermAttrs>(node.attrs).perm;
    read.coords.resize(in.size());
    for (size_t axis = 0; axis < perm.size(); ++axis) read.coords[perm[axis]] = coords[axis];
    return {read};
  }
  if (node.op == Op::Reshape) {
    read.coords = unflatten(flatten(coords, out), in);
    return {read};
  }
  if (node.op == Op::Slice) {
    const auto& slice = std::get<SliceAttrs>(node.attrs);
    for (size_t axis = 0; axis < in.size(); ++axis)
      read.coords.push_back(coords[axis] * slice.steps[axis] + Index(slice.starts[axis]));
    return {read};
  }
  if (node.op == Op::Expand) {
    read.coords = broadcast_coords(coords, in);
    return {read};
  }
  if (node.op == Op::Pad) return map_pad(std::get<PadAttrs>(node.attrs), in, coords);
  KORCH_ASSERT(node.op == Op::Concat, std::string("no index map for ") + name(node.op));
  return map_concat(graph, node, coords);
}

}  // namespace korch::tile
