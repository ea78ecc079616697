#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "korch/ir/index_map.h"
#include "korch/ir/infer.h"

namespace korch {
namespace {

Shape gemm_shape(const InferArgs& args) {
  require_same_dtype(args);
  const GemmAttrs& gemm = args.get<GemmAttrs>();
  infer_require(args, args.rank(0) == 2 && args.rank(1) == 2, "operands must have rank 2");
  const auto whole = [](double factor) { return std::trunc(factor) == factor && std::fabs(factor) < 0x1p53; };
  infer_require(args, is_float(args.inputs[0].dtype) || (whole(gemm.alpha) && whole(gemm.beta)),
                "integer operands need whole alpha and beta");
  Shape a = args.shape(0), b = args.shape(1);
  if (gemm.transpose_a) std::swap(a[0], a[1]);
  if (gemm.transpose_b) std::swap(b[0], b[1]);
  if (a[1] != b[0]) infer_fail(args, fmt::format("inner extents {} and {} differ", a[1], b[0]));
  const Shape out = {a[0], b[1]};
  if (args.inputs.size() == 3)
    infer_require(args, broadcast_shapes(args, args.shape(2), out) == out,
                  "the bias does not broadcast to the result");
  return out;
}

Shape moved(const InferArgs& args) {
  return checked_maps(args).result;
}

Shape resized(const InferArgs& args) {
  const ResizeAttrs& resize = args.get<ResizeAttrs>();
  infer_require(
      args, resize.sizes.size() == args.inputs[0].shape.size() && resize.scales.size() == resize.sizes.size(),
      "sizes and scales need one entry per axis");
  for (double scale : resize.scales)
    infer_require(args, scale > 0 && std::isfinite(scale), "scales must be positive");
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

Shape same(const InferArgs& args) {
  return args.shape(0);
}

Shape along_axis(const InferArgs& args) {
  const auto* axis = std::get_if<AxisAttrs>(&args.attrs);
  require_axis(args, axis != nullptr ? axis->axis : args.get<NormAttrs>().axis, args.rank(0));
  return args.shape(0);
}

Shape layer_norm(const InferArgs& args) {
  require_same_dtype(args);
  for (size_t i = 1; i < args.inputs.size(); ++i)
    infer_require(args, broadcast_shapes(args, args.shape(i), args.shape(0)) == args.shape(0),
                  "scale and bias must broadcast to the data");
  return along_axis(args);
}

Shape per_channel(const InferArgs& args) {
  require_same_dtype(args);
  infer_require(args, args.rank(0) >= 2, "data needs a batch and a channel axis");
  for (size_t i = 1; i < args.inputs.size(); ++i)
    infer_require(args, args.shape(i) == Shape{args.shape(0)[1]}, "parameters need one element per channel");
  return args.shape(0);
}

Shape group_norm(const InferArgs& args) {
  infer_require(args, args.rank(0) >= 2 && args.get<NormAttrs>().groups > 0,
                "needs a channel axis and groups");
  infer_require(args, args.shape(0)[1] % args.get<NormAttrs>().groups == 0,
                "groups do not divide the channels");
  require_same_dtype(args);
  for (size_t i = 1; i < args.inputs.size(); ++i)
    infer_require(
        args,
        args.shape(i) == Shape{args.shape(0)[1]} || args.shape(i) == Shape{args.get<NormAttrs>().groups},
        "scale and bias need one element per channel or group");
  return args.shape(0);
}

Shape mean_variance(const InferArgs& args) {
  for (int64_t axis : args.get<ReduceAttrs>().axes) require_axis(args, axis, args.rank(0));
  return args.shape(0);
}

Shape trilu(const InferArgs& args) {
  infer_require(args, args.rank(0) >= 2, "needs rank 2 or more");
  return args.shape(0);
}

Shape einsum(const InferArgs& args) {
  require_same_dtype(args);
  return einsum_shape(args);
}

Shape reduction(const InferArgs& args) {
  return infer_reduce(args)[0].shape;
}

}  // namespace

std::vector<TensorType> infer_composite(const InferArgs& args) {
  static const std::map<Op, Shape (*)(const InferArgs&)> rules = {
      {Op::Softmax, along_axis},
      {Op::LogSoftmax, along_axis},
      {Op::Hardmax, along_axis},
      {Op::LayerNormalization, layer_norm},
      {Op::LpNormalization, along_axis},
      {Op::InstanceNormalization, per_channel},
      {Op::BatchNormalization, per_channel},
      {Op::GroupNormalization, group_norm},
      {Op::MeanVarianceNormalization, mean_variance},
      {Op::LRN, same},
      {Op::Gelu, same},
      {Op::Mish, same},
      {Op::Trilu, trilu},
      {Op::Gemm, gemm_shape},
      {Op::Einsum, einsum},
      {Op::AveragePool, reduction},
      {Op::ReduceMean, reduction},
      {Op::ReduceL1, reduction},
      {Op::ReduceL2, reduction},
      {Op::ReduceLogSum, reduction},
      {Op::ReduceLogSumExp, reduction},
      {Op::ReduceSumSquare, reduction},
      {Op::Sum, variadic},
      {Op::Mean, variadic},
      {Op::VariadicMax, variadic},
      {Op::VariadicMin, variadic},
      {Op::Tile, moved},
      {Op::DepthToSpace, moved},
      {Op::DepthToSpaceCRD, moved},
      {Op::SpaceToDepth, moved},
      {Op::Resize, resized},
      {Op::OneHot, one_hot},
  };
  // What divides, takes roots, exponentials or logarithms.
  static const std::set<Op> floats_only = {
      Op::Softmax,
      Op::LogSoftmax,
      Op::Hardmax,
      Op::LayerNormalization,
      Op::LpNormalization,
      Op::InstanceNormalization,
      Op::BatchNormalization,
      Op::GroupNormalization,
      Op::MeanVarianceNormalization,
      Op::LRN,
      Op::Gelu,
      Op::Mish,
      Op::AveragePool,
      Op::ReduceL2,
      Op::ReduceLogSum,
      Op::ReduceLogSumExp,
  };
  static const std::set<Op> without_arithmetic = {
      Op::Trilu, Op::Tile, Op::DepthToSpace, Op::DepthToSpaceCRD, Op::SpaceToDepth, Op::Resize, Op::OneHot,
  };
  infer_require(args, is_float(args.inputs[0].dtype) || !floats_only.contains(args.op),
                "needs a float operand");
  infer_require(args, args.inputs[0].dtype != DType::bool_ || without_arithmetic.contains(args.op),
                "arithmetic on bool");
  const auto rule = rules.find(args.op);
  KORCH_ASSERT(rule != rules.end(), std::string("no shape rule for ") + name(args.op));
  const DType dtype = args.inputs[args.op == Op::OneHot ? 1 : 0].dtype;
  return {{dtype, rule->second(args)}};
}

}  // namespace korch
