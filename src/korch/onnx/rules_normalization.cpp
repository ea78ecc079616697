// Normalizations at inference.
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// Normalized by the statistics of the batch, over all axes but that of channels; the running ones move
// towards them.
Results batch_normalization_in_training(NodeImport& n) {
  const double epsilon = n.float_attr("epsilon", 1e-5f), momentum = n.float_attr("momentum", 0.9f);
  const Operand& x = n.input(0);
  if (x->rank() < 2) n.invalid("data have no channel axis");
  const Shape channels = {x->shape()[1]};
  Shape along(x->shape().size(), 1);
  along[1] = channels[0];
  ReduceAttrs over{{0}, true};
  for (int64_t axis = 2; axis < x->rank(); ++axis) over.axes.push_back(axis);
  const auto vector = [&](size_t input, const Shape& shape) {
    return n.reshape(n.cast(n.input(input), x->dtype()), shape);
  };
  const Operand mean = n.emit(Op::ReduceMean, over, {x}), difference = n.emit(Op::Sub, {x, mean});
  const Operand variance = n.emit(Op::ReduceMean, over, {n.emit(Op::Mul, {difference, difference})});
  const Operand deviation = n.emit(Op::Sqrt, {n.emit(Op::Add, {variance, n.scalar(x->dtype(), epsilon)})});
  const Operand scaled = n.emit(Op::Mul, {n.emit(Op::Div, {difference, deviation}), vector(1, along)});
  Results outputs = {n.emit(Op::Add, {scaled, vector(2, along)})};
  const std::vector<Operand> statistics = {mean, variance};
  for (size_t i = 0; i < 2; ++i) {
    n.ignore_input(3 + i);
    outputs.push_back(nullptr);
    if (!n.output_used(1 + i)) continue;
    const Operand before = n.emit(Op::Mul, {vector(3 + i, channels), n.scalar(x->dtype(), momentum)});
    const Operand now =
        n.emit(Op::Mul, {n.reshape(statistics[i], channels), n.scalar(x->dtype(), 1 - momentum)});
    outputs.back() = n.cast(n.emit(Op::Add, {before, now}), n.input(3 + i)->dtype());
  }
  return outputs;
}

Results batch_normalization(NodeImport& n) {
  if (n.flag("training_mode", false)) return batch_normalization_in_training(n);
  n.ignore("momentum");
  if (n.opset() < 9 && !n.flag("spatial", true)) n.unsupported("spatial = 0");
  if (n.opset() < 7 && !n.flag("is_test", false)) n.unsupported("training mode");
  for (size_t i = 1; i < n.output_count(); ++i) {
    if (n.output_used(i)) n.unsupported("only its first output is known (the others serve training)");
  }
  NormAttrs attrs;
  attrs.epsilon = n.float_attr("epsilon", 1e-5f);
  // Parameters may have another float type than the data.
  std::vector<Operand> operands = {n.input(0)};
  for (size_t i = 1; i < 5; ++i) operands.push_back(n.cast(n.input(i), n.input(0)->dtype()));
  return {n.emit(Op::BatchNormalization, attrs, operands)};
}

Results instance_normalization(NodeImport& n) {
  NormAttrs attrs;
  attrs.epsilon = n.float_attr("epsilon", 1e-5f);
  return {n.emit(Op::InstanceNormalization, attrs, {n.input(0), n.input(1), n.input(2)})};
}

// Mean and 1 / standard deviation over the normalized axes.
Results layer_statistics(NodeImport& n, const NormAttrs& attrs) {
  const Operand& x = n.input(0);
  ReduceAttrs reduce;
  for (int64_t axis = attrs.axis; axis < x->rank(); ++axis) reduce.axes.push_back(axis);
  const Operand mean = n.emit(Op::ReduceMean, reduce, {x});
  const Operand difference = n.emit(Op::Sub, {x, mean});
  const Operand variance = n.emit(Op::ReduceMean, reduce, {n.emit(Op::Mul, {difference, difference})});
  const Operand shifted = n.emit(Op::Add, {variance, n.scalar(x->dtype(), attrs.epsilon)});
  return {mean, n.emit(Op::Reciprocal, {n.emit(Op::Sqrt, {shifted})})};
}

Results layer_normalization(NodeImport& n) {
  // The precision of the statistics: ours is at least float32, but their type is what it says.
  const DType stash = n.dtype_attr("stash_type", DType::f32);
  NormAttrs attrs;
  attrs.axis = n.axis(n.int_attr("axis", -1), n.input(0)->rank());
  attrs.epsilon = n.float_attr("epsilon", 1e-5f);
  std::vector<Operand> operands = {n.input(0), n.input(1)};
  if (n.has_input(2)) operands.push_back(n.input(2));
  Results outputs = {n.emit(Op::LayerNormalization, attrs, operands)};
  if (n.output_used(1) || n.output_used(2)) {
    for (const Operand& statistic : layer_statistics(n, attrs)) outputs.push_back(n.cast(statistic, stash));
  }
  return outputs;
}

// x / sqrt(mean of x^2 + epsilon) over the axes from `axis` on, in at least float32.
Results rms_normalization(NodeImport& n) {
  n.ignore("stash_type");
  const Term x = widened({n, n.input(0)});
  std::vector<int64_t> axes;
  for (int64_t axis = n.axis(n.int_attr("axis", -1), x.rank()); axis < x.rank(); ++axis) axes.push_back(axis);
  const Term scale = root_mean_square(x, axes, n.float_attr("epsilon", 1e-5f));
  return {cast(x / scale, n.input(1)->dtype()) * Term(n, n.input(1))};
}

// Scale and bias come per group until opset 20, per channel from 21.
Results group_normalization(NodeImport& n) {
  n.ignore("stash_type");
  const Operand& x = n.input(0);
  NormAttrs attrs;
  attrs.epsilon = n.float_attr("epsilon", 1e-5f);
  attrs.groups = n.int_attr("num_groups");
  if (x->rank() < 2 || attrs.groups < 1 || x->shape()[1] % attrs.groups != 0)
    n.invalid("num_groups does not divide the channels of " + to_string(x->type));
  const int64_t channels = x->shape()[1];
  std::vector<Operand> operands = {x};
  for (size_t i = 1; i < 3; ++i) {
    Operand parameter = n.input(i);
    if (n.opset() < 21)
      parameter = n.emit(Op::Expand, ShapeAttrs{{attrs.groups, channels / attrs.groups}},
                         {n.reshape(parameter, {attrs.groups, 1})});
    operands.push_back(n.reshape(parameter, {channels}));
  }
  return {n.emit(Op::GroupNormalization, attrs, operands)};
}

Results mean_variance_normalization(NodeImport& n) {
  const std::vector<int64_t> axes = n.axes(n.ints_attr("axes", {0, 2, 3}), n.input(0)->rank());
  return {n.emit(Op::MeanVarianceNormalization, ReduceAttrs{axes, true}, {n.input(0)})};
}

Results lp_normalization(NodeImport& n) {
  NormAttrs attrs;
  attrs.axis = n.axis(n.int_attr("axis", -1), n.input(0)->rank());
  attrs.groups = n.int_attr("p", 2);
  if (attrs.groups != 1 && attrs.groups != 2) n.invalid("p must be 1 or 2");
  return {n.emit(Op::LpNormalization, attrs, {n.input(0)})};
}

Results lrn(NodeImport& n) {
  LrnAttrs attrs;
  attrs.alpha = n.float_attr("alpha", 1e-4f);
  attrs.beta = n.float_attr("beta", 0.75);
  attrs.bias = n.float_attr("bias", 1);
  attrs.size = n.int_attr("size");
  n.bounded("size", {attrs.size}, 1, kMaxStep);
  if (n.input(0)->rank() < 2) n.invalid("data have no channel axis");
  return {n.emit(Op::LRN, attrs, {n.input(0)})};
}

}  // namespace

Term root_mean_square(const Term& x, const std::vector<int64_t>& axes, double epsilon) {
  return sqrt(reduce(Op::ReduceMean, x * x, axes) + epsilon);
}

std::vector<RuleRow> normalization_rules() {
  return {
      {"BatchNormalization", batch_normalization, 1, 15},
      {"InstanceNormalization", instance_normalization, 1, 22},
      {"LayerNormalization", layer_normalization, 17, 17},
      {"GroupNormalization", group_normalization, 18, 21},
      {"MeanVarianceNormalization", mean_variance_normalization, 9, 13},
      {"LpNormalization", lp_normalization, 1, 22},
      {"RMSNormalization", rms_normalization, 23, 23},
      {"SimplifiedLayerNormalization", rms_normalization},  // what ONNX Runtime calls it, in this domain too
      {"LRN", lrn, 1, 13},
  };
}

}  // namespace korch::onnx
