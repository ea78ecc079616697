#include <fmt/format.h>

#include <cmath>
#include <map>

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

// What it takes of its operands: any elements, to move them; numbers; floats, to divide them, take roots,
// exponentials or logarithms.
enum class Elements { any, numbers, floats };

struct CompositeRule {
  Shape (*shape)(const InferArgs&);
  Elements elements;
};

}  // namespace

std::vector<TensorType> infer_composite(const InferArgs& args) {
  static const std::map<Op, CompositeRule> rules = {
      {Op::Softmax, {along_axis, Elements::floats}},
      {Op::LogSoftmax, {along_axis, Elements::floats}},
      {Op::Hardmax, {along_axis, Elements::floats}},
      {Op::LayerNormalization, {layer_norm, Elements::floats}},
      {Op::LpNormalization, {along_axis, Elements::floats}},
      {Op::InstanceNormalization, {per_channel, Elements::floats}},
      {Op::BatchNormalization, {per_channel, Elements::floats}},
      {Op::GroupNormalization, {group_norm, Elements::floats}},
      {Op::MeanVarianceNormalization, {mean_variance, Elements::floats}},
      {Op::LRN, {same, Elements::floats}},
      {Op::Gelu, {same, Elements::floats}},
      {Op::Mish, {same, Elements::floats}},
      {Op::Trilu, {trilu, Elements::any}},
      {Op::Gemm, {gemm_shape, Elements::numbers}},
      {Op::Einsum, {einsum, Elements::numbers}},
      {Op::AveragePool, {reduction, Elements::floats}},
      {Op::ReduceMean, {reduction, Elements::numbers}},
      {Op::ReduceL1, {reduction, Elements::numbers}},
      {Op::ReduceL2, {reduction, Elements::floats}},
      {Op::ReduceLogSum, {reduction, Elements::floats}},
      {Op::ReduceLogSumExp, {reduction, Elements::floats}},
      {Op::ReduceSumSquare, {reduction, Elements::numbers}},
      {Op::Sum, {variadic, Elements::numbers}},
      {Op::Mean, {variadic, Elements::numbers}},
      {Op::VariadicMax, {variadic, Elements::numbers}},
      {Op::VariadicMin, {variadic, Elements::numbers}},
      {Op::Tile, {moved, Elements::any}},
      {Op::DepthToSpace, {moved, Elements::any}},
      {Op::DepthToSpaceCRD, {moved, Elements::any}},
      {Op::SpaceToDepth, {moved, Elements::any}},
      {Op::Resize, {resized, Elements::any}},
      {Op::OneHot, {one_hot, Elements::any}},
  };
  const auto found = rules.find(args.op);
  KORCH_ASSERT(found != rules.end(), std::string("no shape rule for ") + name(args.op));
  const auto& [shape, elements] = found->second;
  infer_require(args, is_float(args.inputs[0].dtype) || elements != Elements::floats,
                "needs a float operand");
  infer_require(args, args.inputs[0].dtype != DType::bool_ || elements == Elements::any,
                "arithmetic on bool");
  const DType dtype = args.inputs[args.op == Op::OneHot ? 1 : 0].dtype;
  return {{dtype, shape(args)}};
}

}  // namespace korch
