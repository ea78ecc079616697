// ONNX Runtime's own operators, which its optimizer and its exporters write. Attention: rules_attention.cpp.

#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// x, and a bias where there is one.
Operand biased(NodeImport& n) {
  return n.has_input(1) ? n.emit(Op::Add, {n.input(0), n.input(1)}) : n.input(0);
}

Results fast_gelu(NodeImport& n) {
  return {gelu_by_tanh(n, biased(n))};
}
Results bias_gelu(NodeImport& n) {
  return {gelu_by_erf(n, biased(n))};
}

Results quick_gelu(NodeImport& n) {
  const Term x(n, n.input(0));
  return {x * sigmoid(x * n.float_attr("alpha", 1.702f))};
}

// The first axis behind the batch's: [M, batch..., K] to [batch..., M, K].
Term with_batch_first(const Term& x) {
  if (x.rank() < 3) return x;
  std::vector<int64_t> perm;
  for (int64_t axis = 1; axis + 1 < x.rank(); ++axis) perm.push_back(axis);
  perm.insert(perm.end(), {0, x.rank() - 1});
  return transpose(x, perm);
}

// alpha times the product of matrices, each transposed first where the flags say so.
Results fused_matmul(NodeImport& n) {
  Term a(n, n.input(0)), b(n, n.input(1));
  const bool transpose_a = n.flag("transA", false), transpose_b = n.flag("transB", false);
  if (n.flag("transBatchA", false)) a = with_batch_first(a);
  if (n.flag("transBatchB", false)) b = with_batch_first(b);
  if (a.rank() < 2 || b.rank() < 2) n.unsupported("operands of rank 1");
  const Term product = apply(Op::MatMul, {a, b}, MatMulAttrs{transpose_a, transpose_b});
  const double alpha = n.float_attr("alpha", 1);
  return {alpha == 1 ? product : product * alpha};
}

// The sum of what it reads is an output of its own. Epsilon's default is that of ONNX Runtime.
constexpr double kEpsilon = 1e-12f;

struct Skip {
  Term sum, scale;
};
Skip read_skip(NodeImport& n, size_t bias) {
  if (n.input(0)->rank() < 1) n.invalid("the data have rank 0");
  Term sum = Term(n, n.input(0)) + Term(n, n.input(1));
  if (n.has_input(bias)) sum = sum + Term(n, n.input(bias));
  if (sum.shape() != n.input(0)->shape()) n.invalid("the data do not have the shape of the sum");
  return {sum, {n, n.input(2)}};
}

Results skip_layer_normalization(NodeImport& n) {
  const Skip skip = read_skip(n, 4);
  NormAttrs attrs;
  attrs.axis = skip.sum.rank() - 1;
  attrs.epsilon = n.float_attr("epsilon", kEpsilon);
  std::vector<Term> operands = {skip.sum, skip.scale};
  if (n.has_input(3)) operands.push_back({n, n.input(3)});
  if (n.output_used(1) || n.output_used(2)) n.unsupported("mean and deviation as outputs");
  return {apply(Op::LayerNormalization, operands, attrs), nullptr, nullptr, skip.sum};
}

Results skip_simplified_layer_normalization(NodeImport& n) {
  const Skip skip = read_skip(n, 3);
  const Term x = widened(skip.sum);
  const Term scale = root_mean_square(x, {x.rank() - 1}, n.float_attr("epsilon", kEpsilon));
  if (n.output_used(1) || n.output_used(2)) n.unsupported("mean and deviation as outputs");
  return {cast(x / scale, skip.scale.dtype()) * skip.scale, nullptr, nullptr, skip.sum};
}

}  // namespace

std::vector<RuleRow> runtime_rules() {
  return {
      {"Gelu", bias_gelu},
      {"BiasGelu", bias_gelu},
      {"FastGelu", fast_gelu},
      {"QuickGelu", quick_gelu},
      {"FusedMatMul", fused_matmul},
      {"TransposeMatMul", fused_matmul},  // what FusedMatMul was called
      {"SkipLayerNormalization", skip_layer_normalization},
      {"SkipSimplifiedLayerNormalization", skip_simplified_layer_normalization},
  };
}

}  // namespace korch::onnx
