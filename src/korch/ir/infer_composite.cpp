#include <fmt/format.h>

#include "korch/ir/infer.h"

namespace korch {
namespace {

void require_per_channel(const InferArgs& args) {
  infer_require(args, args.rank(0) >= 2, "data needs a batch and a channel axis");
  for (size_t i = 1; i < args.inputs.size(); ++i)
    infer_require(args, args.shape(i) == Shape{args.shape(0)[1]}, "parameters need one element per channel");
}

Shape gemm_shape(const InferArgs& args) {
  const GemmAttrs& gemm = args.get<GemmAttrs>();
  infer_require(args, args.rank(0) == 2 && args.rank(1) == 2, "operands must have rank 2");
  Shape a = args.shape(0), b = args.shape(1);
  if (gemm.transpose_a) std::swap(a[0], a[1]);
  if (gemm.transpose_b) std::swap(b[0], b[1]);
  if (a[1] != b[0]) infer_fail(args, fmt::format("inner extents {} and {} differ", a[1], b[0]));
  const Shape out = {a[0], b[1]};
  if (args.inputs.size() == 3)
    infer_require(args, broadcast_shapes(args, args.shape(2), out) == out, "the bias does not broadcast to the result");
  return out;
}

Shape tiled(const InferArgs& args) {
  const Shape& repeats = args.get<ShapeAttrs>().shape;
  Shape out = args.shape(0);
  infer_require(args, repeats.size() == out.size(), "repeats need one entry per axis");
  for (size_t i = 0; i < out.size(); ++i) {
    infer_require(args, repeats[i] >= 0, "repeats must not be negative");
    out[i] *= repeats[i];
  }
  return out;
}

Shape blocked(const InferArgs& args) {
  const int64_t block = args.get<AxisAttrs>().axis;
  infer_require(args, args.rank(0) == 4 && block > 0, "needs rank 4 and a positive block size");
  const Shape& in = args.shape(0);
  if (args.op == Op::SpaceToDepth) {
    infer_require(args, in[2] % block == 0 && in[3] % block == 0, "the block does not divide the spatial axes");
    return {in[0], in[1] * block * block, in[2] / block, in[3] / block};
  }
  infer_require(args, in[1] % (block * block) == 0, "the squared block does not divide the channels");
  return {in[0], in[1] / (block * block), in[2] * block, in[3] * block};
}

Shape resized(const InferArgs& args) {
  const ResizeAttrs& resize = args.get<ResizeAttrs>();
  infer_require(args, resize.sizes.size() == args.inputs[0].shape.size() && resize.scales.size() == resize.sizes.size(),
                "sizes and scales need one entry per axis");
  return resize.sizes;
}

Shape one_hot(const InferArgs& args) {
  const OneHotAttrs& attrs = args.get<OneHotAttrs>();
  infer_require(args, args.shape(1) == Shape{2}, "values must be [off, on]");
  require_axis(args, attrs.axis, args.rank(0) + 1);
  Shape out = args.shape(0);
  out.insert(out.begin() + attrs.axis, attrs.depth);
  return out;
}

Shape variadic(const InferArgs& args) {
  require_same_dtype(args);
  Shape shape = args.shape(0);
  for (size_t i = 1; i < args.inputs.size(); ++i) shape = broadcast_shapes(args, shape, args.shape(i));
  return shape;
}

}  // namespace

std::vector<TensorType> infer_composite(const InferArgs& args) {
  const TensorType& data = args.inputs[0];
  switch (args.op) {
    case Op::Softmax:
    case Op::LogSoftmax:
    case Op::Hardmax: require_axis(args, args.get<AxisAttrs>().axis, args.rank(0)); return {data};
    case Op::LayerNormalization:
    case Op::LpNormalization: require_axis(args, args.get<NormAttrs>().axis, args.rank(0)); return {data};
    case Op::InstanceNormalization:
    case Op::BatchNormalization: require_per_channel(args); return {data};
    case Op::GroupNormalization:
      infer_require(args, args.rank(0) >= 2 && args.get<NormAttrs>().groups > 0, "needs a channel axis and groups");
      infer_require(args, args.shape(0)[1] % args.get<NormAttrs>().groups == 0, "groups do not divide the channels");
      return {data};
    case Op::MeanVarianceNormalization:
      for (int64_t axis : args.get<ReduceAttrs>().axes) require_axis(args, axis, args.rank(0));
      return {data};
    case Op::LRN:
    case Op::Gelu:
    case Op::Mish: return {data};
    case Op::Trilu: infer_require(args, args.rank(0) >= 2, "needs rank 2 or more"); return {data};
    case Op::Gemm: require_same_dtype(args); return {{data.dtype, gemm_shape(args)}};
    case Op::Einsum: require_same_dtype(args); return {{data.dtype, einsum_shape(args)}};
    case Op::AveragePool:
    case Op::ReduceMean:
    case Op::ReduceL1:
    case Op::ReduceL2:
    case Op::ReduceLogSum:
    case Op::ReduceLogSumExp:
    case Op::ReduceSumSquare: return infer_reduce(args);
    case Op::Sum:
    case Op::Mean:
    case Op::VariadicMax:
    case Op::VariadicMin: return {{data.dtype, variadic(args)}};
    case Op::Tile: return {{data.dtype, tiled(args)}};
    case Op::DepthToSpace:
    case Op::DepthToSpaceCRD:
    case Op::SpaceToDepth: return {{data.dtype, blocked(args)}};
    case Op::Resize: return {{data.dtype, resized(args)}};
    case Op::OneHot: return {{args.inputs[1].dtype, one_hot(args)}};
    default: KORCH_ASSERT(false, std::string("no shape rule for ") + name(args.op));
  }
  return {};
}

}  // namespace korch
