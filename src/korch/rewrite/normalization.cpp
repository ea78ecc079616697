// Reductions: mean and variance, sums.
#include <optional>

#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

// The number by which sums become means: x Mul 1/n, or x Div n.
bool divides_by(const Rewriter& r, const Node& node, double count) {
  for (size_t side : {1, 0}) {
    if (node.op == Op::Div && side == 0) continue;
    const HostTensor* constant = r.graph().constant(node.inputs[side]);
    if (constant == nullptr || constant->elements() != 1) continue;
    const double value = element_as_double(*constant, 0);
    return node.op == Op::Div ? value == count : value * count == 1;
  }
  return false;
}

// (sum of x along the axes) / n, extents kept as 1.
bool is_mean(const Rewriter& r, ValueId value, ValueId x, const std::vector<int64_t>& axes, double count) {
  for (Op op : {Op::Mul, Op::Div}) {
    const std::optional<Node> mean = r.producer(value, op);
    if (!mean || !divides_by(r, *mean, count)) continue;
    for (ValueId total : mean->inputs) {
      const std::optional<Node> sum = r.producer(total, Op::ReduceSum);
      if (sum && sum->inputs[0] == x && std::get<ReduceAttrs>(sum->attrs).axes == axes &&
          std::get<ReduceAttrs>(sum->attrs).keepdims)
        return true;
    }
  }
  return false;
}

}  // namespace

// With d = x - x_0, x_0 the first of what is summed: sum (x - m)^2 = sum d^2 - (sum d)^2 / n and m = x_0 +
// (sum d) / n. Without x_0 the difference would cancel where the mean is large, down to a negative variance.
// With it, the variance is (x_0 - m)^2 / n or more, so that its relative error stays below a few n roundings
// whatever x is; usually x_0 is a few deviations from m, and it is a few roundings.
void squares_in_one_pass(Rewriter& r, NodeId id) {
  const Node sum = r.node(id);
  const auto& axes = std::get<ReduceAttrs>(sum.attrs).axes;
  const std::optional<Node> square = r.producer(sum.inputs[0], Op::Mul);
  if (!square || square->inputs[0] != square->inputs[1] || !r.is_float32(sum.outputs[0])) return;
  const std::optional<Node> centred = r.producer(square->inputs[0], Op::Sub);
  if (!centred) return;
  const ValueId x = centred->inputs[0], mean = centred->inputs[1];
  if (r.shape(x) != r.shape(centred->outputs[0])) return;
  SliceAttrs first{Shape(r.shape(x).size(), 0), r.shape(x), Shape(r.shape(x).size(), 1)};
  double count = 1;
  for (int64_t axis : axes) {
    count *= static_cast<double>(r.shape(x)[static_cast<size_t>(axis)]);
    first.sizes[static_cast<size_t>(axis)] = 1;
  }
  if (count * sizeof(float) <= kSecondCache_bytes || !is_mean(r, mean, x, axes, count)) return;
  const ReduceAttrs along{axes, true};
  const ValueId x0 = r.emit(Op::Slice, first, {x}), n = r.scalar(count);
  const ValueId d = r.emit(Op::Sub, {x, x0});
  const ValueId total = r.emit(Op::ReduceSum, along, {d});
  const ValueId squares = r.emit(Op::ReduceSum, along, {r.emit(Op::Mul, {d, d})});
  const ValueId rest = r.emit(Op::Div, {r.emit(Op::Mul, {total, total}), n});
  r.equate(sum.outputs[0], r.reshape(r.emit(Op::Sub, {squares, rest}), r.shape(sum.outputs[0])));
  r.equate(mean, r.emit(Op::Add, {x0, r.emit(Op::Div, {total, n})}));
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
    if (matmul.op != Op::MatMul || matmul.inputs[0] != x || matmul.inputs[1] == x ||
        r.rank(matmul.inputs[1]) != rank || r.is_constant(matmul.inputs[1]))
      continue;
    const auto& flags = std::get<MatMulAttrs>(matmul.attrs);
    Shape one_column = r.shape(matmul.outputs[0]);
    one_column.back() = 1;
    if (one_column != r.shape(sum.outputs[0])) continue;  // more matrices than x has
    if (r.shape(matmul.outputs[0]).back() % kVector == 0) continue;
    if (flags.transpose_a || r.producer(matmul.inputs[1], Op::Pad)) continue;
    const size_t column = static_cast<size_t>(flags.transpose_b ? rank - 2 : rank - 1);
    PadAttrs pad{Shape(static_cast<size_t>(rank), 0), Shape(static_cast<size_t>(rank), 0), PadMode::constant,
                 1};
    pad.after[column] = 1;
    const ValueId both = r.emit(Op::MatMul, flags, {x, r.emit(Op::Pad, pad, {matmul.inputs[1]})});
    const int64_t columns = r.shape(matmul.outputs[0]).back();
    r.equate(matmul.outputs[0], r.slice(both, rank - 1, 0, columns));
    r.equate(sum.outputs[0], r.slice(both, rank - 1, columns, 1));
    return;
  }
}

}  // namespace korch::rules
