#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "korch/interp/evaluate.h"
#include "korch/interp/index_tables.h"

namespace korch {
namespace {

// Indices count from the end when negative.
int64_t checked_index(int64_t index, int64_t extent) {
  if (index < -extent || index >= extent)
    throw Error(ErrorKind::invalid, fmt::format("index {} is out of range for an axis of {}", index, extent));
  return index < 0 ? index + extent : index;
}

// An axis with all the axes before it and after it merged.
struct AxisView {
  int64_t outer, extent, inner;
};
AxisView around_axis(const Shape& shape, int64_t axis) {
  return {element_count(Shape(shape.begin(), shape.begin() + axis)), shape[axis],
          element_count(Shape(shape.begin() + axis + 1, shape.end()))};
}

void copy_element(const HostTensor& from, int64_t source, HostTensor& to, int64_t target, int64_t count = 1) {
  const auto bytes = static_cast<int64_t>(size_bytes(from.dtype()));
  if (count == 0) return;
  std::memcpy(to.mutable_data<std::byte>() + target * bytes, from.data<std::byte>() + source * bytes,
              count * bytes);
}

HostTensor copy_of(const HostTensor& tensor) {
  HostTensor copy(tensor.type());
  copy_element(tensor, 0, copy, 0, tensor.elements());
  return copy;
}

// For Gather/ScatterElements: flat position in the data of every element of `indices`, whose own coordinates
// are used on all axes but one.
std::vector<int64_t> element_positions(const Shape& data, const HostTensor& indices, int64_t axis,
                                       StopCheck& stop) {
  const Shape strides = row_major_strides(data);
  std::vector<int64_t> positions(indices.elements());
  Shape index(indices.shape().size(), 0);
  for (size_t p = 0; p < positions.size(); ++p) {
    stop.after(1);
    for (size_t i = 0; i < index.size(); ++i) positions[p] += index[i] * strides[i];
    const int64_t chosen = checked_index(element_as_int(indices, static_cast<int64_t>(p)), data[axis]);
    positions[p] += (chosen - index[axis]) * strides[axis];
    for (size_t i = index.size(); i-- > 0 && ++index[i] == indices.shape()[i];) index[i] = 0;
  }
  return positions;
}

// For Gather/ScatterND: the tuples along the last axis of `indices` address slices of the data's axes after
// the batch axes. Returns the flat position of every slice and sets its length.
std::vector<int64_t> slice_positions(const Shape& data, const HostTensor& indices, int64_t batch_axes,
                                     int64_t* slice_elements) {
  const int64_t depth = indices.shape().back();
  const int64_t tuples = element_count(Shape(indices.shape().begin(), indices.shape().end() - 1));
  const int64_t batches = element_count(Shape(data.begin(), data.begin() + batch_axes));
  const Shape strides = row_major_strides(data);
  *slice_elements = element_count(Shape(data.begin() + batch_axes + depth, data.end()));
  const int64_t batch_elements = element_count(Shape(data.begin() + batch_axes, data.end()));
  std::vector<int64_t> positions(tuples);
  for (int64_t t = 0; t < tuples; ++t) {
    positions[t] = t / (tuples / batches) * batch_elements;
    for (int64_t d = 0; d < depth; ++d) {
      const int64_t axis = batch_axes + d;
      positions[t] += checked_index(element_as_int(indices, t * depth + d), data[axis]) * strides[axis];
    }
  }
  return positions;
}

// NaN counts as larger than every number, as in NumPy.
template <typename W>
bool is_larger(W a, W b) {
  if (a != a) return b == b;
  return a > b;
}

template <typename W>
void select_top(const HostTensor& wide, const AxisView& view, const TopKAttrs& attrs,
                std::vector<int64_t>& chosen, StopCheck& stop) {
  const W* values = wide.data<W>();
  std::vector<int64_t> order(view.extent);
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t i = 0; i < view.inner; ++i) {
      const W* lane = values + o * view.extent * view.inner + i;
      stop.after(view.extent);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        if (!attrs.largest) std::swap(a, b);
        return is_larger(lane[a * view.inner],
                         lane[b * view.inner]);  // equal values keep the lower index first
      });
      for (int64_t k = 0; k < attrs.k; ++k) chosen[(o * attrs.k + k) * view.inner + i] = order[k];
    }
  }
}

}  // namespace

Results evaluate_gather(const Evaluation& e) {
  const HostTensor& data = e.inputs[0];
  const auto [outer, extent, inner] = around_axis(data.shape(), e.attrs<AxisAttrs>().axis);
  std::vector<int64_t> chosen = as_int_vector(e.inputs[1]);
  for (int64_t& index : chosen) index = checked_index(index, extent) * inner;
  const IndexTables tables = {index_table(outer, 0, 1, extent * inner), chosen, index_table(inner, 0, 1, 1)};
  return {read_through(data, tables, e.stop).reshaped(e.output_shape())};
}

Results evaluate_gather_elements(const Evaluation& e) {
  const HostTensor& data = e.inputs[0];
  HostTensor out(TensorType{data.dtype(), e.output_shape()});
  const std::vector<int64_t> positions =
      element_positions(data.shape(), e.inputs[1], e.attrs<AxisAttrs>().axis, e.stop);
  for (size_t i = 0; i < positions.size(); ++i)
    copy_element(data, positions[i], out, static_cast<int64_t>(i));
  return {out};
}

Results evaluate_gather_nd(const Evaluation& e) {
  const HostTensor& data = e.inputs[0];
  HostTensor out(TensorType{data.dtype(), e.output_shape()});
  int64_t slice = 0;
  const std::vector<int64_t> positions =
      slice_positions(data.shape(), e.inputs[1], e.attrs<AxisAttrs>().axis, &slice);
  for (size_t i = 0; i < positions.size(); ++i) {
    copy_element(data, positions[i], out, static_cast<int64_t>(i) * slice, slice);
    e.stop.after(slice);
  }
  return {out};
}

Results evaluate_scatter_elements(const Evaluation& e) {
  HostTensor out = copy_of(e.inputs[0]);
  const std::vector<int64_t> positions =
      element_positions(out.shape(), e.inputs[1], e.attrs<AxisAttrs>().axis, e.stop);
  for (size_t i = 0; i < positions.size(); ++i)
    copy_element(e.inputs[2], static_cast<int64_t>(i), out, positions[i]);
  return {out};
}

Results evaluate_scatter_nd(const Evaluation& e) {
  HostTensor out = copy_of(e.inputs[0]);
  int64_t slice = 0;
  const std::vector<int64_t> positions = slice_positions(out.shape(), e.inputs[1], 0, &slice);
  for (size_t i = 0; i < positions.size(); ++i) {
    copy_element(e.inputs[2], static_cast<int64_t>(i) * slice, out, positions[i], slice);
    e.stop.after(slice);
  }
  return {out};
}

Results evaluate_append(const Evaluation& e) {
  const AppendAttrs& attrs = e.attrs<AppendAttrs>();
  const HostTensor &old = e.inputs[0], &rows = e.inputs[1];
  HostTensor out(TensorType{old.dtype(), e.output_shape()});  // zeros
  const AxisView from = around_axis(old.shape(), attrs.axis), more = around_axis(rows.shape(), attrs.axis),
                 to = around_axis(out.shape(), attrs.axis);
  const int64_t length = element_as_int(e.inputs[2], 0), count = element_as_int(e.inputs[3], 0),
                place = element_as_int(e.inputs[4], 0);
  checked_index(length, from.extent + 1);
  checked_index(count, more.extent + 1);
  checked_index(place, std::min(length, attrs.capacity - count) + 1);
  if (length < 0 || count < 0 || place < 0)
    throw Error(ErrorKind::invalid, "a number of rows is less than 0");
  for (int64_t o = 0; o < to.outer; ++o) {
    copy_element(old, o * from.extent * from.inner, out, o * to.extent * to.inner, length * to.inner);
    copy_element(rows, o * more.extent * more.inner, out, (o * to.extent + place) * to.inner,
                 count * to.inner);
    e.stop.after((length + count) * to.inner);
  }
  return {out};
}

Results evaluate_top_k(const Evaluation& e) {
  const auto& attrs = e.attrs<TopKAttrs>();
  const HostTensor& input = e.inputs[0];
  const HostTensor wide = widened(input);
  const AxisView view = around_axis(input.shape(), attrs.axis);
  HostTensor values(TensorType{input.dtype(), e.output_shape()});
  std::vector<int64_t> chosen(values.elements());
  if (wide.dtype() == DType::f64) select_top<double>(wide, view, attrs, chosen, e.stop);
  if (wide.dtype() == DType::i64) select_top<int64_t>(wide, view, attrs, chosen, e.stop);
  if (wide.dtype() == DType::u64) select_top<uint64_t>(wide, view, attrs, chosen, e.stop);
  for (int64_t p = 0; p < values.elements(); ++p) {
    const int64_t lane = p / (attrs.k * view.inner) * view.extent * view.inner + p % view.inner;
    copy_element(input, lane + chosen[p] * view.inner, values, p);
  }
  return {values, HostTensor::of<int64_t>(DType::i64, e.output_shape(), chosen)};
}

Results evaluate_non_max_suppression(const Evaluation& e) {
  const auto& attrs = e.attrs<SuppressionAttrs>();
  const HostTensor boxes = converted(e.inputs[0], DType::f64), scores = converted(e.inputs[1], DType::f64);
  const Shape& shape = e.inputs[1].shape();  // [N, C, B]
  HostTensor out(TensorType{DType::i64, e.output_shape()});
  int64_t* taken = out.mutable_data<int64_t>();
  const auto overlap = [](const double* a, const double* b) {
    const auto area = [](double height, double width) { return height * width; };
    const double shared = area(std::max(0.0, std::min(a[2], b[2]) - std::max(a[0], b[0])),
                               std::max(0.0, std::min(a[3], b[3]) - std::max(a[1], b[1])));
    return shared / (area(a[2] - a[0], a[3] - a[1]) + area(b[2] - b[0], b[3] - b[1]) - shared);
  };
  for (int64_t row = 0; row < shape[0] * shape[1]; ++row, taken += attrs.k) {
    const double* corners = boxes.data<double>() + row / shape[1] * shape[2] * 4;
    const double* score = scores.data<double>() + row * shape[2];
    std::vector<int64_t> left;
    for (int64_t box = 0; box < shape[2]; ++box)
      if (score[box] > -std::numeric_limits<double>::infinity()) left.push_back(box);
    for (int64_t k = 0; k < attrs.k; ++k) {
      if (left.empty()) {
        taken[k] = -1;
        continue;
      }
      const int64_t best = *std::max_element(left.begin(), left.end(),
                                             [&](int64_t a, int64_t b) { return score[a] < score[b]; });
      taken[k] = best;
      e.stop.after(static_cast<int64_t>(left.size()));
      std::erase_if(left, [&](int64_t box) {
        return box == best || overlap(corners + 4 * best, corners + 4 * box) > attrs.threshold;
      });
    }
  }
  return {out};
}

Results evaluate_one_hot(const Evaluation& e) {
  const auto& attrs = e.attrs<OneHotAttrs>();
  const HostTensor& values = e.inputs[1];  // [off, on]
  HostTensor out(TensorType{values.dtype(), e.output_shape()});
  const AxisView view = around_axis(e.output_shape(), attrs.axis);
  for (int64_t p = 0; p < out.elements(); ++p) {
    e.stop.after(1);
    const int64_t position = p / view.inner % attrs.depth;
    const int64_t lane = p / (attrs.depth * view.inner) * view.inner + p % view.inner;
    const int64_t index = element_as_int(e.inputs[0], lane);
    const bool on = (index < 0 ? index + attrs.depth : index) == position;  // out of range: all off
    copy_element(values, on ? 1 : 0, out, p);
  }
  return {out};
}

}  // namespace korch
