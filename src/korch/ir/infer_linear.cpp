#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "korch/ir/infer.h"
#include "korch/ir/narrow.h"
#include "korch/ir/winograd.h"

namespace korch {
namespace {

Shape matmul_shape(const InferArgs& args) {
  const MatMulAttrs& attrs = args.get<MatMulAttrs>();
  infer_require(args, args.inputs[0].dtype != DType::bool_, "operands must be numbers");
  infer_require(args, args.rank(0) >= 2 && args.rank(1) >= 2, "operands must have rank 2 or more");
  Shape a = args.shape(0), b = args.shape(1);
  if (attrs.transpose_a) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (attrs.transpose_b) std::swap(b[b.size() - 1], b[b.size() - 2]);
  if (a[a.size() - 1] != b[b.size() - 2])
    infer_fail(args, fmt::format("inner extents {} and {} differ", a[a.size() - 1], b[b.size() - 2]));
  Shape out = broadcast_shapes(args, Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  out.push_back(a[a.size() - 2]);
  out.push_back(b[b.size() - 1]);
  return out;
}

void require_spatial(const InferArgs& args, const ConvAttrs& conv, size_t spatial, bool transposed) {
  infer_require(args, args.rank(0) >= 3 && args.rank(1) == args.rank(0),
                "data and weights need one rank, 3 or more");
  infer_require(args,
                conv.strides.size() == spatial && conv.dilations.size() == spatial &&
                    conv.pads_before.size() == spatial && conv.pads_after.size() == spatial &&
                    (!transposed || conv.output_padding.size() == spatial),
                "strides, dilations, pads and output_padding need one entry per spatial axis");
  infer_require(args, conv.group > 0, "group must be positive");
}

// uint8 times int8: what processors have an instruction for.
bool are_bytes(const InferArgs& args) {
  return args.inputs.size() == 2 && args.inputs[0].dtype == DType::u8 && args.inputs[1].dtype == DType::i8;
}

// Products of int16 and of bytes are summed in int32, those of bfloat16 with a wide result in float32.
DType product_type(const InferArgs& args, bool wide_result) {
  const DType type = args.inputs[0].dtype;
  infer_require(args, !wide_result || (args.inputs.size() == 2 && type == DType::bf16),
                "only products of two operands of bfloat16 have a wide result");
  if (wide_result) return DType::f32;
  return type == DType::i16 || are_bytes(args) ? DType::i32 : type;
}

Shape conv_shape(const InferArgs& args, bool transposed) {
  const ConvAttrs& conv = args.get<ConvAttrs>();
  const size_t spatial = static_cast<size_t>(std::max<int64_t>(args.rank(0) - 2, 0));
  const DType type = args.inputs[0].dtype;
  infer_require(
      args, is_float(type) || (!transposed && (type == DType::i32 || type == DType::i16 || are_bytes(args))),
      transposed ? "operands must be floats" : "operands must be floats, int16, int32, or uint8 and int8");
  infer_require(args, is_float(type) || args.inputs.size() < 3, "integers have no bias");
  require_spatial(args, conv, spatial, transposed);
  const Shape& x = args.shape(0);
  const Shape& w = args.shape(1);
  const int64_t expected = transposed ? w[0] : checked_multiply(args, w[1], conv.group);
  if (x[1] != expected || x[1] % conv.group != 0 || w[0] % conv.group != 0)
    infer_fail(args, fmt::format("{} channels, but weights for {} in {} groups", x[1], expected, conv.group));
  const int64_t channels = transposed ? checked_multiply(args, w[1], conv.group) : w[0];
  infer_require(args, args.inputs.size() < 3 || args.shape(2) == Shape{channels},
                "bias needs one element per channel");
  Shape out = {x[0], channels};
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t before = conv.pads_before[i], after = conv.pads_after[i];
    if (!transposed) {
      out.push_back(
          window_extent(args, x[i + 2], w[i + 2], conv.strides[i], conv.dilations[i], before, after));
    } else {
      infer_require(args, conv.strides[i] > 0 && conv.dilations[i] > 0,
                    "strides and dilations must be positive");
      const int64_t span = checked_add(args, checked_multiply(args, w[i + 2] - 1, conv.dilations[i]), 1);
      const int64_t steps = checked_multiply(args, x[i + 2] - 1, conv.strides[i]);
      const int64_t full = checked_add(args, checked_add(args, steps, span), conv.output_padding[i]);
      const int64_t pads = checked_add(args, before, after);
      infer_require(args, pads > std::numeric_limits<int64_t>::min(), "negative pads");
      out.push_back(checked_add(args, full, -pads));
    }
    infer_require(args, out.back() >= 0, "negative output extent");
  }
  return out;
}

Shape winograd_product_shape(const InferArgs& args) {
  const auto& attrs = args.get<WinogradAttrs>();
  require_winograd(args, attrs);
  const Shape &v = args.shape(0), &w = args.shape(1);
  infer_require(args, v.size() == 3 && v[0] == tile_elements(attrs),
                "data must have rank 3, the first axis for a tile's elements");
  infer_require(
      args, w.size() == 4 && w[1] == v[2] * channel_parts(attrs) && w[2] == attrs.taps && w[3] == attrs.taps,
      "weights need axes for results, the data's channels, and taps");
  infer_require(args, w[0] % channel_parts(attrs) == 0, "results must have halves");
  return {v[0], v[1], w[0] / channel_parts(attrs)};
}

}  // namespace

std::vector<TensorType> infer_linear(const InferArgs& args) {
  if (args.op == Op::NarrowMatMul) return {narrow_product_type(args)};
  const bool sums = args.op == Op::MatMul || args.op == Op::Conv;
  if (!sums || !are_bytes(args)) require_same_dtype(args);
  if (args.op == Op::WinogradProduct) return {{args.inputs[0].dtype, winograd_product_shape(args)}};
  if (args.op == Op::MatMul)
    return {{product_type(args, args.get<MatMulAttrs>().wide_result), matmul_shape(args)}};
  const bool wide_result = args.get<ConvAttrs>().wide_result;
  infer_require(args, !wide_result || args.op == Op::Conv, "a transposed convolution has no wide result");
  return {{product_type(args, wide_result), conv_shape(args, args.op == Op::ConvTranspose)}};
}

}  // namespace korch
