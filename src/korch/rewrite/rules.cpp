#include "korch/rewrite/rules.h"

#include "korch/rewrite/rule.h"

namespace korch {

const std::vector<RewriteRule>& rewrite_rules() {
  static const std::vector<RewriteRule> table = {
      {"convolution_over_concat", "Conv(Concat(x_i), W)", "sum of Conv(x_i, W_i)",
       "channels are concatenated, some x_i is an upsampled Value, W is constant", true, false, true, {Op::Conv},
       rules::convolution_over_concat},
      {"channel_map_before_upsampling", "Conv1x1(U(x), W)", "U(Conv1x1(x, W))",
       "U acts on every channel alike (gathers, slices, sums, factors) and has more elements than x", true, false, true, {Op::Conv},
       rules::channel_map_before_upsampling},
      {"pointwise_convolution_as_matmul", "Conv1x1(x, W)", "MatMul(rows of x, W^T), as images",
       "x is made of rows", true, false, true, {Op::Conv}, rules::pointwise_convolution_as_matmul},
      {"compose_constant_matmuls", "MatMul(MatMul(x, A) + b, B)", "MatMul(x, A B) + b B",
       "A and B are constant and A B takes fewer products", true, false, true, {Op::MatMul}, rules::compose_constant_matmuls},
      {"merge_linear", "L(x, W_1), L(x, W_2), ... and elementwise primitives after all of them alike",
       "slices of L(x, [W_1 | W_2 | ...])", "L is matmul or convolution, the W_i are constant, one of them has 64 features or fewer", true, false, true,
       {Op::MatMul, Op::Conv}, rules::merge_linear},
      {"slice_before_linear", "Slice(E(L(x, W)))", "E(L(x, Slice(W)))",
       "a vector of features or more is taken; E is elementwise, transpose or reshape; W is constant", true, false, true, {Op::Slice},
       rules::slice_before_linear},
      {"concat_of_slices_before_linear", "Concat(Slices of E(L(x, W)))", "E(L(x, Concat(Slices of W)))",
       "as slice_before_linear", true, false, true, {Op::Concat}, rules::concat_of_slices_before_linear},
      {"factor_into_constant", "E(..., W, ...) Mul c", "E(..., W Mul c, ...)",
       "c is one constant; E is made of matmul, convolution, products, sums and layout primitives; W is constant", true, true, true,
       {Op::Mul, Op::Div}, rules::factor_into_constant},
      {"factor_after_matmul", "MatMul(x Mul c, y)", "MatMul(x, y) Mul c",
       "c varies along the rows of the result alone, which has half as many elements as x or fewer", true, false, true, {Op::MatMul},
       rules::factor_after_matmul},
      {"squares_in_one_pass", "sum (x - m)^2 with m = (sum x) / n", "sum x^2 - m sum x",
       "what is summed does not fit the first cache, where a second pass costs little", false, false, true, {Op::ReduceSum}, rules::squares_in_one_pass},
      {"sum_as_matmul", "MatMul(x, B), sum of x's rows", "columns of MatMul(x, [B | 1])",
       "B is not constant, and its rows are no whole vectors: the column costs nothing", true, false, true,
       {Op::ReduceSum}, rules::sum_as_matmul},
      {"tanh_of_softplus", "tanh(log(1 + e^x))", "n / (n + 2) with n = e^x (e^x + 2)", "", true, true, false, {Op::Tanh},
       rules::tanh_of_softplus},
      {"window_of_window", "WindowMax_9(x), WindowMax_5(x)", "WindowMax_5(WindowMax_5(x))",
       "centred windows, stride 1", true, true, true, {Op::WindowMax}, rules::window_of_window},
      {"separable_window", "WindowMax_kxk(x)", "WindowMax_kx1(WindowMax_1xk(x))", "centred windows, stride 1", true, true, true,
       {Op::WindowMax}, rules::separable_window},
      {"transposed_convolution_as_convolution", "ConvTranspose(x, W)",
       "interleaved features of Conv(x, taps of W by phase)", "no dilation, no groups, W is constant", true, false, true,
       {Op::ConvTranspose}, rules::transposed_convolution_as_convolution},
  };
  return table;
}

}  // namespace korch
