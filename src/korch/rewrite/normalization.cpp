// Reductions: mean and variance, sums.
#include <optional>

#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

constexpr double kFirstCache_bytes = 32 << 10;  // of every target

// The number by which sums become means: x Mul 1/n, or x Div n.
bool is_mean_of(const Rewriter& r, const Node& node, double count) {
  for (size_t side : {1, 0}) {
    if (node.op == Op::Div && side == 0) continue;
    const HostTensor* constant = r.graph().constant(node.inputs[side]);
    if (constant == nullptr || constant->elements() != 1) continue;
    const double value = element_as_double(*constant, 0);
    return node.op == Op::Div ? value == count : value * count == 1;
  }
  return false;
}

}  // namespace

// sum (x - m)^2 = sum x^2 - m sum x, where m = (sum x) / n.
void squares_in_one_pass(Rewriter& r, NodeId id) {
  const Node sum = r.node(id);
  const auto& axes = std::get<ReduceAttrs>(sum.attrs).axes;
  const std::optional<Node> square = r.producer(sum.inputs[0], Op::Mul);
  if (!square || square->inputs[0] != square->inputs[1] || !r.is_float32(sum.outputs[0])) return;
  const std::optional<Node> centred = r.producer(square->inputs[0], Op::Sub);
  if (!centred) return;
  const ValueId x = centred->inputs[0];
  double count = 1;
  for (int64_t axis : axes) count *= static_cast<double>(r.shape(x)[static_cast<size_t>(axis)]);
  if (count * sizeof(float) <= kFirstCache_bytes) return;
  for (Op op : {Op::Mul, Op::Div}) {
    const std::optional<Node> mean = r.producer(centred->inputs[1], op);
    if (!mean || !is_mean_of(r, *mean, count)) continue;
    for (ValueId total : mean->inputs) {
      const std::optional<Node> first = r.producer(total, Op::ReduceSum);
      if (!first || first->inputs[0] != x || std::get<ReduceAttrs>(first->attrs).axes != axes ||
          !std::get<ReduceAttrs>(first->attrs).keepdims)
        continue;
      const ValueId squares = r.emit(Op::ReduceSum, ReduceAttrs{axes, true}, {r.emit(Op::Mul, {x, x})});
      const ValueId rest = r.emit(Op::Sub, {squares, r.emit(Op::Mul, {total, centred->inputs[1]})});
      r.equate(sum.outputs[0], r.reshape(rest, r.shape(sum.outputs[0])));
      return;
    }
  }
}

// The sum of a matmul's operand is one more column of that matmul: [x B | sum x] = x [B | 1].
void sum_as_matmul(Rewriter& r, NodeId id) {
  const Node sum = r.node(id);
  const ReduceAttrs& attrs = std::get<ReduceAttrs>(sum.attrs);
  const ValueId x = sum.inputs[0];
  const int64_t rank = r.rank(x);
  if (!attrs.keepdims || attrs.axes != std::vector<int64_t>{rank - 1} || !r.is_float32(x)) return;
  for (NodeId user : r.users(x)) {
    const Node matmul = r.node(user);
    if (matmul.op != Op::MatMul || matmul.inputs[0] != x || matmul.inputs[1] == x || r.rank(matmul.inputs[1]) != rank ||
        r.is_constant(matmul.inputs[1]))
      continue;
    const auto& flags = std::get<MatMulAttrs>(matmul.attrs);
    if (r.shape(matmul.outputs[0]).back() % kVector == 0) continue;
    if (flags.transpose_a || r.producer(matmul.inputs[1], Op::Pad)) continue;
    const size_t column = static_cast<size_t>(flags.transpose_b ? rank - 2 : rank - 1);
    PadAttrs pad{Shape(static_cast<size_t>(rank), 0), Shape(static_cast<size_t>(rank), 0), PadMode::constant, 1};
    pad.after[column] = 1;
    const ValueId both = r.emit(Op::MatMul, flags, {x, r.emit(Op::Pad, pad, {matmul.inputs[1]})});
    const int64_t columns = r.shape(matmul.outputs[0]).back();
    r.equate(matmul.outputs[0], r.slice(both, rank - 1, 0, columns));
    r.equate(sum.outputs[0], r.slice(both, rank - 1, columns, 1));
    return;
  }
}

}  // namespace korch::rules
