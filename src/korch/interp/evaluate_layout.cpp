#include <cstring>

#include "korch/interp/evaluate.h"
#include "korch/interp/index_tables.h"
#include "korch/ir/index_map.h"

namespace korch {
namespace {

// What the map reads, with the axes of its view; `fill` where it reads nothing.
HostTensor read_by(const IndexMap& map, const HostTensor& source, const HostTensor& fill, StopCheck& stop) {
  const Shape strides = row_major_strides(map.operand);
  IndexTables tables;
  for (int64_t extent : map.view) tables.push_back(std::vector<int64_t>(extent, 0));
  for (size_t axis = 0; axis < map.operand.size(); ++axis) {
    const Coordinate& c = map.coordinates[axis];
    if (c.axis < 0) continue;  // of extent 1
    for (int64_t i = 0; i < map.view[c.axis]; ++i) {
      const int64_t at = c.at(i, 0, map.operand[axis]);
      tables[c.axis][i] = at < 0 ? kOutside : at * strides[axis];
    }
  }
  return read_through(source, tables, fill, stop);
}

}  // namespace

HostTensor broadcast_to(const HostTensor& tensor, const Shape& shape, StopCheck& stop) {
  return read_by(broadcast_map(tensor.shape(), shape), tensor, HostTensor(TensorType{tensor.dtype(), {}}),
                 stop);
}

Results evaluate_layout(const Evaluation& e) {
  const HostTensor& source = e.inputs[0];
  const IndexMaps maps = index_maps(e.node.op, e.node.attrs, {source.type()}, e.output_shape());
  HostTensor fill(TensorType{source.dtype(), {}});
  if (const auto* pad = std::get_if<PadAttrs>(&e.node.attrs); pad != nullptr)
    fill = converted(HostTensor::of<double>(DType::f64, {}, {pad->value}), source.dtype());
  return {read_by(maps.operands[0], source, fill, e.stop).reshaped(maps.result)};
}

Results evaluate_reshape(const Evaluation& e) {
  return {e.inputs[0].reshaped(e.output_shape())};
}

Results evaluate_concat(const Evaluation& e) {
  const auto axis = static_cast<size_t>(e.attrs<AxisAttrs>().axis);
  HostTensor out(TensorType{e.inputs[0].dtype(), e.output_shape()});
  const Shape& to = out.shape();
  const int64_t outer = element_count(Shape(to.begin(), to.begin() + axis));
  const int64_t row_bytes = outer == 0 ? 0 : out.bytes() / outer;
  auto* position = out.mutable_data<std::byte>();
  for (const HostTensor& input : e.inputs) {
    const int64_t part_bytes = outer == 0 ? 0 : input.bytes() / outer;
    if (part_bytes == 0) continue;
    for (int64_t i = 0; i < outer; ++i) {
      std::memcpy(position + i * row_bytes, input.data<std::byte>() + i * part_bytes, part_bytes);
      e.stop.after(part_bytes);
    }
    position += part_bytes;
  }
  return {out};
}

Results evaluate_trilu(const Evaluation& e) {
  const auto& attrs = e.attrs<ScanAttrs>();  // axis: k, reverse: upper
  const Shape& shape = e.output_shape();
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const auto bytes = static_cast<int64_t>(size_bytes(e.inputs[0].dtype()));
  HostTensor out(e.inputs[0].type());
  const int64_t all_rows = columns == 0 ? 0 : out.elements() / columns;
  for (int64_t r = 0; r < all_rows; ++r) {
    e.stop.after(columns);
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t diagonal = c - r % rows;
      if (attrs.reverse ? diagonal < attrs.axis : diagonal > attrs.axis) continue;
      const int64_t at = (r * columns + c) * bytes;
      std::memcpy(out.mutable_data<std::byte>() + at, e.inputs[0].data<std::byte>() + at, bytes);
    }
  }
  return {out};
}

}  // namespace korch
