// Layers of quantized numbers as ONNX Runtime's quantizers and its optimizer write them, made of those that
// rules_quantized.cpp knows.
#include <fmt/format.h>

#include "korch/onnx/narrow.h"
#include "korch/onnx/rules.h"

namespace korch::onnx {
namespace {

Term channels_to(const Term& x, bool last) {
  std::vector<int64_t> perm{0};
  if (!last) perm.push_back(x.rank() - 1);
  for (int64_t axis = last ? 2 : 1; axis < x.rank() - (last ? 0 : 1); ++axis) perm.push_back(axis);
  if (last) perm.push_back(1);
  return transpose(x, perm);
}

// With the channels in the second axis, as ONNX has them: the rule of ONNX's own operator.
template <typename F>
Term with_channels_second(const Term& x, bool last, F&& layer) {
  if (x.rank() < 3) x.node().invalid("the data need rank 3 or more");
  return last ? channels_to(layer(channels_to(x, false)), true) : layer(x);
}

Term by_onnx_rule(NodeImport& n, const char* op_type, int64_t opset, const std::vector<Operand>& inputs) {
  return {n, n.by(find_rule("", op_type)->rule, opset, inputs)[0]};
}

Results qlinear_average_pool(NodeImport& n) {
  const Term y = with_channels_second(
      quantized_input(n, 0, 1, 2), n.flag("channels_last", false),
      [&](const Term& x) { return by_onnx_rule(n, "AveragePool", kLatestOpset, {x.operand()}); });
  return {quantized_result(n, y, 3, 4, n.input(0))};
}

Results qlinear_reduce_mean(NodeImport& n) {
  const Term x = quantized_input(n, 0, 1, 2);
  std::vector<int64_t> all;
  for (int64_t axis = 0; axis < x.rank(); ++axis) all.push_back(axis);
  const std::vector<int64_t> axes = n.axes(n.ints_attr("axes", all), x.rank());
  const Term mean = reduce(Op::ReduceMean, x, axes, n.flag("keepdims", true));
  return {quantized_result(n, mean, 3, 4, n.input(0))};
}

Results qlinear_where(NodeImport& n) {
  const Term chosen = select({n, n.input(0)}, quantized_input(n, 1, 2, 3), quantized_input(n, 4, 5, 6));
  return {quantized_result(n, chosen, 7, 8, n.input(1))};
}

Results qlinear_conv_of_runtime(NodeImport& n) {
  std::vector<Operand> inputs;
  for (size_t i = 0; i < n.input_count(); ++i) inputs.push_back(n.has_input(i) ? n.input(i) : nullptr);
  return {with_channels_second({n, n.input(0)}, n.flag("channels_last", false), [&](const Term& x) {
    inputs[0] = x;
    return by_onnx_rule(n, "QLinearConv", kLatestOpset, inputs);
  })};
}

Results nhwc_max_pool(NodeImport& n) {
  return {with_channels_second({n, n.input(0)}, true, [&](const Term& x) {
    return by_onnx_rule(n, "MaxPool", kLatestOpset, {x.operand()});
  })};
}

Results quantized_attention(NodeImport& n) {
  if (n.input(0)->rank() != 3 || n.input(1)->rank() != 2) n.invalid("data need rank 3, and weights rank 2");
  const Term projected = quantized_product(n, {0, 3, 6}, {1, 4, 7}) + Term(n, n.input(2));
  const int64_t width = projected.extent(2) / 3;
  if (projected.extent(2) != 3 * width) n.invalid("the weights are not those of queries, keys and values");
  const size_t none = n.input_count();
  return attention_of_runtime(n, {slice(projected, 2, 0, width), slice(projected, 2, width, width),
                                  slice(projected, 2, 2 * width, width), 5, 8, none});
}

Results embed_layer_normalization_of_bytes(NodeImport& n) {
  const auto table = [&](size_t i, size_t scale) {
    return n.has_input(i) ? std::optional(quantized_input(n, i, scale, scale + 5)) : std::nullopt;
  };
  return embed_layer_normalization(n, {table(2, 8), table(3, 9), table(4, 10), table(5, 11), table(6, 12)}, 7,
                                   n.input_count());
}

// Weights [directions, inputs, gates] with a scale and a zero point per direction, or per gate of it, as
// floats [directions, gates, inputs].
Term recurrent_weights(NodeImport& n, size_t numbers, size_t scale, size_t zero_point) {
  const Term whole(n, n.input(numbers));
  if (whole.rank() != 3) n.invalid("weights need rank 3");
  const int64_t directions = whole.extent(0), gates = whole.extent(2);
  const auto fitted = [&](size_t i) {
    const Term x(n, n.input(i));
    const int64_t count = element_count(x.shape());
    if (count != directions && count != directions * gates)
      n.invalid(fmt::format("scales or zero points {} for weights {}", to_string(x.operand()->type),
                            to_string(whole.operand()->type)));
    return cast(reshape(x, {directions, 1, count / directions}), DType::f32);
  };
  Term real = cast(whole, DType::f32);
  if (n.has_input(zero_point)) {
    if (n.input(zero_point)->dtype() != whole.dtype())
      n.invalid("a zero point of another type than its weights");
    real = real - fitted(zero_point);
  }
  return transpose(real * fitted(scale), {0, 2, 1});
}

// The weights are bytes, the data floats: ONNX Runtime rounds data and states to bytes in each step, by their
// range in that step, which is left out here.
Results dynamic_quantize_lstm(NodeImport& n) {
  std::vector<Operand> inputs = {n.input(0), recurrent_weights(n, 1, 8, 9), recurrent_weights(n, 2, 10, 11)};
  for (size_t i = 3; i < 8; ++i) inputs.push_back(n.has_input(i) ? n.input(i) : nullptr);
  return n.by(find_rule("", "LSTM")->rule, kLatestOpset, inputs);
}

// Rows of a table of small integers, by blocks along the last axis as floats.
Results gather_block_quantized(NodeImport& n) {
  const Term data(n, n.input(0)), indices(n, n.input(1)), scales(n, n.input(2));
  const int64_t bits = n.int_attr("bits", 4), block = n.int_attr("block_size", 128);
  const bool packed = data.dtype() == DType::u8 && bits == 4;
  n.bounded("block_size", {block}, 1, kMaxStep);
  if (bits != 4 && bits != 8) n.unsupported(fmt::format("{} bits", bits));
  if (data.rank() < 2 || scales.rank() != data.rank()) n.invalid("data and scales need one rank, 2 or more");
  if (n.axis(n.int_attr("gather_axis", 0), data.rank()) != 0 ||
      n.axis(n.int_attr("quantize_axis", 1), data.rank()) != data.rank() - 1)
    n.unsupported("rows that are not along the first axis, or blocks not along the last");
  const int64_t width = data.extent(data.rank() - 1) * (packed ? 2 : 1), blocks = (width + block - 1) / block;
  if (scales.extent(data.rank() - 1) != blocks)
    n.invalid(fmt::format("scales {} are not those of blocks of {} of {} numbers",
                          to_string(scales.operand()->type), block, width));
  const auto rows = [&](const Term& table) { return apply(Op::Gather, {table, indices}, AxisAttrs{0}); };
  const auto spread = [&](const Term& x) { return spread_blocks(x, block, width); };
  Term numbers = unpacked_rows(rows(data), packed);
  if (n.has_input(3)) {
    const Term zeros = unpacked_rows(rows({n, n.input(3)}), packed);
    numbers = numbers - spread(slice(zeros, zeros.rank() - 1, 0, blocks));
  } else if (data.dtype() == DType::u8) {
    numbers = numbers - (bits == 4 ? 8.0 : 128.0);
  }
  const Term factor = widened(rows(scales));
  return {cast(cast(numbers, factor.dtype()) * spread(factor), scales.dtype())};
}

}  // namespace

std::vector<RuleRow> runtime_quantized_layer_rules() {
  return {
      {"QLinearAveragePool", qlinear_average_pool},
      {"QLinearReduceMean", qlinear_reduce_mean},
      {"QLinearWhere", qlinear_where},
      {"QLinearConv", qlinear_conv_of_runtime},
      {"NhwcMaxPool", nhwc_max_pool},
      {"QAttention", quantized_attention},
      {"QEmbedLayerNormalization", embed_layer_normalization_of_bytes},
      {"DynamicQuantizeLSTM", dynamic_quantize_lstm},
      {"GatherBlockQuantized", gather_block_quantized},
  };
}

}  // namespace korch::onnx
