#include "korch/fission/rules.h"

namespace korch {
namespace {

bool has_many_inputs(const Node& node) {
  return node.inputs.size() > rules::kMostConcatInputs;
}

bool has_bias(const Node& node) {
  return node.inputs.size() == 3;
}

}  // namespace

const std::vector<FissionRule>& fission_rules() {
  using namespace rules;
  static const std::vector<FissionRule> table = {
      // e = exp(x - max x);  e * (1 / sum e)
      {Op::Softmax, nullptr, softmax},
      // d = x - max x;  d - log(sum exp d)
      {Op::LogSoftmax, nullptr, log_softmax},
      // cast(iota == argmax x)
      {Op::Hardmax, nullptr, hardmax},
      // d = x - mean x;  d * (1 / sqrt(mean(d * d) + eps)) * scale + bias
      {Op::LayerNormalization, nullptr, layer_normalization},
      // the same per channel, with scale * (1 / sqrt(...)) per channel
      {Op::InstanceNormalization, nullptr, instance_normalization},
      // the same on x reshaped to [N, groups, C / groups, ...]
      {Op::GroupNormalization, nullptr, group_normalization},
      // s = scale * (1 / sqrt(variance + eps));  x * s + (bias - mean * s)
      {Op::BatchNormalization, nullptr, batch_normalization},
      // d = x - mean x;  d * (1 / (sqrt(mean(d * d)) + 1e-9))
      {Op::MeanVarianceNormalization, nullptr, mean_variance_normalization},
      // x / n, n = sum |x| or sqrt(sum x * x);  0 where n = 0
      {Op::LpNormalization, nullptr, lp_normalization},
      // x / pow(bias + alpha / size * (sum of squares over neighbouring channels), beta)
      {Op::LRN, nullptr, lrn},
      // conv(x, w) + bias[M, 1, ...]
      {Op::Conv, has_bias, convolution_with_bias},
      {Op::ConvTranspose, has_bias, convolution_with_bias},
      // alpha * matmul(a, b) + beta * c
      {Op::Gemm, nullptr, gemm},
      // transposes, reshapes, sums, matmuls and products, operand after operand
      {Op::Einsum, nullptr, einsum},
      // window sum / count of each window
      {Op::AveragePool, nullptr, average_pool},
      // sum x / n
      {Op::ReduceMean, nullptr, reduce_mean},
      // sum |x|
      {Op::ReduceL1, nullptr, reduce_l1},
      // sqrt(sum x * x)
      {Op::ReduceL2, nullptr, reduce_l2},
      // log(sum x)
      {Op::ReduceLogSum, nullptr, reduce_log_sum},
      // m = max x, 0 where infinite;  log(sum exp(x - m)) + m
      {Op::ReduceLogSumExp, nullptr, reduce_log_sum_exp},
      // sum x * x
      {Op::ReduceSumSquare, nullptr, reduce_sum_square},
      // chains of two-operand primitives
      {Op::Sum, nullptr, sum},
      {Op::Mean, nullptr, mean},
      {Op::VariadicMax, nullptr, variadic_max},
      {Op::VariadicMin, nullptr, variadic_min},
      // 0.5 * x * (1 + erf(x / sqrt 2))
      {Op::Gelu, nullptr, gelu},
      // x * tanh(softplus x)
      {Op::Mish, nullptr, mish},
      // concat of concats
      {Op::Concat, has_many_inputs, concat_of_many},
      // reshape, expand, reshape
      {Op::Tile, nullptr, tile},
      // reshape, transpose, reshape
      {Op::DepthToSpace, nullptr, blocks},
      {Op::DepthToSpaceCRD, nullptr, blocks},
      {Op::SpaceToDepth, nullptr, blocks},
      // where(iota == index, on, off)
      {Op::OneHot, nullptr, one_hot},
      // where(mask, x, 0)
      {Op::Trilu, nullptr, trilu},
      // per axis: expand, strided slice or gather; sum over taps of weight * gather
      {Op::Resize, nullptr, resize},
  };
  return table;
}

const FissionRule* find_fission_rule(const Node& node) {
  for (const FissionRule& rule : fission_rules()) {
    if (rule.op == node.op && (rule.condition == nullptr || rule.condition(node))) return &rule;
  }
  return nullptr;
}

}  // namespace korch
