// Factors: into constants, and past a matmul.
#include <cmath>
#include <optional>

#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

constexpr int kMaxSpread = 8;  // primitives between a factor and the constant that takes it

// value x factor, for a factor of one element, where a constant behind the Value can take it and nobody else
// needs what stands between.
std::optional<ValueId> scaled(Rewriter& r, ValueId value, ValueId factor, int depth = 0) {
  if (r.is_constant(value)) return r.emit(Op::Mul, {value, factor});
  if (depth > kMaxSpread || r.graph().is_input(value) || !r.has_one_reader(value)) return std::nullopt;
  const Node node = r.node(r.graph().value(value).producers[0]);
  const auto with = [&](size_t operand) -> std::optional<ValueId> {
    const std::optional<ValueId> moved = scaled(r, node.inputs[operand], factor, depth + 1);
    if (!moved) return std::nullopt;
    std::vector<ValueId> inputs = node.inputs;
    inputs[operand] = *moved;
    r.covers({node});
    return r.emit(node.op, node.attrs, inputs);
  };
  if (node.op == Op::Reshape || node.op == Op::Transpose || node.op == Op::Slice || node.op == Op::Expand ||
      node.op == Op::Div)
    return with(0);
  if (node.op == Op::MatMul || node.op == Op::Conv || node.op == Op::Mul) {
    if (const std::optional<ValueId> second = with(1)) return second;
    return with(0);
  }
  if (node.op == Op::Add || node.op == Op::Sub) {
    const std::optional<ValueId> a = scaled(r, node.inputs[0], factor, depth + 1);
    const std::optional<ValueId> b = a ? scaled(r, node.inputs[1], factor, depth + 1) : std::nullopt;
    if (!b) return std::nullopt;
    r.covers({node});
    return r.emit(node.op, {*a, *b});
  }
  return std::nullopt;
}

// One constant that lets no product overflow or vanish, wherever it is applied.
bool is_harmless_factor(const Rewriter& r, ValueId value) {
  constexpr double kLargest = 1 << 20;
  const HostTensor* constant = r.graph().constant(value);
  if (constant == nullptr || constant->elements() != 1) return false;
  const double size = std::fabs(element_as_double(*constant, 0));
  return size <= kLargest && size >= 1 / kLargest;
}

// Extent 1 along the last axis but `from_end`, or no such axis.
bool is_one_along(const Shape& shape, size_t from_end) {
  return shape.size() < from_end || shape[shape.size() - from_end] == 1;
}

}  // namespace

void factor_into_constant(Rewriter& r, NodeId id) {
  const Node node = r.node(id);
  if (!r.is_float32(node.outputs[0])) return;
  for (size_t operand : {1, 0}) {
    const ValueId factor = node.inputs[operand], value = node.inputs[1 - operand];
    if (!is_harmless_factor(r, factor) || (node.op == Op::Div && operand == 0)) continue;
    if (r.shape(value) != r.shape(node.outputs[0])) continue;
    const ValueId single = r.reshape(factor, {});
    const ValueId product = node.op == Op::Div ? r.emit(Op::Reciprocal, {single}) : single;
    if (const std::optional<ValueId> moved = scaled(r, value, product)) r.equate(node.outputs[0], *moved);
    return;
  }
}

void factor_after_matmul(Rewriter& r, NodeId id) {
  const Node matmul = r.node(id);
  const auto& attrs = std::get<MatMulAttrs>(matmul.attrs);
  if (!r.is_float32(matmul.outputs[0])) return;
  const int64_t rank = r.rank(matmul.outputs[0]);
  for (size_t operand : {0, 1}) {
    // Counted from the end: the axis that is summed, of either operand.
    const size_t summed = operand == 0 ? (attrs.transpose_a ? 2 : 1) : (attrs.transpose_b ? 1 : 2);
    for (Op op : {Op::Mul, Op::Div}) {
      const std::optional<Node> scaling = r.producer(matmul.inputs[operand], op);
      if (!scaling || 2 * r.elements(matmul.outputs[0]) > r.elements(matmul.inputs[operand])) continue;
      for (size_t side : {1, 0}) {
        if (side == 0 && op == Op::Div) continue;
        ValueId factor = scaling->inputs[side];
        const ValueId rest = scaling->inputs[1 - side];
        if (r.is_constant(factor) || r.rank(factor) != rank || r.rank(rest) != rank) continue;
        if (!is_one_along(r.shape(factor), summed) || r.shape(rest) != r.shape(matmul.inputs[operand]))
          continue;
        if ((operand == 0 && attrs.transpose_a) || (operand == 1 && attrs.transpose_b)) {
          Shape turned = r.shape(factor);
          std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
          factor = r.reshape(factor, turned);
        }
        std::vector<ValueId> inputs = matmul.inputs;
        inputs[operand] = rest;
        const ValueId product = r.emit(Op::MatMul, attrs, inputs);
        r.covers({*scaling});
        r.equate(matmul.outputs[0], r.emit(op, {product, factor}));
        return;
      }
    }
  }
}

}  // namespace korch::rules
