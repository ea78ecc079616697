// Softmax between two products, as one primitive whose kernels never hold all scores.
#include <optional>
#include <vector>

#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

bool is_over_last_axis(const Rewriter& r, const Node& reduction) {
  const auto& attrs = std::get<ReduceAttrs>(reduction.attrs);
  return attrs.keepdims && attrs.axes == std::vector<int64_t>{r.rank(reduction.inputs[0]) - 1};
}

struct Quotient {
  ValueId dividend, divisor;
  Node node;
};

// Of a Value, its reciprocal multiplied included.
std::optional<Quotient> quotient(const Rewriter& r, ValueId value) {
  if (const std::optional<Node> div = r.producer(value, Op::Div))
    return Quotient{div->inputs[0], div->inputs[1], *div};
  const std::optional<Node> mul = r.producer(value, Op::Mul);
  for (size_t side : {1, 0}) {
    if (!mul) break;
    if (const std::optional<Node> inverse = r.producer(mul->inputs[side], Op::Reciprocal))
      return Quotient{mul->inputs[1 - side], inverse->inputs[0], *mul};
  }
  return std::nullopt;
}

struct Softmax {
  ValueId operand;
  std::vector<Node> nodes;
};

// Along the last axis, what makes the Value.
std::optional<Softmax> softmax(const Rewriter& r, ValueId value) {
  const std::optional<Quotient> parts = quotient(r, value);
  if (!parts) return std::nullopt;
  const std::optional<Node> sum = r.producer(parts->divisor, Op::ReduceSum);
  const std::optional<Node> exp = r.producer(parts->dividend, Op::Exp);
  if (!sum || !exp || sum->inputs[0] != parts->dividend || !is_over_last_axis(r, *sum)) return std::nullopt;
  const std::optional<Node> centred = r.producer(exp->inputs[0], Op::Sub);
  if (!centred) return std::nullopt;
  const std::optional<Node> largest = r.producer(centred->inputs[1], Op::ReduceMax);
  if (!largest || largest->inputs[0] != centred->inputs[0] || !is_over_last_axis(r, *largest))
    return std::nullopt;
  return Softmax{centred->inputs[0], {*largest, *centred, *exp, *sum, parts->node}};
}

ValueId turned(Rewriter& r, ValueId matrices) {
  std::vector<int64_t> perm(r.shape(matrices).size());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return r.transpose(matrices, perm);
}

// The queries and keys, one per row, whose products are `scores`. A factor goes to the queries.
struct Operands {
  ValueId queries, keys;
};
std::optional<Operands> product(Rewriter& r, ValueId scores) {
  if (const std::optional<Node> matmul = r.producer(scores, Op::MatMul)) {
    const auto& attrs = std::get<MatMulAttrs>(matmul->attrs);
    const ValueId q = matmul->inputs[0], k = matmul->inputs[1];
    r.covers({*matmul});
    return Operands{attrs.transpose_a ? turned(r, q) : q, attrs.transpose_b ? k : turned(r, k)};
  }
  for (Op op : {Op::Mul, Op::Div}) {
    const std::optional<Node> scaled = r.producer(scores, op);
    for (size_t side : {1, 0}) {
      if (!scaled || (op == Op::Div && side == 0)) continue;
      const ValueId factor = scaled->inputs[side], rest = scaled->inputs[1 - side];
      if (!r.is_constant(factor) || r.elements(factor) != 1 || r.shape(rest) != r.shape(scores)) continue;
      const std::optional<Operands> plain = product(r, rest);
      if (!plain) continue;
      r.covers({*scaled});
      return Operands{r.emit(op, {plain->queries, r.reshape(factor, {})}), plain->keys};
    }
  }
  return std::nullopt;
}

}  // namespace

// softmax(S) v = (exp(S - max) v) / sum: a block of rows needs no more of S than the kernel is at.
void online_attention(Rewriter& r, NodeId id) {
  const Node matmul = r.node(id);
  const auto& attrs = std::get<MatMulAttrs>(matmul.attrs);
  const std::optional<Softmax> weights = softmax(r, matmul.inputs[0]);
  if (!weights || attrs.transpose_a) return;
  const ValueId scores = weights->operand;
  if (!r.is_float32(scores)) return;
  if (static_cast<double>(r.elements(scores)) * sizeof(float) < kSecondCache_bytes) return;
  std::optional<Operands> operands = product(r, scores);
  std::vector<ValueId> mask;
  if (const std::optional<Node> sum = r.producer(scores, Op::Add); sum && !operands)
    for (size_t side : {0, 1}) {
      if (operands || r.shape(sum->inputs[side]) != r.shape(scores)) continue;
      operands = product(r, sum->inputs[side]);
      mask = {sum->inputs[1 - side]};
      r.covers({*sum});
    }
  if (!operands) return;
  const ValueId values = attrs.transpose_b ? turned(r, matmul.inputs[1]) : matmul.inputs[1];
  std::vector<ValueId> inputs = {operands->queries, operands->keys, values};
  inputs.insert(inputs.end(), mask.begin(), mask.end());
  r.covers(weights->nodes);
  r.equate(matmul.outputs[0], r.emit(Op::Attention, inputs));
}

}  // namespace korch::rules
