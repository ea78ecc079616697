// Softmax and its relatives. The max is subtracted first, so that exp never overflows and the sum is at
// least 1.
#include "korch/fission/rules.h"

namespace korch::rules {

ValueId softmax(Emitter& e, const Node& node, const Inputs& in) {
  const int64_t axis = std::get<AxisAttrs>(node.attrs).axis;
  const ValueId largest = e.reduce(Op::ReduceMax, in[0], {axis});
  const ValueId exponential = e.emit(Op::Exp, {e.sub(in[0], largest)});
  const ValueId total = e.reduce(Op::ReduceSum, exponential, {axis});
  return e.mul(exponential, e.emit(Op::Reciprocal, {total}));
}

ValueId log_softmax(Emitter& e, const Node& node, const Inputs& in) {
  const int64_t axis = std::get<AxisAttrs>(node.attrs).axis;
  const ValueId difference = e.sub(in[0], e.reduce(Op::ReduceMax, in[0], {axis}));
  const ValueId total = e.reduce(Op::ReduceSum, e.emit(Op::Exp, {difference}), {axis});
  return e.sub(difference, e.emit(Op::Log, {total}));
}

ValueId hardmax(Emitter& e, const Node& node, const Inputs& in) {
  const int64_t axis = std::get<AxisAttrs>(node.attrs).axis;
  const Shape shape = e.shape(in[0]);
  const int64_t extent = shape[static_cast<size_t>(axis)];
  const ValueId first_largest = e.emit(Op::ArgMax, ArgReduceAttrs{axis, true, false}, {in[0]});
  const ValueId iota =
      e.along_axis(e.int_constant({extent}, axis_range(0, extent)), axis, static_cast<int64_t>(shape.size()));
  return e.emit(Op::Cast, CastAttrs{e.dtype(in[0])}, {e.emit(Op::Equal, {iota, first_largest})});
}

}  // namespace korch::rules
