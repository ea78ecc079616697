#include <fmt/format.h>

#include <map>

#include "korch/ir/infer.h"

namespace korch {
namespace {

Shape transposed(const InferArgs& args) {
  const std::vector<int64_t>& perm = args.get<PermAttrs>().perm;
  const Shape& in = args.shape(0);
  infer_require(args, perm.size() == in.size(), "perm needs one entry per axis");
  std::vector<bool> seen(in.size(), false);
  Shape out;
  for (int64_t axis : perm) {
    require_axis(args, axis, args.rank(0));
    infer_require(args, !seen[axis], "perm repeats an axis");
    seen[axis] = true;
    out.push_back(in[axis]);
  }
  return out;
}

Shape reshaped(const InferArgs& args) {
  const Shape& to = args.get<ShapeAttrs>().shape;
  if (element_count(to) != element_count(args.shape(0)))
    infer_fail(args, fmt::format("cannot reshape to [{}]: the element counts differ", to_string(to)));
  return to;
}

Shape expanded(const InferArgs& args) {
  const Shape& to = args.get<ShapeAttrs>().shape;
  if (broadcast_shapes(args, args.shape(0), to) != to)
    infer_fail(args, fmt::format("cannot expand to [{}]", to_string(to)));
  return to;
}

Shape sliced(const InferArgs& args) {
  const auto& [starts, sizes, steps] = args.get<SliceAttrs>();
  const Shape& in = args.shape(0);
  infer_require(args, starts.size() == in.size() && sizes.size() == in.size() && steps.size() == in.size(),
                "starts, sizes and steps need one entry per axis");
  for (size_t i = 0; i < in.size(); ++i) {
    infer_require(args, steps[i] != 0 && sizes[i] >= 0, "steps must not be zero, sizes not negative");
    if (sizes[i] == 0) continue;
    const int64_t last = checked_add(args, starts[i], checked_multiply(args, sizes[i] - 1, steps[i]));
    if (starts[i] < 0 || starts[i] >= in[i] || last < 0 || last >= in[i])
      infer_fail(args, fmt::format("slice from {} to {} leaves axis {}", starts[i], last, i));
  }
  return sizes;
}

Shape padded(const InferArgs& args) {
  const PadAttrs& pad = args.get<PadAttrs>();
  Shape out = args.shape(0);
  infer_require(args, pad.before.size() == out.size() && pad.after.size() == out.size(),
                "before and after need one entry per axis");
  for (size_t i = 0; i < out.size(); ++i) {
    infer_require(args, pad.before[i] >= 0 && pad.after[i] >= 0, "pads must not be negative");
    const int64_t most = std::max(pad.before[i], pad.after[i]);
    infer_require(args, pad.mode != PadMode::reflect || most == 0 || most < out[i],
                  "reflection needs pads smaller than the axis");
    infer_require(args, pad.mode != PadMode::edge || most == 0 || out[i] > 0,
                  "edge padding of an empty axis");
    out[i] = checked_add(args, out[i], checked_add(args, pad.before[i], pad.after[i]));
  }
  return out;
}

Shape concatenated(const InferArgs& args) {
  const int64_t axis = args.get<AxisAttrs>().axis;
  require_axis(args, axis, args.rank(0));
  require_same_dtype(args);
  Shape out = args.shape(0);
  for (size_t i = 1; i < args.inputs.size(); ++i) {
    Shape other = args.shape(i);
    infer_require(args, other.size() == out.size(), "operands of different rank");
    out[axis] = checked_add(args, out[axis], other[axis]);
    other[axis] = out[axis];
    infer_require(args, other == out, "operands differ on another axis than the concatenated one");
  }
  return out;
}

Shape gathered(const InferArgs& args) {
  const int64_t axis = args.get<AxisAttrs>().axis;
  require_axis(args, axis, args.rank(0));
  infer_require(args, is_integer(args.inputs[1].dtype), "indices must be integers");
  const Shape& data = args.shape(0);
  if (const HostTensor* indices = args.constants[1]) {
    for (int64_t index : as_int_vector(*indices)) {
      if (index < -data[axis] || index >= data[axis])
        infer_fail(args, fmt::format("index {} is outside of axis {}", index, axis));
    }
  }
  Shape out(data.begin(), data.begin() + axis);
  out.insert(out.end(), args.shape(1).begin(), args.shape(1).end());
  out.insert(out.end(), data.begin() + axis + 1, data.end());
  return out;
}

}  // namespace

std::vector<TensorType> infer_layout(const InferArgs& args) {
  static const std::map<Op, Shape (*)(const InferArgs&)> rules = {
      {Op::Transpose, transposed}, {Op::Reshape, reshaped}, {Op::Slice, sliced},    {Op::Pad, padded},
      {Op::Concat, concatenated},  {Op::Expand, expanded},  {Op::Gather, gathered},
  };
  const auto rule = rules.find(args.op);
  KORCH_ASSERT(rule != rules.end(), std::string("no shape rule for ") + name(args.op));
  return {{args.inputs[0].dtype, rule->second(args)}};
}

}  // namespace korch
