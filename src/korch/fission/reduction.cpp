// Reductions with arithmetic before or after the sum.

#include "korch/fission/rules.h"

namespace korch::rules {
namespace {

ValueId reduce_sum(Emitter& e, const Node& node, ValueId x) {
  const ReduceAttrs& attrs = std::get<ReduceAttrs>(node.attrs);
  return e.reduce(Op::ReduceSum, x, attrs.axes, attrs.keepdims);
}

}  // namespace

ValueId reduce_mean(Emitter& e, const Node& node, const Inputs& in) {
  const int64_t count = extent_along(e.shape(in[0]), std::get<ReduceAttrs>(node.attrs).axes);
  return e.divided_by_count(reduce_sum(e, node, in[0]), count);
}

ValueId reduce_l1(Emitter& e, const Node& node, const Inputs& in) {
  return reduce_sum(e, node, e.emit(Op::Abs, {in[0]}));
}

ValueId reduce_l2(Emitter& e, const Node& node, const Inputs& in) {
  return e.emit(Op::Sqrt, {reduce_sum(e, node, e.square(in[0]))});
}

ValueId reduce_log_sum(Emitter& e, const Node& node, const Inputs& in) {
  return e.emit(Op::Log, {reduce_sum(e, node, in[0])});
}

ValueId reduce_log_sum_exp(Emitter& e, const Node& node, const Inputs& in) {
  const ReduceAttrs& attrs = std::get<ReduceAttrs>(node.attrs);
  const ValueId largest = e.reduce(Op::ReduceMax, in[0], attrs.axes);
  // An infinite max would turn its own difference into NaN; without it the sum is already 0 or infinite.
  const ValueId infinite = e.emit(Op::IsInf, ScalarAttrs{1, 1}, {largest});
  const ValueId pivot = e.emit(Op::Where, {infinite, e.scalar_like(largest, 0), largest});
  const ValueId exponential = e.emit(Op::Exp, {e.sub(in[0], pivot)});
  const ValueId total = e.reduce(Op::ReduceSum, exponential, attrs.axes, attrs.keepdims);
  const ValueId shift = e.reshape(pivot, e.shape(total));
  return e.add(e.emit(Op::Log, {total}), shift);
}

ValueId reduce_sum_square(Emitter& e, const Node& node, const Inputs& in) {
  return reduce_sum(e, node, e.square(in[0]));
}

}  // namespace korch::rules
