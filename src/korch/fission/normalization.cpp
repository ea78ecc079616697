// Normalizations. Variance takes two passes (mean, then the mean of squared differences): E[x^2] - E[x]^2
// cancels.
#include "korch/fission/rules.h"

namespace korch::rules {
namespace {

struct Standardized {
  ValueId difference;         // x - mean
  ValueId inverse_deviation;  // 1 / sqrt(variance + epsilon), extents 1 along the axes
};

Standardized standardize(Emitter& e, ValueId x, const std::vector<int64_t>& axes, double epsilon) {
  const ValueId difference = e.sub(x, e.mean(x, axes));
  const ValueId variance = e.mean(e.square(difference), axes);
  const ValueId deviation = e.emit(Op::Sqrt, {e.shifted(variance, epsilon)});
  return {difference, e.emit(Op::Reciprocal, {deviation})};
}

}  // namespace

ValueId layer_normalization(Emitter& e, const Node& node, const Inputs& in) {
  const NormAttrs& attrs = std::get<NormAttrs>(node.attrs);
  const Standardized s = standardize(e, in[0], axis_range(attrs.axis, e.rank(in[0])), attrs.epsilon);
  const ValueId scaled = e.mul(e.mul(s.difference, s.inverse_deviation), in[1]);
  return in.size() == 3 ? e.add(scaled, in[2]) : scaled;
}

ValueId instance_normalization(Emitter& e, const Node& node, const Inputs& in) {
  const int64_t rank = e.rank(in[0]);
  const Standardized s = standardize(e, in[0], axis_range(2, rank), std::get<NormAttrs>(node.attrs).epsilon);
  const ValueId factor = e.mul(s.inverse_deviation, e.along_axis(in[1], 1, rank));
  const ValueId shift = e.along_axis(in[2], 1, rank);
  return e.add(e.mul(s.difference, factor), shift);
}

ValueId group_normalization(Emitter& e, const Node& node, const Inputs& in) {
  const NormAttrs& attrs = std::get<NormAttrs>(node.attrs);
  const Shape shape = e.shape(in[0]);
  const int64_t per_group = shape[1] / attrs.groups;
  Shape grouped = {shape[0], attrs.groups, per_group};
  grouped.insert(grouped.end(), shape.begin() + 2, shape.end());
  const int64_t rank = static_cast<int64_t>(grouped.size());

  // Scale and bias come per channel, or (opset 18) per group.
  const auto parameter = [&](ValueId value) {
    Shape to(static_cast<size_t>(rank - 1), 1);
    to[0] = attrs.groups;
    if (e.shape(value)[0] == shape[1]) to[1] = per_group;
    return e.reshape(value, to);
  };
  const Standardized s = standardize(e, e.reshape(in[0], grouped), axis_range(2, rank), attrs.epsilon);
  const ValueId factor = e.mul(s.inverse_deviation, parameter(in[1]));
  const ValueId shift = parameter(in[2]);
  return e.reshape(e.add(e.mul(s.difference, factor), shift), shape);
}

ValueId batch_normalization(Emitter& e, const Node& node, const Inputs& in) {
  const double epsilon = std::get<NormAttrs>(node.attrs).epsilon;
  const int64_t rank = e.rank(in[0]);
  const ValueId inverse = e.emit(Op::Reciprocal, {e.emit(Op::Sqrt, {e.shifted(in[4], epsilon)})});
  const ValueId scale = e.mul(in[1], inverse);
  const ValueId shift = e.along_axis(e.sub(in[2], e.mul(in[3], scale)), 1, rank);
  return e.add(e.mul(in[0], e.along_axis(scale, 1, rank)), shift);
}

ValueId mean_variance_normalization(Emitter& e, const Node& node, const Inputs& in) {
  constexpr double kDeviationEpsilon = 1e-9;  // ONNX's function body adds it to the deviation
  const std::vector<int64_t>& axes = std::get<ReduceAttrs>(node.attrs).axes;
  const ValueId difference = e.sub(in[0], e.mean(in[0], axes));
  const ValueId deviation = e.emit(Op::Sqrt, {e.mean(e.square(difference), axes)});
  return e.mul(difference, e.emit(Op::Reciprocal, {e.shifted(deviation, kDeviationEpsilon)}));
}

ValueId lp_normalization(Emitter& e, const Node& node, const Inputs& in) {
  const NormAttrs& attrs = std::get<NormAttrs>(node.attrs);
  const int64_t p = attrs.groups;
  if (p != 1 && p != 2) e.refuse("p = " + std::to_string(p) + ", only 1 and 2 are known", in);
  const ValueId powers = p == 1 ? e.emit(Op::Abs, {in[0]}) : e.square(in[0]);
  const ValueId total = e.reduce(Op::ReduceSum, powers, {attrs.axis});
  const ValueId norm = p == 1 ? total : e.emit(Op::Sqrt, {total});
  // A zero norm means zero elements: divide by 1 instead.
  const ValueId is_zero = e.emit(Op::Equal, {norm, e.scalar_like(norm, 0)});
  return e.div(in[0], e.emit(Op::Where, {is_zero, e.scalar_like(norm, 1), norm}));
}

ValueId lrn(Emitter& e, const Node& node, const Inputs& in) {
  const LrnAttrs& attrs = std::get<LrnAttrs>(node.attrs);
  const Shape shape = e.shape(in[0]);
  if (element_count(shape) == 0) return in[0];
  // The window slides over channels, so they become the first of two spatial axes.
  const Shape channels_spatial = {shape[0], 1, shape[1], extent_along(shape, axis_range(2, e.rank(in[0])))};
  PoolAttrs window;
  window.kernel = {attrs.size, 1};
  window.strides = {1, 1};
  window.dilations = {1, 1};
  window.pads_before = {(attrs.size - 1) / 2, 0};
  window.pads_after = {attrs.size / 2, 0};
  const ValueId squares = e.reshape(e.square(in[0]), channels_spatial);
  const ValueId total = e.reshape(e.emit(Op::WindowSum, window, {squares}), shape);
  const ValueId base = e.shifted(e.scaled(total, attrs.alpha / static_cast<double>(attrs.size)), attrs.bias);
  return e.div(in[0], e.emit(Op::Pow, {base, e.scalar_like(base, attrs.beta)}));
}

}  // namespace korch::rules
