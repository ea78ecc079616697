#include <array>

#include "korch/interp/evaluate.h"

namespace korch {
namespace {

struct Row {
  Op op;
  Evaluator evaluate;
};

// Elementwise operators have no row: their scalar semantics stand in the operator table.
constexpr Row kRows[] = {
    {Op::Constant, evaluate_constant},
    {Op::ReduceSum, evaluate_reduce_sum},
    {Op::ReduceMax, evaluate_reduce_max},
    {Op::ReduceMin, evaluate_reduce_min},
    {Op::ReduceProd, evaluate_reduce_prod},
    {Op::ArgMax, evaluate_arg_max},
    {Op::ArgMin, evaluate_arg_min},
    {Op::WindowSum, evaluate_window_sum},
    {Op::WindowDot, evaluate_window_dot},
    {Op::WindowMax, evaluate_window_max},
    {Op::Transpose, evaluate_layout},
    {Op::Reshape, evaluate_reshape},
    {Op::Slice, evaluate_layout},
    {Op::Pad, evaluate_layout},
    {Op::Concat, evaluate_concat},
    {Op::Expand, evaluate_layout},
    {Op::Gather, evaluate_gather},
    {Op::MatMul, evaluate_matmul},
    {Op::NarrowMatMul, evaluate_narrow_matmul},
    {Op::Conv, evaluate_conv},
    {Op::ConvTranspose, evaluate_conv_transpose},
    {Op::WinogradInput, evaluate_winograd_input},
    {Op::WinogradProduct, evaluate_winograd_product},
    {Op::WinogradOutput, evaluate_winograd_output},
    {Op::CumSum, evaluate_cum_sum},
    {Op::TopK, evaluate_top_k},
    {Op::NonMaxSuppression, evaluate_non_max_suppression},
    {Op::Recurrence, evaluate_recurrence},
    {Op::LoopBegin, evaluate_loop_begin},
    {Op::LoopEnd, evaluate_loop_end},
    {Op::Append, evaluate_append},
    {Op::GatherElements, evaluate_gather_elements},
    {Op::GatherND, evaluate_gather_nd},
    {Op::ScatterElements, evaluate_scatter_elements},
    {Op::ScatterND, evaluate_scatter_nd},
    {Op::MaxPoolIndices, evaluate_max_pool_indices},
    {Op::Softmax, evaluate_softmax},
    {Op::LogSoftmax, evaluate_log_softmax},
    {Op::Hardmax, evaluate_hardmax},
    {Op::LayerNormalization, evaluate_layer_normalization},
    {Op::InstanceNormalization, evaluate_instance_normalization},
    {Op::GroupNormalization, evaluate_group_normalization},
    {Op::BatchNormalization, evaluate_batch_normalization},
    {Op::MeanVarianceNormalization, evaluate_mean_variance_normalization},
    {Op::LpNormalization, evaluate_lp_normalization},
    {Op::LRN, evaluate_lrn},
    {Op::Gemm, evaluate_gemm},
    {Op::Einsum, evaluate_einsum},
    {Op::AveragePool, evaluate_average_pool},
    {Op::ReduceMean, evaluate_reduce_mean},
    {Op::ReduceL1, evaluate_reduce_l1},
    {Op::ReduceL2, evaluate_reduce_l2},
    {Op::ReduceLogSum, evaluate_reduce_log_sum},
    {Op::ReduceLogSumExp, evaluate_reduce_log_sum_exp},
    {Op::ReduceSumSquare, evaluate_reduce_sum_square},
    {Op::Sum, evaluate_sum},
    {Op::Mean, evaluate_mean},
    {Op::VariadicMax, evaluate_variadic_max},
    {Op::VariadicMin, evaluate_variadic_min},
    {Op::Gelu, evaluate_gelu},
    {Op::Mish, evaluate_mish},
    {Op::Tile, evaluate_layout},
    {Op::DepthToSpace, evaluate_layout},
    {Op::DepthToSpaceCRD, evaluate_layout},
    {Op::SpaceToDepth, evaluate_layout},
    {Op::Resize, evaluate_resize},
    {Op::OneHot, evaluate_one_hot},
    {Op::Trilu, evaluate_trilu},
};

constexpr size_t kOpCount = 0
#define X(...) +1
    KORCH_OPS(X)
#undef X
    ;

constexpr Category kCategories[kOpCount] = {
#define X(name, category, ...) Category::category,
    KORCH_OPS(X)
#undef X
};

constexpr bool is_complete() {
  std::array<bool, kOpCount> has_row{};
  for (const Row& row : kRows) has_row[static_cast<size_t>(row.op)] = true;
  for (size_t op = 0; op < kOpCount; ++op)
    if (has_row[op] == (kCategories[op] == Category::elementwise)) return false;
  return true;
}
static_assert(is_complete(), "every operator that is not elementwise needs a row");

constexpr std::array<Evaluator, kOpCount> make_table() {
  std::array<Evaluator, kOpCount> table{};
  for (Evaluator& evaluate : table) evaluate = evaluate_elementwise;
  for (const Row& row : kRows) table[static_cast<size_t>(row.op)] = row.evaluate;
  return table;
}

constexpr std::array<Evaluator, kOpCount> kTable = make_table();

}  // namespace

Evaluator evaluator(Op op) {
  return kTable[static_cast<size_t>(op)];
}

}  // namespace korch
