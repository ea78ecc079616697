#include "korch/rewrite/linear_patterns.h"

#include <algorithm>

namespace korch::rules {

bool is_pointwise(const Rewriter& r, const Node& conv, bool grouped) {
  if (conv.op != Op::Conv || !r.is_constant(conv.inputs[1])) return false;
  const auto& attrs = std::get<ConvAttrs>(conv.attrs);
  const auto all = [](const std::vector<int64_t>& items, int64_t wanted) {
    return std::all_of(items.begin(), items.end(), [&](int64_t item) { return item == wanted; });
  };
  const Shape& weights = r.shape(conv.inputs[1]);
  return (grouped || attrs.group == 1) && all(attrs.strides, 1) && all(attrs.pads_before, 0) &&
         all(attrs.pads_after, 0) &&
         std::all_of(weights.begin() + 2, weights.end(), [](int64_t extent) { return extent == 1; });
}

bool is_plain_convolution(const Rewriter& r, const Node& conv) {
  if (conv.op != Op::Conv || r.rank(conv.inputs[0]) != 4 || !r.is_float32(conv.inputs[0])) return false;
  const auto& attrs = std::get<ConvAttrs>(conv.attrs);
  const std::vector<int64_t> ones = {1, 1};
  return r.is_constant(conv.inputs[1]) && attrs.group == 1 && attrs.strides == ones &&
         attrs.dilations == ones;
}

ConvAttrs plain_convolution(std::vector<int64_t> before, std::vector<int64_t> after) {
  ConvAttrs attrs;
  attrs.strides = attrs.dilations = {1, 1};
  attrs.pads_before = std::move(before);
  attrs.pads_after = std::move(after);
  return attrs;
}

std::optional<Features> features_of(const Rewriter& r, const Node& node) {
  if (node.op == Op::Conv && std::get<ConvAttrs>(node.attrs).group == 1 && r.is_constant(node.inputs[1]))
    return Features{1, 0};
  if (node.op == Op::MatMul && r.is_constant(node.inputs[1]) && r.rank(node.inputs[1]) == 2)
    return Features{r.rank(node.outputs[0]) - 1, std::get<MatMulAttrs>(node.attrs).transpose_b ? 0 : 1};
  return std::nullopt;
}

bool is_view_of_rows(const Rewriter& r, const Node& node) {
  if (node.op != Op::Reshape) return false;
  const Shape &in = r.shape(node.inputs[0]), &out = r.shape(node.outputs[0]);
  return in.size() >= 2 && !out.empty() && in.back() == out.back();
}

ValueId behind_views_of_rows(const Rewriter& r, ValueId value) {
  std::optional<Node> view = r.producer(value, Op::Reshape);
  while (view && is_view_of_rows(r, *view)) {
    value = view->inputs[0];
    view = r.producer(value, Op::Reshape);
  }
  return value;
}

bool is_along(const Rewriter& r, ValueId operand, ValueId result, int64_t axis) {
  const int64_t own_axis = axis - (r.rank(result) - r.rank(operand));
  return r.is_constant(operand) && own_axis >= 0 &&
         r.shape(operand)[static_cast<size_t>(own_axis)] == r.shape(result)[static_cast<size_t>(axis)] &&
         r.elements(operand) == r.shape(result)[static_cast<size_t>(axis)];
}

}  // namespace korch::rules
