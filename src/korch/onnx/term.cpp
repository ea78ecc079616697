#include "korch/onnx/term.h"

#include "korch/onnx/bounded.h"
#include "korch/onnx/rules.h"

namespace korch::onnx {

Term apply(Op op, const std::vector<Term>& operands, Attrs attrs) {
  NodeImport& n = operands[0].node();
  return {n, n.emit(op, std::move(attrs), {operands.begin(), operands.end()})};
}

Term number_like(const Term& like, double number) {
  return {like.node(), like.dtype(), number};
}

Term integer(NodeImport& n, int64_t value) {
  return {n, n.integer(value)};
}

Term length(const Term& x, int64_t axis) {
  return {x.node(), x.node().length(x, axis)};
}

Term operator+(const Term& a, const Term& b) {
  return apply(Op::Add, {a, b});
}
Term operator-(const Term& a, const Term& b) {
  return apply(Op::Sub, {a, b});
}
Term operator*(const Term& a, const Term& b) {
  return apply(Op::Mul, {a, b});
}
Term operator/(const Term& a, const Term& b) {
  return apply(Op::Div, {a, b});
}
Term operator+(const Term& a, double b) {
  return a + number_like(a, b);
}
Term operator-(const Term& a, double b) {
  return a - number_like(a, b);
}
Term operator-(double a, const Term& b) {
  return number_like(b, a) - b;
}
Term operator*(const Term& a, double b) {
  return a * number_like(a, b);
}
Term operator/(const Term& a, double b) {
  return a / number_like(a, b);
}
Term operator-(const Term& a) {
  return apply(Op::Neg, {a});
}

Term operator<(const Term& a, const Term& b) {
  return apply(Op::Less, {a, b});
}
Term operator<=(const Term& a, const Term& b) {
  return apply(Op::LessOrEqual, {a, b});
}
Term operator==(const Term& a, const Term& b) {
  return apply(Op::Equal, {a, b});
}
Term operator<(const Term& a, double b) {
  return a < number_like(a, b);
}
Term operator<=(double a, const Term& b) {
  return number_like(b, a) <= b;
}
Term operator==(const Term& a, double b) {
  return a == number_like(a, b);
}
Term operator&&(const Term& a, const Term& b) {
  return apply(Op::And, {a, b});
}
Term operator||(const Term& a, const Term& b) {
  return apply(Op::Or, {a, b});
}
Term operator!(const Term& a) {
  return apply(Op::Not, {a});
}
Term select(const Term& condition, const Term& yes, const Term& no) {
  return apply(Op::Where, {condition, yes, no});
}
Term select(const Term& condition, const Term& yes, double no) {
  return select(condition, yes, number_like(yes, no));
}
Term select(const Term& condition, double yes, const Term& no) {
  return select(condition, number_like(no, yes), no);
}

Term exp(const Term& x) {
  return apply(Op::Exp, {x});
}
Term sqrt(const Term& x) {
  return apply(Op::Sqrt, {x});
}
Term tanh(const Term& x) {
  return apply(Op::Tanh, {x});
}
Term sigmoid(const Term& x) {
  return apply(Op::Sigmoid, {x});
}
Term abs(const Term& x) {
  return apply(Op::Abs, {x});
}
Term floor(const Term& x) {
  return apply(Op::Floor, {x});
}
Term max(const Term& a, const Term& b) {
  return apply(Op::Max, {a, b});
}
Term min(const Term& a, const Term& b) {
  return apply(Op::Min, {a, b});
}
Term clamp(const Term& x, double low, double high) {
  return min(max(x, number_like(x, low)), number_like(x, high));
}
Term softmax(const Term& x, int64_t axis) {
  return apply(Op::Softmax, {x}, AxisAttrs{axis});
}

Term cast(const Term& x, DType dtype) {
  return {x.node(), x.node().cast(x.operand(), dtype)};
}
Term widened(const Term& x) {
  return is_small_float(x.dtype()) ? cast(x, DType::f32) : x;
}
Term reshape(const Term& x, const Shape& shape) {
  return {x.node(), x.node().reshape(x.operand(), shape)};
}
Term expand(const Term& x, const Shape& shape) {
  return x.shape() == shape ? x : apply(Op::Expand, {x}, ShapeAttrs{shape});
}
Term transpose(const Term& x, const std::vector<int64_t>& perm) {
  return apply(Op::Transpose, {x}, PermAttrs{perm});
}

Term slice(const Term& x, int64_t axis, int64_t start, int64_t count, int64_t step) {
  SliceAttrs attrs{Shape(x.shape().size(), 0), x.shape(), Shape(x.shape().size(), 1)};
  attrs.starts[axis] = start;
  attrs.sizes[axis] = count;
  attrs.steps[axis] = step;
  return {x.node(), sliced(x.node(), x.operand(), attrs)};
}

Term concat(const std::vector<Term>& parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : apply(Op::Concat, parts, AxisAttrs{axis});
}

Term pad(const Term& x, int64_t axis, int64_t before, int64_t after, double value) {
  if (before == 0 && after == 0) return x;
  PadAttrs attrs{Shape(x.shape().size(), 0), Shape(x.shape().size(), 0), PadMode::constant, value};
  attrs.before[axis] = before;
  attrs.after[axis] = after;
  return apply(Op::Pad, {x}, attrs);
}

Term insert_axis(const Term& x, int64_t axis) {
  Shape shape = x.shape();
  shape.insert(shape.begin() + axis, 1);
  return reshape(x, shape);
}

Term matmul(const Term& a, const Term& b) {
  return apply(Op::MatMul, {a, b}, MatMulAttrs{});
}

Term reduce(Op op, const Term& x, const std::vector<int64_t>& axes, bool keepdims) {
  return apply(op, {x}, ReduceAttrs{axes, keepdims});
}

Term gather_elements(const Term& data, const Term& indices, int64_t axis) {
  return apply(Op::GatherElements, {data, indices}, AxisAttrs{axis});
}

Term positions(NodeImport& n, DType dtype, int64_t count, int64_t axis, int64_t rank) {
  return {n, n.positions(dtype, count, axis, rank)};
}

Term positions_along(const Term& x, int64_t of, int64_t at, int64_t rank) {
  NodeImport& n = x.node();
  Results extents(static_cast<size_t>(rank));
  extents[static_cast<size_t>(at)] = extent_of(x, of);
  return {n, n.bounded(positions(n, DType::i64, x.extent(of), at, rank), extents)};
}

Term expand_like(const Term& x, const Term& like) {
  return {x.node(), x.node().bounded(expand(at_bounds(x), like.shape()), extents_of(like))};
}

Term last_of(const Term& x, int64_t axis, int64_t count) {
  if (extent_of(x, axis) == nullptr) return slice(x, axis, x.extent(axis) - count, count);
  const Term first = length(x, axis) - static_cast<double>(count);
  return apply(Op::Gather, {x, first + positions(x.node(), DType::i64, count, 0, 1)}, AxisAttrs{axis});
}

Term flipped(const Term& x, int64_t axis) {
  NodeImport& n = x.node();
  if (extent_of(x, axis) == nullptr)
    return slice(x, axis, std::max<int64_t>(x.extent(axis) - 1, 0), x.extent(axis), -1);
  const Term from = length(x, axis) - 1.0 - positions(n, DType::i64, x.extent(axis), 0, 1);
  const Term flipped = apply(Op::Gather, {at_bounds(x), max(from, integer(n, 0))}, AxisAttrs{axis});
  return {n, n.bounded(flipped, extents_of(x))};
}

Term constant(NodeImport& n, DType dtype, const Shape& shape, const std::vector<double>& values) {
  return {n, n.constant(converted(HostTensor::of<double>(DType::f64, shape, values), dtype))};
}

Term at_bounds(const Term& x) {
  return is_bounded(x.operand()) ? Term(x.node(), x.node().bounded(x, {})) : x;
}

std::optional<Term> within(const Term& x) {
  std::optional<Term> result;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const Operand extent = extent_of(x, axis);
    if (extent == nullptr) continue;
    const Term inside =
        positions(x.node(), DType::i64, x.extent(axis), axis, x.rank()) < Term(x.node(), extent);
    result = result ? *result && inside : inside;
  }
  return result ? std::optional(expand(*result, x.shape())) : std::nullopt;
}

}  // namespace korch::onnx
