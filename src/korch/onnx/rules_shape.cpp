// Constants, and operators whose result depends on shapes and constants alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "korch/onnx/bounded.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

HostTensor float_tensor(const Shape& shape, const std::vector<double>& values) {
  return converted(HostTensor::of<double>(DType::f64, shape, values), DType::f32);
}

Results constant(NodeImport& n) {
  if (n.has("value")) return {n.constant(n.tensor_attr("value"))};
  if (n.has("value_float")) return {n.constant(float_tensor({}, {n.element_attr("value_float", 0)}))};
  if (n.has("value_int")) return {n.integer(n.int_attr("value_int"))};
  if (n.has("value_ints")) return {n.ints(n.ints_attr("value_ints", {}))};
  if (n.has("value_floats")) {
    const std::vector<double> values = n.floats_attr("value_floats");
    return {n.constant(float_tensor({static_cast<int64_t>(values.size())}, values))};
  }
  n.unsupported("a string or sparse constant");
}

Results constant_of_shape(NodeImport& n) {
  Shape shape;
  std::vector<Operand> counted;
  for (const Extent& extent : n.extents_input(0, "extents")) {
    shape.push_back(extent.bound);
    counted.push_back(extent.counted);
  }
  n.bounded("extent", shape, 0, kMaxOffset);
  HostTensor value = n.has("value") ? n.tensor_attr("value") : HostTensor(TensorType{DType::f32, {}});
  if (value.elements() != 1) n.invalid("attribute value must have one element");
  const Operand scalar = n.constant(value.reshaped({}));
  return {shape.empty() ? scalar : n.bounded(n.emit(Op::Expand, ShapeAttrs{shape}, {scalar}), counted)};
}

// Of every axis, as i64 of rank 0.
Results extents_of(NodeImport& n, const Operand& x) {
  Results result;
  for (int64_t axis = 0; axis < x->rank(); ++axis) {
    const Operand counted = extent_of(x, axis);
    result.push_back(counted != nullptr ? counted
                                        : n.constant(HostTensor::of<int64_t>(
                                              DType::i64, {}, {x->shape()[static_cast<size_t>(axis)]})));
  }
  return result;
}

// A tensor of them.
Operand integers(NodeImport& n, const Results& elements) {
  if (elements.empty()) return n.ints({});
  Results parts;
  for (const Operand& element : elements) parts.push_back(n.reshape(element, {1}));
  const Operand result = n.emit(Op::Concat, AxisAttrs{0}, parts);
  if (!result->constant) result->elements = elements;
  return result;
}

Results shape(NodeImport& n) {
  const Shape& in = n.input(0)->shape();
  const auto rank = static_cast<int64_t>(in.size());
  const auto position = [&](int64_t value) {
    return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  const int64_t start = position(n.int_attr("start", 0));
  const int64_t end = std::max(start, position(n.int_attr("end", rank)));
  const Results extents = extents_of(n, n.input(0));
  return {integers(n, Results(extents.begin() + start, extents.begin() + end))};
}

Results size(NodeImport& n) {
  const Operand all = integers(n, extents_of(n, n.input(0)));
  return {n.emit(Op::ReduceProd, ReduceAttrs{{0}, false}, {all})};
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
  n.require_moderate(type);
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
  n.require_moderate(type);
  HostTensor values(type);
  for (int64_t i = 0; i < values.elements(); ++i)
    values.mutable_data<double>()[i] = first + static_cast<double>(i) * step;
  return values;
}

// Between two numbers that depend on the data.
Operand counting(NodeImport& n, const Term& start, const Term& limit, int64_t step) {
  if (step == 0) n.invalid("delta must not be zero");
  const Term &least = step > 0 ? start : limit, &most = step > 0 ? limit : start;
  const auto apart = n.difference(most, least);
  const double bound = apart ? static_cast<double>(*apart) : n.range(most).high - n.range(least).low;
  const double by = std::fabs(static_cast<double>(step));
  if (!(bound <= static_cast<double>(kMaxOffset)))
    n.unsupported("bounds that depend on the data, with no bound of how many numbers are between them" +
                  n.bound_advice(1));
  const auto count = static_cast<int64_t>(std::ceil(std::max(bound, 0.0) / by));
  const bool from_zero = start.operand()->constant && n.range(start).low == 0;
  const Term steps(n, n.positions(DType::i64, count, 0, 1));
  const Term numbers = from_zero && step == 1 ? steps : start + steps * static_cast<double>(step);
  const Operand result = n.cast(numbers.operand(), n.input(0)->dtype());
  if (apart) return result;
  if (from_zero && step == 1 && limit.operand()->upper) return n.bounded(result, {limit.operand()});
  const Term length = (most - least + (by - 1)) / by;
  const Operand counted = max(length, number_like(length, 0)).operand();
  counted->upper = count;
  return n.bounded(result, {counted});
}

Operand integer_counting(NodeImport& n, const char* what) {
  const Results starts = n.elements_input(0, what), limits = n.elements_input(1, what);
  if (starts.size() != 1 || limits.size() != 1)
    n.invalid("start, limit and delta must be scalars of one type");
  return counting(n, {n, starts[0]}, {n, limits[0]}, n.int_input(2, what));
}

// The integer that a float was made of, if floats hold it and all up to it; else null.
Operand integer_behind(NodeImport& n, const Operand& x) {
  const double most = x->dtype() == DType::f64 ? 0x1p53 : x->dtype() == DType::f32 ? 0x1p24 : 0x1p8;
  if (x->constant) {
    const double number = element_as_double(*x->constant, 0);
    return std::floor(number) == number && std::fabs(number) <= most ? n.integer(static_cast<int64_t>(number))
                                                                     : nullptr;
  }
  if (x->integer == nullptr || x->integer->constant) return x->integer;
  const Range range = n.range(x->integer);
  return range.low >= -most && range.high <= most ? x->integer : nullptr;
}

// As float_range, between numbers that depend on the data, such as an extent as a float.
Operand real_counting(NodeImport& n, const char* what) {
  const double step = n.scalar_input(2, what);
  for (size_t i = 0; i < 2; ++i)
    if (n.input(i)->type.elements() != 1 || n.input(i)->dtype() != n.input(2)->dtype() ||
        is_bounded(n.input(i)))
      n.invalid("start, limit and delta must be scalars of one type");
  if (step == 0 || !std::isfinite(step)) n.invalid("delta must not be zero, nor any bound NaN");
  const Operand first = integer_behind(n, n.input(0)), end = integer_behind(n, n.input(1));
  if (first != nullptr && end != nullptr && step == std::floor(step) && std::fabs(step) < kMaxOffset)
    return counting(n, {n, first}, {n, end}, static_cast<int64_t>(step));
  const Range from = n.range(n.input(0)), to = n.range(n.input(1));
  const double most = step > 0 ? (to.high - from.low) / step : (to.low - from.high) / step;
  if (!(most <= static_cast<double>(kMaxOffset)))
    n.unsupported("bounds that depend on the data, with no bound of how many numbers are between them" +
                  n.bound_advice(1));
  const auto bound = static_cast<int64_t>(std::max(std::ceil(most), 0.0));
  n.require_moderate({DType::f64, {bound}});
  const auto real = [&](size_t i) { return cast(reshape(Term(n, n.input(i)), {}), DType::f64); };
  const Term start = real(0), limit = real(1);
  const Term numbers = start + cast(Term(n, n.positions(DType::i64, bound, 0, 1)), DType::f64) * step;
  // Between 0 and the bound as a float already: what is no number is none.
  const Term count = clamp(apply(Op::Ceil, {(limit - start) / step}), 0, static_cast<double>(bound));
  const Operand counted = cast(select(count == count, count, 0), DType::i64);
  if (counted->constant)
    return n.cast(slice(numbers, 0, 0, element_as_int(*counted->constant, 0)), n.input(0)->dtype());
  counted->upper = bound;
  return n.bounded(n.cast(numbers, n.input(0)->dtype()), {counted});
}

Results range(NodeImport& n) {
  if (n.opset() >= 27) n.ignore("stash_type");  // ours is float64
  const char* const what = "bounds";
  const bool is_known = n.input(0)->constant && n.input(1)->constant;
  if (!is_known && is_integer(n.input(0)->dtype()) && is_integer(n.input(1)->dtype()))
    return {integer_counting(n, what)};
  if (!is_known && is_float(n.input(0)->dtype()) && n.input(2)->constant) return {real_counting(n, what)};
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
  n.require_moderate({dtype, x->shape()});
  HostTensor eye(TensorType{DType::bool_, x->shape()});
  for (int64_t row = 0; row < x->shape()[0]; ++row) {
    if (row + k >= 0 && row + k < x->shape()[1])
      eye.mutable_data<uint8_t>()[row * x->shape()[1] + row + k] = 1;
  }
  return {n.bounded(n.constant(converted(eye, dtype)), onnx::extents_of(x))};
}

}  // namespace

std::vector<RuleRow> shape_rules() {
  return {
      {"Constant", constant, 1, 25}, {"ConstantOfShape", constant_of_shape, 9, 25},
      {"Shape", shape, 1, 25},       {"Size", size, 1, 25},
      {"Range", range, 11, 27},      {"EyeLike", eye_like, 9, 22},
  };
}

}  // namespace korch::onnx
