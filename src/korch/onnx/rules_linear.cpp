// Matrix products and convolutions.
#include <fmt/format.h>

#include <algorithm>

#include "korch/onnx/rules.h"

namespace korch::onnx {
namespace {

using Results = std::vector<Operand>;

// Operands of rank 1 are a row on the left, a column on the right; their axis leaves the result again.
Results matmul(NodeImport& n) {
  Operand a = n.input(0), b = n.input(1);
  if (a->rank() == 0 || b->rank() == 0) n.invalid("operands must have rank 1 or more");
  const bool row = a->rank() == 1, column = b->rank() == 1;
  if (row) a = n.reshape(a, {1, a->shape()[0]});
  if (column) b = n.reshape(b, {b->shape()[0], 1});
  const Operand product = n.emit(Op::MatMul, MatMulAttrs{}, {a, b});
  Shape shape = product->shape();
  if (row) shape.erase(shape.end() - 2);
  if (column) shape.pop_back();
  return {n.reshape(product, shape)};
}

Results gemm(NodeImport& n) {
  if (n.opset() < 7) n.ignore("broadcast");
  GemmAttrs attrs;
  attrs.alpha = n.float_attr("alpha", 1);
  attrs.beta = n.float_attr("beta", 1);
  attrs.transpose_a = n.flag("transA", false);
  attrs.transpose_b = n.flag("transB", false);
  std::vector<Operand> operands = {n.input(0), n.input(1)};
  if (n.has_input(2)) operands.push_back(n.input(2));
  return {n.emit(Op::Gemm, attrs, operands)};
}

Results einsum(NodeImport& n) {
  const std::string equation = n.string_attr("equation", "");
  if (equation.empty()) n.invalid("attribute equation is missing");
  return {n.emit(Op::Einsum, EinsumAttrs{equation}, n.all_inputs())};
}

struct ConvOperands {
  std::vector<Operand> operands;  // x, w (, bias)
  Shape in, kernel;               // spatial extents
};

ConvOperands read_operands(NodeImport& n) {
  ConvOperands result{{n.input(0), n.input(1)}, {}, {}};
  if (n.has_input(2)) result.operands.push_back(n.input(2));
  const Shape &x = n.input(0)->shape(), &w = n.input(1)->shape();
  if (x.size() < 3 || w.size() != x.size())
    n.invalid(fmt::format("data {} and weights {} need one rank, 3 or more", to_string(n.input(0)->type),
                          to_string(n.input(1)->type)));
  result.in.assign(x.begin() + 2, x.end());
  result.kernel.assign(w.begin() + 2, w.end());
  n.bounded("weight extent", result.kernel, 1, kMaxStep);
  if (n.ints_attr("kernel_shape", result.kernel) != result.kernel)
    n.invalid("kernel_shape is not that of the weights");
  return result;
}

ConvAttrs conv_attrs(NodeImport& n, const Windows& windows) {
  ConvAttrs attrs;
  attrs.strides = windows.strides;
  attrs.dilations = windows.dilations;
  attrs.pads_before = windows.pads_before;
  attrs.pads_after = windows.pads_after;
  attrs.group = n.int_attr("group", 1);
  n.bounded("group", {attrs.group}, 1, kMaxStep);
  return attrs;
}

Results conv(NodeImport& n) {
  const ConvOperands in = read_operands(n);
  return {n.emit(Op::Conv, conv_attrs(n, read_windows(n, in.in, in.kernel)), in.operands)};
}

// The wanted output extents, if output_shape or auto_pad states them.
std::optional<Shape> wanted_extents(NodeImport& n, const Shape& in, const std::vector<int64_t>& strides,
                                    const std::string& auto_pad) {
  if (n.has("output_shape")) {
    Shape shape = n.ints_attr("output_shape", {});
    if (shape.size() == in.size() + 2)
      shape.erase(shape.begin(), shape.begin() + 2);  // written by some exporters
    if (shape.size() != in.size()) n.invalid("output_shape needs one entry per spatial axis");
    n.bounded("output_shape entry", shape, 1, kMaxOffset);
    return shape;
  }
  if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") return std::nullopt;
  Shape shape = in;
  for (size_t i = 0; i < in.size(); ++i) shape[i] *= strides[i];
  return shape;
}

Results conv_transpose(NodeImport& n) {
  const ConvOperands in = read_operands(n);
  const std::string auto_pad = n.string_attr("auto_pad", "NOTSET");
  // auto_pad speaks of another direction here; what read_windows makes of it is replaced below.
  ConvAttrs attrs = conv_attrs(n, read_windows(n, in.in, in.kernel));
  const size_t spatial = in.in.size();
  attrs.output_padding = n.ints_attr("output_padding", std::vector<int64_t>(spatial, 0));
  if (attrs.output_padding.size() != spatial) n.invalid("output_padding needs one entry per spatial axis");
  n.bounded("output_padding", attrs.output_padding, 0, kMaxStep);
  if (const auto wanted = wanted_extents(n, in.in, attrs.strides, auto_pad)) {
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t full = attrs.strides[i] * (in.in[i] - 1) + attrs.output_padding[i] +
                           (in.kernel[i] - 1) * attrs.dilations[i] + 1;
      const int64_t surplus = std::max<int64_t>(full - (*wanted)[i], 0);
      const int64_t larger = surplus - surplus / 2;
      attrs.pads_before[i] = auto_pad == "SAME_UPPER" ? surplus / 2 : larger;
      attrs.pads_after[i] = surplus - attrs.pads_before[i];
      attrs.output_padding[i] += std::max<int64_t>((*wanted)[i] - full, 0);
    }
  }
  return {n.emit(Op::ConvTranspose, attrs, in.operands)};
}

}  // namespace

const std::vector<RuleRow>& linear_rules() {
  static const std::vector<RuleRow> rows = {
      {"MatMul", matmul},
      {"Gemm", gemm},
      {"Einsum", einsum, 12},
      {"Conv", conv},
      {"ConvTranspose", conv_transpose},
  };
  return rows;
}

}  // namespace korch::onnx
