// Constants, and operators whose result depends on shapes and constants alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "korch/onnx/rules.h"

namespace korch::onnx {
namespace {

using Results = std::vector<Operand>;

HostTensor float_tensor(const Shape& shape, const std::vector<double>& values) {
  return converted(HostTensor::of<double>(DType::f64, shape, values), DType::f32);
}

// Results that cannot be left to the executable as an Expand.
void require_moderate(const NodeImport& n, const TensorType& type) {
  require_fits_memory(type);
  if (type.bytes() > n.max_constant_bytes())
    throw Error(ErrorKind::resource,
                fmt::format("the constant {} would have {} bytes, more than the {} korch computes while "
                            "it imports: store it in the model",
                            to_string(type), type.bytes(), n.max_constant_bytes()));
}

Results constant(NodeImport& n) {
  if (n.has("value")) return {n.constant(n.tensor_attr("value"))};
  if (n.has("value_float")) return {n.constant(float_tensor({}, {n.float_attr("value_float", 0)}))};
  if (n.has("value_int"))
    return {n.constant(HostTensor::of<int64_t>(DType::i64, {}, {n.int_attr("value_int")}))};
  if (n.has("value_ints")) return {n.ints(n.ints_attr("value_ints", {}))};
  if (n.has("value_floats")) {
    const std::vector<double> values = n.floats_attr("value_floats");
    return {n.constant(float_tensor({static_cast<int64_t>(values.size())}, values))};
  }
  n.unsupported("a string or sparse constant");
}

Results constant_of_shape(NodeImport& n) {
  const Shape shape = n.ints_input(0, "extents");
  n.bounded("extent", shape, 0, kMaxOffset);
  HostTensor value = n.has("value") ? n.tensor_attr("value") : HostTensor(TensorType{DType::f32, {}});
  if (value.elements() != 1) n.invalid("attribute value must have one element");
  const Operand scalar = n.constant(value.reshaped({}));
  return {shape.empty() ? scalar : n.emit(Op::Expand, ShapeAttrs{shape}, {scalar})};
}

Results shape(NodeImport& n) {
  const Shape& in = n.input(0)->shape();
  const auto rank = static_cast<int64_t>(in.size());
  const auto position = [&](int64_t value) {
    return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  const int64_t start = position(n.int_attr("start", 0));
  const int64_t end = std::max(start, position(n.int_attr("end", rank)));
  return {n.ints(Shape(in.begin() + start, in.begin() + end))};
}

Results size(NodeImport& n) {
  return {n.constant(HostTensor::of<int64_t>(DType::i64, {}, {n.input(0)->type.elements()}))};
}

// Elements of start + i * delta before limit: max(0, ceil((limit - start) / delta)). Differences of int64 fit
// uint64.
uint64_t range_count(int64_t start, int64_t limit, int64_t delta) {
  const auto from = static_cast<uint64_t>(start), to = static_cast<uint64_t>(limit),
             step = static_cast<uint64_t>(delta);
  if (delta > 0) return limit <= start ? 0 : (to - from - 1) / step + 1;
  return limit >= start ? 0 : (from - to - 1) / (0 - step) + 1;
}

HostTensor integer_range(NodeImport& n, const HostTensor& start, const HostTensor& limit,
                         const HostTensor& delta) {
  const int64_t first = element_as_int(start, 0), step = element_as_int(delta, 0);
  if (step == 0) n.invalid("delta must not be zero");
  const uint64_t count = range_count(first, element_as_int(limit, 0), step);
  if (count > static_cast<uint64_t>(kMaxOffset))
    throw Error(ErrorKind::resource, "the range is larger than any memory");
  const TensorType type{DType::i64, {static_cast<int64_t>(count)}};
  require_moderate(n, type);
  HostTensor values(type);
  uint64_t value = static_cast<uint64_t>(first);  // the step after the last may leave int64
  for (uint64_t i = 0; i < count; ++i, value += static_cast<uint64_t>(step))
    values.mutable_data<int64_t>()[i] = static_cast<int64_t>(value);
  return values;
}

HostTensor float_range(NodeImport& n, const HostTensor& start, const HostTensor& limit,
                       const HostTensor& delta) {
  const double first = element_as_double(start, 0), step = element_as_double(delta, 0);
  const double count = std::ceil((element_as_double(limit, 0) - first) / step);
  if (step == 0 || std::isnan(count)) n.invalid("delta must not be zero, nor any bound NaN");
  if (count > static_cast<double>(kMaxOffset))
    throw Error(ErrorKind::resource, "the range is larger than any memory");
  const TensorType type{DType::f64, {static_cast<int64_t>(std::max(count, 0.0))}};
  require_moderate(n, type);
  HostTensor values(type);
  for (int64_t i = 0; i < values.elements(); ++i)
    values.mutable_data<double>()[i] = first + static_cast<double>(i) * step;
  return values;
}

Results range(NodeImport& n) {
  const char* const what = "bounds";
  const HostTensor& start = n.constant_input(0, what);
  const HostTensor& limit = n.constant_input(1, what);
  const HostTensor& delta = n.constant_input(2, what);
  for (const HostTensor* bound : {&start, &limit, &delta}) {
    if (bound->elements() != 1 || bound->dtype() != start.dtype())
      n.invalid("start, limit and delta must be scalars of one type");
  }
  if (start.dtype() == DType::bool_ || start.dtype() == DType::u64)
    n.invalid(fmt::format("bounds of type {}", name(start.dtype())));
  const HostTensor values =
      is_float(start.dtype()) ? float_range(n, start, limit, delta) : integer_range(n, start, limit, delta);
  return {n.constant(converted(values, start.dtype()))};
}

Results eye_like(NodeImport& n) {
  const Operand& x = n.input(0);
  if (x->rank() != 2) n.invalid("the input must have rank 2");
  const DType dtype = n.dtype_attr("dtype", x->dtype());
  const int64_t k = n.int_attr("k", 0);
  n.bounded("k", {k}, -kMaxOffset, kMaxOffset);
  require_moderate(n, {dtype, x->shape()});
  HostTensor eye(TensorType{DType::bool_, x->shape()});
  for (int64_t row = 0; row < x->shape()[0]; ++row) {
    if (row + k >= 0 && row + k < x->shape()[1])
      eye.mutable_data<uint8_t>()[row * x->shape()[1] + row + k] = 1;
  }
  return {n.constant(converted(eye, dtype))};
}

// Indices of the nonzero elements, [rank, count]; its shape depends on the data, so the data must be
// constant.
Results non_zero(NodeImport& n) {
  if (!n.input(0)->constant)
    n.unsupported(
        "the shape of its result depends on the data: only shapes known before a run are supported");
  const HostTensor& x = *n.input(0)->constant;
  const Shape strides = row_major_strides(x.shape());
  std::vector<int64_t> found;
  for (int64_t i = 0; i < x.elements(); ++i) {
    if (element_as_double(x, i) != 0) found.push_back(i);
  }
  std::vector<int64_t> indices;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    for (int64_t i : found) indices.push_back(i / strides[axis] % x.shape()[axis]);
  }
  const Shape shape = {static_cast<int64_t>(strides.size()), static_cast<int64_t>(found.size())};
  return {n.constant(HostTensor::of<int64_t>(DType::i64, shape, indices))};
}

}  // namespace

const std::vector<RuleRow>& shape_rules() {
  static const std::vector<RuleRow> rows = {
      {"Constant", constant},   {"ConstantOfShape", constant_of_shape, 9},
      {"Shape", shape},         {"Size", size},
      {"Range", range, 11},     {"EyeLike", eye_like, 9},
      {"NonZero", non_zero, 9},
  };
  return rows;
}

}  // namespace korch::onnx
