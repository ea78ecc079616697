#include <cstring>

#include "korch/interp/evaluate.h"
#include "korch/interp/index_tables.h"

namespace korch {
namespace {

int64_t padded_source(int64_t index, int64_t extent, PadMode mode) {
  if (index >= 0 && index < extent) return index;
  switch (mode) {
    case PadMode::constant:
      return kOutside;
    case PadMode::edge:
      return index < 0 ? 0 : extent - 1;
    case PadMode::reflect:  // the edge itself is not repeated; pads are smaller than the axis
      return index < 0 ? -index : 2 * (extent - 1) - index;
  }
  return kOutside;
}

// [N, C, H, W] with C or H and W split by the block: the three block operators are transposes of such views.
struct Blocks {
  int64_t n, c, h, w, b;
};
Blocks blocks(const Evaluation& e) {
  const Shape& x = e.inputs[0].shape();
  return {x[0], x[1], x[2], x[3], e.attrs<AxisAttrs>().axis};
}

}  // namespace

HostTensor broadcast_to(const HostTensor& tensor, const Shape& shape, StopCheck& stop) {
  const size_t missing = shape.size() - tensor.shape().size();
  const Shape strides = row_major_strides(tensor.shape());
  IndexTables tables;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool moves = i >= missing && tensor.shape()[i - missing] != 1;
    tables.push_back(index_table(shape[i], 0, moves ? 1 : 0, moves ? strides[i - missing] : 0));
  }
  return read_through(tensor, tables, stop);
}

Results evaluate_transpose(const Evaluation& e) {
  return {transposed(e.inputs[0], e.inputs[0].shape(), e.attrs<PermAttrs>().perm, e.stop)};
}

Results evaluate_reshape(const Evaluation& e) {
  return {e.inputs[0].reshaped(e.output_shape())};
}

Results evaluate_slice(const Evaluation& e) {
  const auto& attrs = e.attrs<SliceAttrs>();
  const Shape strides = row_major_strides(e.inputs[0].shape());
  IndexTables tables;
  for (size_t i = 0; i < strides.size(); ++i)
    tables.push_back(index_table(attrs.sizes[i], attrs.starts[i], attrs.steps[i], strides[i]));
  return {read_through(e.inputs[0], tables, e.stop)};
}

Results evaluate_pad(const Evaluation& e) {
  const auto& attrs = e.attrs<PadAttrs>();
  const Shape& from = e.inputs[0].shape();
  const Shape strides = row_major_strides(from);
  IndexTables tables(from.size());
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] == 0 && attrs.mode != PadMode::constant && e.output_shape()[axis] != 0)
      throw Error(ErrorKind::invalid, "an empty axis has nothing to pad with");
    for (int64_t i = 0; i < e.output_shape()[axis]; ++i) {
      const int64_t source = padded_source(i - attrs.before[axis], from[axis], attrs.mode);
      tables[axis].push_back(source == kOutside ? kOutside : source * strides[axis]);
    }
  }
  const HostTensor value = HostTensor::of<double>(DType::f64, {}, {attrs.value});
  return {read_through(e.inputs[0], tables, converted(value, e.inputs[0].dtype()), e.stop)};
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

Results evaluate_expand(const Evaluation& e) {
  return {broadcast_to(e.inputs[0], e.output_shape(), e.stop)};
}

Results evaluate_tile(const Evaluation& e) {
  const Shape& from = e.inputs[0].shape();
  const Shape strides = row_major_strides(from);
  IndexTables tables(from.size());
  for (size_t axis = 0; axis < from.size(); ++axis)
    for (int64_t i = 0; i < e.output_shape()[axis]; ++i)
      tables[axis].push_back(i % from[axis] * strides[axis]);
  return {read_through(e.inputs[0], tables, e.stop)};
}

Results evaluate_depth_to_space(const Evaluation& e) {
  const auto [n, c, h, w, b] = blocks(e);
  const HostTensor moved = transposed(e.inputs[0], {n, b, b, c / (b * b), h, w}, {0, 3, 4, 1, 5, 2}, e.stop);
  return {moved.reshaped(e.output_shape())};
}

Results evaluate_depth_to_space_crd(const Evaluation& e) {
  const auto [n, c, h, w, b] = blocks(e);
  const HostTensor moved = transposed(e.inputs[0], {n, c / (b * b), b, b, h, w}, {0, 1, 4, 2, 5, 3}, e.stop);
  return {moved.reshaped(e.output_shape())};
}

Results evaluate_space_to_depth(const Evaluation& e) {
  const auto [n, c, h, w, b] = blocks(e);
  const HostTensor moved = transposed(e.inputs[0], {n, c, h / b, b, w / b, b}, {0, 3, 5, 1, 2, 4}, e.stop);
  return {moved.reshaped(e.output_shape())};
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
