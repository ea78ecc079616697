// Reductions over axes.
#include <numeric>

#include "korch/onnx/rules.h"

namespace korch::onnx {
namespace {

// Axes are an attribute, and became an input with opset 13 (ReduceSum) and 18 (all others).
std::vector<int64_t> read_axes(NodeImport& n) {
  const int input_since = n.op_type() == "ReduceSum" ? 13 : 18;
  if (n.opset() < input_since) return n.ints_attr("axes", {});
  if (!n.has_input(1) || element_count(n.input(1)->shape()) == 0) return {};  // none, whatever the data say
  return n.ints_input(1, "axes");
}

// What is left of a reduction over no axes.
Operand of_each_element(NodeImport& n, Op op, const Operand& x) {
  if (op == Op::ReduceL1 || op == Op::ReduceL2) return n.emit(Op::Abs, {x});
  if (op == Op::ReduceSumSquare) return n.emit(Op::Mul, {x, x});
  if (op != Op::ReduceLogSum) return x;
  return is_float(x->dtype()) ? n.emit(Op::Log, {x})
                              : n.cast(n.emit(Op::Log, {n.cast(x, DType::f64)}), x->dtype());
}

Results reduce(NodeImport& n) {
  const Operand& x = n.input(0);
  const Op op = parse_op(n.op_type()).value();
  ReduceAttrs attrs;
  attrs.keepdims = n.flag("keepdims", true);
  const bool nothing_if_empty = n.flag("noop_with_empty_axes", false);
  attrs.axes = n.axes(read_axes(n), x->rank());
  if (attrs.axes.empty() && !nothing_if_empty) {
    attrs.axes.resize(x->shape().size());
    std::iota(attrs.axes.begin(), attrs.axes.end(), 0);
  }
  if (attrs.axes.empty()) return {of_each_element(n, op, x)};
  const bool of_reals = op == Op::ReduceL2 || op == Op::ReduceLogSum || op == Op::ReduceLogSumExp;
  if (of_reals && !is_float(x->dtype()))
    return {n.cast(n.emit(op, attrs, {n.cast(x, DType::f64)}), x->dtype())};
  return {n.emit(op, attrs, {x})};
}

Results arg_reduce(NodeImport& n) {
  ArgReduceAttrs attrs;
  attrs.axis = n.axis(n.int_attr("axis", 0), n.input(0)->rank());
  attrs.keepdims = n.flag("keepdims", true);
  attrs.select_last = n.flag("select_last_index", false);
  return {n.emit(n.op_type() == "ArgMax" ? Op::ArgMax : Op::ArgMin, attrs, {n.input(0)})};
}

// Until opset 12 the axis splits the shape in two: everything from it on is one row.
Results over_axis(NodeImport& n) {
  const Operand& x = n.input(0);
  const Op op = parse_op(n.op_type()).value();
  if (n.opset() >= 13) return {n.emit(op, AxisAttrs{n.axis(n.int_attr("axis", -1), x->rank())}, {x})};
  const int64_t axis = n.axis(n.int_attr("axis", 1), x->rank());
  if (axis == x->rank() - 1) return {n.emit(op, AxisAttrs{axis}, {x})};
  Shape rows(x->shape().begin(), x->shape().begin() + axis);
  rows.push_back(
      std::accumulate(x->shape().begin() + axis, x->shape().end(), int64_t{1}, std::multiplies<>()));
  return {n.reshape(n.emit(op, AxisAttrs{axis}, {n.reshape(x, rows)}), x->shape())};
}

}  // namespace

std::vector<RuleRow> reduction_rules() {
  return {
      {"ReduceSum", reduce, 1, 13},       {"ReduceMax", reduce, 1, 20},
      {"ReduceMin", reduce, 1, 20},       {"ReduceProd", reduce, 1, 18},
      {"ReduceMean", reduce, 1, 18},      {"ReduceL1", reduce, 1, 18},
      {"ReduceL2", reduce, 1, 18},        {"ReduceLogSum", reduce, 1, 28},
      {"ReduceLogSumExp", reduce, 1, 28}, {"ReduceSumSquare", reduce, 1, 18},
      {"ArgMax", arg_reduce, 1, 13},      {"ArgMin", arg_reduce, 1, 13},
      {"Softmax", over_axis, 1, 13},      {"LogSoftmax", over_axis, 1, 13},
      {"Hardmax", over_axis, 1, 13},
  };
}

}  // namespace korch::onnx
