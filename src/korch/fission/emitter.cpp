#include "korch/fission/emitter.h"

#include <fmt/format.h>

#include <numeric>

namespace korch {

ValueId Emitter::emit(Op op, Attrs attrs, std::vector<ValueId> inputs) {
  return graph_.add(op, std::move(attrs), std::move(inputs), source_.origins, next_name());
}

ValueId Emitter::constant(HostTensor value) {
  return graph_.add_constant(std::move(value), next_name(), source_.origins);
}

ValueId Emitter::scalar_like(ValueId x, double value) {
  return constant_like(x, {}, {value});
}

ValueId Emitter::constant_like(ValueId x, Shape shape, const std::vector<double>& values) {
  return constant(converted(HostTensor::of<double>(DType::f64, std::move(shape), values), dtype(x)));
}

ValueId Emitter::int_constant(Shape shape, const std::vector<int64_t>& values) {
  return constant(HostTensor::of<int64_t>(DType::i64, std::move(shape), values));
}

ValueId Emitter::scaled(ValueId x, double factor) {
  return factor == 1 ? x : mul(x, scalar_like(x, factor));
}

ValueId Emitter::shifted(ValueId x, double term) {
  return term == 0 ? x : add(x, scalar_like(x, term));
}

ValueId Emitter::divided_by_count(ValueId x, int64_t count) {
  if (count == 1) return x;
  const bool exact_reciprocal = count > 0 && (count & (count - 1)) == 0 && is_float(dtype(x));
  if (exact_reciprocal) return scaled(x, 1.0 / static_cast<double>(count));
  return div(x, scalar_like(x, static_cast<double>(count)));
}

ValueId Emitter::reduce(Op op, ValueId x, std::vector<int64_t> axes, bool keepdims) {
  return emit(op, ReduceAttrs{std::move(axes), keepdims}, {x});
}

ValueId Emitter::mean(ValueId x, const std::vector<int64_t>& axes) {
  const int64_t count = extent_along(shape(x), axes);
  return divided_by_count(reduce(Op::ReduceSum, x, axes), count);
}

ValueId Emitter::reshape(ValueId x, Shape to) {
  if (shape(x) == to) return x;
  return emit(Op::Reshape, ShapeAttrs{std::move(to)}, {x});
}

ValueId Emitter::transpose(ValueId x, std::vector<int64_t> perm) {
  if (perm == axis_range(0, static_cast<int64_t>(perm.size()))) return x;
  return emit(Op::Transpose, PermAttrs{std::move(perm)}, {x});
}

ValueId Emitter::expand(ValueId x, Shape to) {
  if (shape(x) == to) return x;
  return emit(Op::Expand, ShapeAttrs{std::move(to)}, {x});
}

ValueId Emitter::along_axis(ValueId vector, int64_t axis, int64_t rank) {
  Shape to(static_cast<size_t>(rank - axis), 1);
  to[0] = element_count(shape(vector));
  return reshape(vector, to);
}

void Emitter::refuse(const std::string& what, const std::vector<ValueId>& inputs) const {
  const std::string node = source_.origins.empty() ? "?" : source_.origins.front();
  std::string types;
  for (ValueId input : inputs) types += fmt::format(" {}", to_string(type(input)));
  throw Error(ErrorKind::unsupported,
              fmt::format("{} node '{}' with inputs{}: {}", name(source_.op), node, types, what));
}

int64_t extent_along(const Shape& shape, const std::vector<int64_t>& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= shape[static_cast<size_t>(axis)];
  return count;
}

std::vector<int64_t> axis_range(int64_t begin, int64_t end) {
  std::vector<int64_t> axes(static_cast<size_t>(end - begin));
  std::iota(axes.begin(), axes.end(), begin);
  return axes;
}

}  // namespace korch
