// The fields of every attribute struct, listed once: printing, parsing and hashing visit them.
// visit(const char* name, Field& field) is called for each field in order.
#pragma once

#include "korch/ir/op.h"

namespace korch {

template <typename V>
void visit_fields(NoAttrs&, V&&) {}
template <typename V>
void visit_fields(ConstantAttrs& a, V&& visit) {
  visit("value", a.value);
}
template <typename V>
void visit_fields(ScalarAttrs& a, V&& visit) {
  visit("alpha", a.alpha);
  visit("beta", a.beta);
}
template <typename V>
void visit_fields(CastAttrs& a, V&& visit) {
  visit("to", a.to);
  visit("saturate", a.saturate);
}
template <typename V>
void visit_fields(ReduceAttrs& a, V&& visit) {
  visit("axes", a.axes);
  visit("keepdims", a.keepdims);
}
template <typename V>
void visit_fields(ArgReduceAttrs& a, V&& visit) {
  visit("axis", a.axis);
  visit("keepdims", a.keepdims);
  visit("select_last", a.select_last);
}
template <typename V>
void visit_fields(ScanAttrs& a, V&& visit) {
  visit("axis", a.axis);
  visit("exclusive", a.exclusive);
  visit("reverse", a.reverse);
}
template <typename V>
void visit_fields(AxisAttrs& a, V&& visit) {
  visit("axis", a.axis);
}
template <typename V>
void visit_fields(PermAttrs& a, V&& visit) {
  visit("perm", a.perm);
}
template <typename V>
void visit_fields(ShapeAttrs& a, V&& visit) {
  visit("shape", a.shape);
}
template <typename V>
void visit_fields(SliceAttrs& a, V&& visit) {
  visit("starts", a.starts);
  visit("sizes", a.sizes);
  visit("steps", a.steps);
}
template <typename V>
void visit_fields(PadAttrs& a, V&& visit) {
  visit("before", a.before);
  visit("after", a.after);
  visit("mode", a.mode);
  visit("value", a.value);
}
template <typename V>
void visit_fields(MatMulAttrs& a, V&& visit) {
  visit("transpose_a", a.transpose_a);
  visit("transpose_b", a.transpose_b);
}
template <typename V>
void visit_fields(ConvAttrs& a, V&& visit) {
  visit("strides", a.strides);
  visit("dilations", a.dilations);
  visit("pads_before", a.pads_before);
  visit("pads_after", a.pads_after);
  visit("output_padding", a.output_padding);
  visit("group", a.group);
}
template <typename V>
void visit_fields(PoolAttrs& a, V&& visit) {
  visit("kernel", a.kernel);
  visit("strides", a.strides);
  visit("dilations", a.dilations);
  visit("pads_before", a.pads_before);
  visit("pads_after", a.pads_after);
  visit("count_include_pad", a.count_include_pad);
}
template <typename V>
void visit_fields(NormAttrs& a, V&& visit) {
  visit("axis", a.axis);
  visit("epsilon", a.epsilon);
  visit("groups", a.groups);
}
template <typename V>
void visit_fields(GemmAttrs& a, V&& visit) {
  visit("alpha", a.alpha);
  visit("beta", a.beta);
  visit("transpose_a", a.transpose_a);
  visit("transpose_b", a.transpose_b);
}
template <typename V>
void visit_fields(EinsumAttrs& a, V&& visit) {
  visit("equation", a.equation);
}
template <typename V>
void visit_fields(LrnAttrs& a, V&& visit) {
  visit("alpha", a.alpha);
  visit("beta", a.beta);
  visit("bias", a.bias);
  visit("size", a.size);
}
template <typename V>
void visit_fields(ResizeAttrs& a, V&& visit) {
  visit("sizes", a.sizes);
  visit("scales", a.scales);
  visit("mode", a.mode);
  visit("coordinate_mode", a.coordinate_mode);
  visit("nearest_mode", a.nearest_mode);
  visit("cubic_coeff_a", a.cubic_coeff_a);
  visit("exclude_outside", a.exclude_outside);
  visit("extrapolation_value", a.extrapolation_value);
}
template <typename V>
void visit_fields(TopKAttrs& a, V&& visit) {
  visit("axis", a.axis);
  visit("k", a.k);
  visit("largest", a.largest);
  visit("sorted", a.sorted);
}
template <typename V>
void visit_fields(SuppressionAttrs& a, V&& visit) {
  visit("k", a.k);
  visit("threshold", a.threshold);
}
template <typename V>
void visit_fields(OneHotAttrs& a, V&& visit) {
  visit("axis", a.axis);
  visit("depth", a.depth);
}
template <typename V>
void visit_fields(LoopAttrs& a, V&& visit) {
  visit("number", a.number);
  visit("carried", a.carried);
}
template <typename V>
void visit_fields(RecurrenceAttrs& a, V&& visit) {
  visit("cell", a.cell);
  visit("activations", a.activations);
  visit("alphas", a.alphas);
  visit("betas", a.betas);
  visit("reverse", a.reverse);
  visit("clip", a.clip);
  visit("input_forget", a.input_forget);
  visit("linear_before_reset", a.linear_before_reset);
  visit("peepholes", a.peepholes);
  visit("masked", a.masked);
}
template <typename V>
void visit_fields(WinogradAttrs& a, V&& visit) {
  visit("tile", a.tile);
  visit("taps", a.taps);
  visit("pads_before", a.pads_before);
  visit("pads_after", a.pads_after);
  visit("shape", a.shape);
}

// A default-constructed attribute struct of the operator.
Attrs default_attrs(Op op);

}  // namespace korch
