// The fields of every attribute struct, listed once: printing, parsing and hashing visit them.
// visit(const char* name, Field& field) is called for each field in order.
#pragma once

#include "korch/ir/op.h"

namespace korch {

void visit_fields(NoAttrs&, auto&&) {}
void visit_fields(ConstantAttrs& a, auto&& visit) {
  visit("value", a.value);
}
void visit_fields(ScalarAttrs& a, auto&& visit) {
  visit("alpha", a.alpha), visit("beta", a.beta);
}
void visit_fields(CastAttrs& a, auto&& visit) {
  visit("to", a.to), visit("saturate", a.saturate);
}
void visit_fields(ReduceAttrs& a, auto&& visit) {
  visit("axes", a.axes), visit("keepdims", a.keepdims);
}
void visit_fields(ArgReduceAttrs& a, auto&& visit) {
  visit("axis", a.axis), visit("keepdims", a.keepdims), visit("select_last", a.select_last);
}
void visit_fields(ScanAttrs& a, auto&& visit) {
  visit("axis", a.axis), visit("exclusive", a.exclusive), visit("reverse", a.reverse);
}
void visit_fields(AxisAttrs& a, auto&& visit) {
  visit("axis", a.axis);
}
void visit_fields(PermAttrs& a, auto&& visit) {
  visit("perm", a.perm);
}
void visit_fields(ShapeAttrs& a, auto&& visit) {
  visit("shape", a.shape);
}
void visit_fields(SliceAttrs& a, auto&& visit) {
  visit("starts", a.starts), visit("sizes", a.sizes), visit("steps", a.steps);
}
void visit_fields(PadAttrs& a, auto&& visit) {
  visit("before", a.before), visit("after", a.after), visit("mode", a.mode), visit("value", a.value);
}
void visit_fields(MatMulAttrs& a, auto&& visit) {
  visit("transpose_a", a.transpose_a), visit("transpose_b", a.transpose_b),
      visit("wide_result", a.wide_result);
}
void visit_fields(NarrowAttrs& a, auto&& visit) {
  visit("block", a.block), visit("bits", a.bits);
}
void visit_fields(ConvAttrs& a, auto&& visit) {
  visit("strides", a.strides), visit("dilations", a.dilations), visit("pads_before", a.pads_before),
      visit("pads_after", a.pads_after), visit("output_padding", a.output_padding), visit("group", a.group),
      visit("wide_result", a.wide_result);
}
void visit_fields(PoolAttrs& a, auto&& visit) {
  visit("kernel", a.kernel), visit("strides", a.strides), visit("dilations", a.dilations),
      visit("pads_before", a.pads_before), visit("pads_after", a.pads_after),
      visit("count_include_pad", a.count_include_pad);
}
void visit_fields(NormAttrs& a, auto&& visit) {
  visit("axis", a.axis), visit("epsilon", a.epsilon), visit("groups", a.groups);
}
void visit_fields(GemmAttrs& a, auto&& visit) {
  visit("alpha", a.alpha), visit("beta", a.beta), visit("transpose_a", a.transpose_a),
      visit("transpose_b", a.transpose_b);
}
void visit_fields(EinsumAttrs& a, auto&& visit) {
  visit("equation", a.equation);
}
void visit_fields(LrnAttrs& a, auto&& visit) {
  visit("alpha", a.alpha), visit("beta", a.beta), visit("bias", a.bias), visit("size", a.size);
}
void visit_fields(ResizeAttrs& a, auto&& visit) {
  visit("sizes", a.sizes), visit("scales", a.scales), visit("mode", a.mode),
      visit("coordinate_mode", a.coordinate_mode), visit("nearest_mode", a.nearest_mode),
      visit("cubic_coeff_a", a.cubic_coeff_a), visit("exclude_outside", a.exclude_outside),
      visit("extrapolation_value", a.extrapolation_value);
}
void visit_fields(TopKAttrs& a, auto&& visit) {
  visit("axis", a.axis), visit("k", a.k), visit("largest", a.largest), visit("sorted", a.sorted);
}
void visit_fields(SuppressionAttrs& a, auto&& visit) {
  visit("k", a.k), visit("threshold", a.threshold);
}
void visit_fields(OneHotAttrs& a, auto&& visit) {
  visit("axis", a.axis), visit("depth", a.depth);
}
void visit_fields(LoopAttrs& a, auto&& visit) {
  visit("number", a.number), visit("carried", a.carried);
}
void visit_fields(AppendAttrs& a, auto&& visit) {
  visit("axis", a.axis), visit("capacity", a.capacity);
}
void visit_fields(RecurrenceAttrs& a, auto&& visit) {
  visit("cell", a.cell), visit("activations", a.activations), visit("alphas", a.alphas),
      visit("betas", a.betas), visit("reverse", a.reverse), visit("clip", a.clip),
      visit("input_forget", a.input_forget), visit("linear_before_reset", a.linear_before_reset),
      visit("peepholes", a.peepholes), visit("masked", a.masked);
}
void visit_fields(WinogradAttrs& a, auto&& visit) {
  visit("tile", a.tile), visit("taps", a.taps), visit("pads_before", a.pads_before),
      visit("pads_after", a.pads_after), visit("shape", a.shape);
}

// A default-constructed attribute struct of the operator.
Attrs default_attrs(Op op);

}  // namespace korch
