// Resize, axis after axis: every mode is a weighted sum of a few source positions per axis.
#include "korch/interp/evaluate.h"
#include "korch/interp/index_tables.h"
#include "korch/ir/resize_taps.h"

namespace korch {
namespace {

bool is_resized(const ResizeAttrs& attrs, const Shape& shape, size_t axis) {
  return shape[axis] != attrs.sizes[axis] || attrs.scales[axis] != 1;
}

HostTensor resized_axis(const HostTensor& x, size_t axis, int64_t extent, const std::vector<ResizeTap>& taps,
                        StopCheck& stop) {
  Shape shape = x.shape();
  const int64_t inner = element_count(Shape(shape.begin() + axis + 1, shape.end()));
  const int64_t outer = element_count(Shape(shape.begin(), shape.begin() + axis));
  const int64_t input = shape[axis];
  shape[axis] = extent;
  HostTensor out = doubles(shape);
  for (int64_t row = 0; row < outer * extent; ++row) {
    double* to = out.mutable_data<double>() + row * inner;
    for (const ResizeTap& tap : taps) {
      stop.after(inner);
      const double weight = tap.weight[row % extent];
      const double* from = x.data<double>() + (row / extent * input + tap.index[row % extent]) * inner;
      for (int64_t i = 0; i < inner; ++i) to[i] += weight * from[i];
    }
  }
  return out;
}

HostTensor resized_to_nearest(const HostTensor& input, const ResizeAttrs& attrs, StopCheck& stop) {
  const Shape strides = row_major_strides(input.shape());
  IndexTables tables;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    tables.push_back(index_table(attrs.sizes[axis], 0, 1, strides[axis]));
    if (!is_resized(attrs, input.shape(), axis)) continue;
    const std::vector<int64_t> index = resize_taps(attrs, axis, input.shape()[axis])[0].index;
    for (size_t i = 0; i < index.size(); ++i) tables[axis][i] = index[i] * strides[axis];
  }
  return read_through(input, tables, stop);
}

}  // namespace

Results evaluate_resize(const Evaluation& e) {
  const auto& attrs = e.attrs<ResizeAttrs>();
  if (const std::string unknown = unknown_resize_attribute(attrs); !unknown.empty())
    throw Error(ErrorKind::unsupported, "Resize " + unknown + " is not supported");
  if (e.inputs[0].elements() == 0) {
    if (element_count(attrs.sizes) != 0)
      throw Error(ErrorKind::invalid, "an empty tensor has nothing to resize");
    return {HostTensor(TensorType{e.inputs[0].dtype(), attrs.sizes})};
  }
  if (attrs.mode == "nearest") return {resized_to_nearest(e.inputs[0], attrs, e.stop)};
  HostTensor x = converted(e.inputs[0], DType::f64);
  for (size_t axis = 0; axis < attrs.sizes.size(); ++axis)
    if (is_resized(attrs, x.shape(), axis))
      x = resized_axis(x, axis, attrs.sizes[axis], resize_taps(attrs, axis, x.shape()[axis]), e.stop);
  return {x};
}

}  // namespace korch
