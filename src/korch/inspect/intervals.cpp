#include "korch/inspect/intervals.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace korch {
namespace {

constexpr int64_t kReadElements = 1 << 16;  // of a constant: tables of numbers are no larger
constexpr Interval kTruth{0, 1};

Interval times(const Interval& a, const Interval& b) {
  Interval result{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (double x : {a.least, a.most})
    for (double y : {b.least, b.most}) {
      const double product = x == 0 || y == 0 ? 0 : x * y;
      result = {std::min(result.least, product), std::max(result.most, product)};
    }
  return result;
}

Interval over(const Interval& a, const Interval& b, bool is_whole) {
  if (b.least <= 0 && b.most >= 0) return {};
  const Interval quotient = times(a, {1 / b.most, 1 / b.least});
  return is_whole ? Interval{std::trunc(quotient.least), std::trunc(quotient.most)} : quotient;
}

// Of the sign of the divisor (Mod) or of the dividend.
Interval rest(const Interval& a, const Interval& b, bool of_divisor) {
  if (b.least <= 0 || !std::isfinite(b.most)) return {};
  if (a.least >= 0 && a.most < b.least) return a;
  return {of_divisor || a.least >= 0 ? 0 : 1 - b.most, b.most - 1};
}

Interval compared(Op op, const Interval& a, const Interval& b) {
  const auto known = [](bool is_true, bool is_false) {
    return is_true ? Interval{1, 1} : is_false ? Interval{0, 0} : kTruth;
  };
  if (op == Op::Less) return known(a.most < b.least, a.least >= b.most);
  if (op == Op::LessOrEqual) return known(a.most <= b.least, a.least > b.most);
  if (op == Op::Greater) return known(a.least > b.most, a.most <= b.least);
  if (op == Op::GreaterOrEqual) return known(a.least >= b.most, a.most < b.least);
  const bool is_one_number = a.least == a.most && b.least == b.most && a.least == b.least;
  if (op == Op::Equal) return known(is_one_number, a.most < b.least || b.most < a.least);
  return kTruth;
}

Interval of_logic(Op op, const std::vector<Interval>& operands) {
  const Interval& a = operands[0];
  if (op == Op::Not) return {1 - a.most, 1 - a.least};
  if (operands.size() < 2) return kTruth;
  const Interval& b = operands[1];
  if (op == Op::And) return {std::min(a.least, b.least), std::min(a.most, b.most)};
  if (op == Op::Or) return {std::max(a.least, b.least), std::max(a.most, b.most)};
  return compared(op, a, b);
}

Interval of_cast(const Interval& a, DType from, DType to) {
  if (!is_integer(to)) return a;
  const Interval whole = is_float(from) ? Interval{std::trunc(a.least), std::trunc(a.most)} : a;
  return interval_of(to).holds(whole) ? whole : interval_of(to);
}

Interval of_layout(const Node& node, const std::vector<Interval>& operands) {
  if (const auto* pad = std::get_if<PadAttrs>(&node.attrs); pad != nullptr && pad->mode == PadMode::constant)
    return hull(operands[0], {pad->value, pad->value});
  if (node.op != Op::Concat) return operands[0];
  Interval result = operands[0];
  for (const Interval& operand : operands) result = hull(result, operand);
  return result;
}

// Of operators of two numbers or fewer; nothing where it is another.
std::optional<Interval> of_arithmetic(Op op, const std::vector<Interval>& operands, bool is_whole) {
  const Interval& a = operands[0];
  if (op == Op::Neg) return Interval{-a.most, -a.least};
  if (op == Op::Relu) return Interval{std::max(0.0, a.least), std::max(0.0, a.most)};
  if (op == Op::Floor || op == Op::Ceil || op == Op::Round)
    return Interval{std::floor(a.least), std::ceil(a.most)};
  if (op == Op::Abs)
    return Interval{a.least <= 0 && a.most >= 0 ? 0 : std::min(std::fabs(a.least), std::fabs(a.most)),
                    std::max(std::fabs(a.least), std::fabs(a.most))};
  if (operands.size() < 2) return std::nullopt;
  const Interval& b = operands[1];
  if (op == Op::Add) return Interval{a.least + b.least, a.most + b.most};
  if (op == Op::Sub) return Interval{a.least - b.most, a.most - b.least};
  if (op == Op::Mul) return times(a, b);
  if (op == Op::Div) return over(a, b, is_whole);
  if (op == Op::Min) return Interval{std::min(a.least, b.least), std::min(a.most, b.most)};
  if (op == Op::Max) return Interval{std::max(a.least, b.least), std::max(a.most, b.most)};
  if (op == Op::Mod || op == Op::Fmod) return is_whole ? rest(a, b, op == Op::Mod) : Interval{};
  return std::nullopt;
}

// Sums of any of the terms, places in an axis, tensors that are written into.
std::optional<Interval> of_reduction(const Graph& graph, const Node& node,
                                     const std::vector<Interval>& operands) {
  const Shape& shape = graph.value(node.inputs[0]).type.shape;
  const Interval& a = operands[0];
  if (node.op == Op::ReduceMax || node.op == Op::ReduceMin || node.op == Op::GatherND ||
      node.op == Op::WindowMax || node.op == Op::Tile)
    return a;
  if (node.op == Op::Trilu) return hull(a, {0, 0});
  if (node.op == Op::ScatterElements || node.op == Op::ScatterND) return hull(a, operands[2]);
  if (node.op == Op::Append) return hull(hull(a, operands[1]), {0, 0});
  if (node.op == Op::CumSum) {
    const auto terms = static_cast<double>(shape[std::get<ScanAttrs>(node.attrs).axis]);
    return times(hull(a, {0, 0}), {0, terms});
  }
  if (node.op == Op::ReduceSum) {
    const auto terms =
        static_cast<double>(element_count(shape)) /
        static_cast<double>(std::max<int64_t>(1, element_count(graph.value(node.outputs[0]).type.shape)));
    return times(a, {terms, terms});
  }
  if (node.op == Op::ArgMax || node.op == Op::ArgMin)
    return Interval{0, static_cast<double>(shape[std::get<ArgReduceAttrs>(node.attrs).axis]) - 1};
  return std::nullopt;
}

}  // namespace

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

Interval interval_of(DType type) {
  if (type == DType::bool_) return kTruth;
  if (!is_integer(type)) return {};
  const int bits = static_cast<int>(8 * size_bytes(type)) - (is_signed(type) ? 1 : 0);
  const double above = std::ldexp(1, bits);
  return {is_signed(type) ? -above : 0, above - 1};
}

Interval interval_of(const HostTensor& constant) {
  if (constant.elements() == 0 || constant.elements() > kReadElements || is_storage(constant.dtype()))
    return {};
  Interval result{element_as_double(constant, 0), element_as_double(constant, 0)};
  for (int64_t i = 0; i < constant.elements(); ++i) {
    const double x = element_as_double(constant, i);
    if (std::isnan(x)) return {};
    result = hull(result, {x, x});
  }
  return result;
}

Interval interval_of(const Graph& graph, const Node& node, const std::vector<Interval>& operands) {
  if (node.op == Op::Constant) return interval_of(std::get<ConstantAttrs>(node.attrs).value);
  if (operands.empty()) return {};
  const DType type = graph.value(node.outputs[0]).type.dtype;
  const Category category = info(node.op).category;
  if (category == Category::layout) return of_layout(node, operands);
  if (node.op == Op::Where)
    return operands[0].least == 1  ? operands[1]
           : operands[0].most == 0 ? operands[2]
                                   : hull(operands[1], operands[2]);
  if (type == DType::bool_) return category == Category::elementwise ? of_logic(node.op, operands) : kTruth;
  if (node.op == Op::Cast) return of_cast(operands[0], graph.value(node.inputs[0]).type.dtype, type);
  if (category == Category::elementwise)
    return of_arithmetic(node.op, operands, is_integer(type)).value_or(Interval{});
  return of_reduction(graph, node, operands).value_or(Interval{});
}

int index_operand(const Node& node) {
  const bool indexes = node.op == Op::Gather || node.op == Op::GatherElements || node.op == Op::GatherND ||
                       node.op == Op::ScatterElements || node.op == Op::ScatterND;
  return indexes ? 1 : -1;
}

Interval index_interval(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.inputs[0]).type.shape;
  const Shape& indices = graph.value(node.inputs[1]).type.shape;
  const auto* axis = std::get_if<AxisAttrs>(&node.attrs);
  size_t first = axis != nullptr ? static_cast<size_t>(axis->axis) : 0, count = 1;
  if (node.op == Op::GatherND || node.op == Op::ScatterND) count = static_cast<size_t>(indices.back());
  int64_t shortest = std::numeric_limits<int64_t>::max();
  for (size_t i = first; i < std::min(first + count, shape.size()); ++i)
    shortest = std::min(shortest, shape[i]);
  return {-static_cast<double>(shortest), static_cast<double>(shortest) - 1};
}

}  // namespace korch
