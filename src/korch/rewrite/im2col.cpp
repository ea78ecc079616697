// Convolution as im2col and a product.

#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

// The axis as [taps, places]: what each tap reads for each output.
ValueId windows_along(Rewriter& r, ValueId x, int64_t axis, int64_t taps, int64_t stride, int64_t dilation,
                      int64_t places) {
  const auto a = static_cast<size_t>(axis);
  Shape apart = r.shape(x);
  apart[a] = taps;
  apart.insert(apart.begin() + axis + 1, places);
  if (taps == 1) return r.reshape(r.slice(x, axis, 0, places, stride), apart);
  if (taps == stride && dilation == 1) {  // windows next to each other
    std::swap(apart[a], apart[a + 1]);
    std::vector<int64_t> perm;
    for (int64_t i = 0; i < static_cast<int64_t>(apart.size()); ++i) perm.push_back(i);
    std::swap(perm[a], perm[a + 1]);
    return r.transpose(r.reshape(r.slice(x, axis, 0, taps * places), apart), perm);
  }
  std::vector<int64_t> positions;
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t place = 0; place < places; ++place) positions.push_back(tap * dilation + place * stride);
  const ValueId indices = r.emit(
      Op::Constant,
      ConstantAttrs{HostTensor::of<int64_t>(DType::i64, {static_cast<int64_t>(positions.size())}, positions)},
      {});
  return r.reshape(r.emit(Op::Gather, AxisAttrs{axis}, {x, indices}), apart);
}

}  // namespace

void convolution_as_matmul(Rewriter& r, NodeId id) {
  const Node conv = r.node(id);
  const auto& attrs = std::get<ConvAttrs>(conv.attrs);
  const Shape in = r.shape(conv.inputs[0]), w = r.shape(conv.inputs[1]), out = r.shape(conv.outputs[0]);
  if (w.size() != 4 || w[2] * w[3] == 1 || attrs.group != 1 || !r.is_constant(conv.inputs[1]) ||
      !r.is_float32(conv.inputs[0]))
    return;
  const double copied =
      static_cast<double>(in[0] * out[2] * out[3]) * static_cast<double>(w[1] * w[2] * w[3]);
  if (copied > static_cast<double>(r.elements(conv.inputs[0]) + r.elements(conv.outputs[0]))) return;
  const PadAttrs border{{0, 0, attrs.pads_before[0], attrs.pads_before[1]},
                        {0, 0, attrs.pads_after[0], attrs.pads_after[1]},
                        PadMode::constant,
                        0};
  ValueId x = conv.inputs[0];
  if (border.before != Shape(4, 0) || border.after != Shape(4, 0)) x = r.emit(Op::Pad, border, {x});
  x = windows_along(r, x, 2, w[2], attrs.strides[0], attrs.dilations[0], out[2]);
  x = windows_along(r, x, 4, w[3], attrs.strides[1], attrs.dilations[1], out[3]);
  // [N, C, taps, places, taps, places] -> [N, C x taps x taps, places, places]
  x = r.reshape(r.transpose(x, {0, 1, 2, 4, 3, 5}), {in[0], w[1] * w[2] * w[3], out[2], out[3]});
  const ValueId matrix = r.reshape(conv.inputs[1], {w[0], w[1] * w[2] * w[3], 1, 1});
  r.equate(conv.outputs[0], r.emit(Op::Conv, plain_convolution({0, 0}, {0, 0}), {x, matrix}));
}

}  // namespace korch::rules
