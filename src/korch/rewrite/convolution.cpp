// Other forms of convolutions.
#include <algorithm>
#include <set>

#include "korch/ir/winograd.h"
#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

// Whether all that is read of what follows the Value element by element are pixels by pointwise convolutions.
bool feeds_pointwise(const Rewriter& r, ValueId value) {
  const std::vector<ValueId>& outputs = r.graph().outputs();
  std::vector<ValueId> open = {value};
  std::set<ValueId> seen = {value};
  while (!open.empty()) {
    const ValueId at = open.back();
    open.pop_back();
    const std::vector<NodeId> users = r.users(at);
    if (users.empty() || std::count(outputs.begin(), outputs.end(), at) != 0) return false;
    for (NodeId user : users) {
      const Node node = r.node(user);
      if (node.op == Op::Conv && node.inputs[0] == at && is_pointwise(r, node, true)) continue;
      const ValueId result = node.outputs[0];
      if (info(node.op).category != Category::elementwise || r.shape(result) != r.shape(at)) return false;
      if (seen.insert(result).second) open.push_back(result);
    }
  }
  return true;
}

// A Value [N, stride^2 x C, ...] that concatenates the phases of `base` [N, C, H, W]: phase stride i + j is
// every stride-th element from (i, j) on.
struct Phases {
  ValueId base = kNoId;
  int64_t stride = 0;
  std::vector<int64_t> part_of_phase;
};

std::optional<Phases> phases_as_channels(const Rewriter& r, ValueId value) {
  const std::optional<Node> concat = r.producer(value, Op::Concat);
  if (!concat || std::get<AxisAttrs>(concat->attrs).axis != 1 || r.elements(value) == 0) return std::nullopt;
  const std::optional<Node> first = r.producer(concat->inputs[0], Op::Slice);
  if (!first) return std::nullopt;
  Phases result{first->inputs[0], std::get<SliceAttrs>(first->attrs).steps[2], {}};
  const int64_t stride = result.stride;
  const Shape &base = r.shape(result.base), &part = r.shape(concat->inputs[0]);
  const auto parts = static_cast<int64_t>(concat->inputs.size());
  if (stride < 2 || base != Shape{part[0], part[1], stride * part[2], stride * part[3]} ||
      parts != stride * stride)
    return std::nullopt;
  result.part_of_phase.assign(concat->inputs.size(), kNoId);
  for (int64_t i = 0; i < parts; ++i) {
    const std::optional<Node> slice = r.producer(concat->inputs[static_cast<size_t>(i)], Op::Slice);
    if (!slice || slice->inputs[0] != result.base) return std::nullopt;
    const auto& attrs = std::get<SliceAttrs>(slice->attrs);
    if (attrs.steps != Shape{1, 1, stride, stride} || attrs.sizes != part || attrs.starts[2] >= stride ||
        attrs.starts[3] >= stride)
      return std::nullopt;
    int64_t& owner = result.part_of_phase[attrs.starts[2] * stride + attrs.starts[3]];
    if (owner != kNoId) return std::nullopt;
    owner = i;
  }
  return result;
}

// Whether a run's images are as large as their type says: at most how many there are is told by it, the first
// axis of inputs of images.
bool has_whole_images(const Graph& graph) {
  for (const OpenDimension& dimension : graph.open_dimensions())
    for (const auto& [input, axis] : dimension.axes)
      if (axis > 0 || graph.value(graph.inputs()[static_cast<size_t>(input)]).type.shape.size() < 4)
        return false;
  return true;
}

// The convolution by Winograd's three primitives, with such tiles.
void equate_tiled(Rewriter& r, const Node& node, const WinogradAttrs& tile) {
  const auto& conv = std::get<ConvAttrs>(node.attrs);
  WinogradAttrs input = tile, output = tile;
  input.pads_before = conv.pads_before;
  input.pads_after = conv.pads_after;
  output.shape = r.shape(node.outputs[0]);
  const ValueId v = r.emit(Op::WinogradInput, input, {node.inputs[0]});
  r.equate(node.outputs[0],
           r.emit(Op::WinogradOutput, output, {r.emit(Op::WinogradProduct, tile, {v, node.inputs[1]})}));
}

}  // namespace

void depthwise_as_window(Rewriter& r, NodeId id) {
  const Node node = r.node(id);
  const auto& conv = std::get<ConvAttrs>(node.attrs);
  const Shape w = r.shape(node.inputs[1]);
  if (w.size() != 4 || conv.group < 2 || conv.group != w[0] || w[1] != 1 || !r.is_constant(node.inputs[1]) ||
      !feeds_pointwise(r, node.outputs[0]))
    return;
  PoolAttrs pool;
  pool.kernel = {w[2], w[3]};
  pool.strides = conv.strides;
  pool.dilations = conv.dilations;
  pool.pads_before = conv.pads_before;
  pool.pads_after = conv.pads_after;
  const ValueId weights = r.transpose(r.reshape(node.inputs[1], {w[0], w[2], w[3]}), {1, 2, 0});
  r.equate(node.outputs[0], r.emit(Op::WindowDot, pool, {node.inputs[0], weights}));
}

void winograd(Rewriter& r, NodeId id) {
  const Node node = r.node(id);
  const auto& conv = std::get<ConvAttrs>(node.attrs);
  const Shape w = r.shape(node.inputs[1]);
  const auto ones = [](const std::vector<int64_t>& items) {
    return std::all_of(items.begin(), items.end(), [](int64_t item) { return item == 1; });
  };
  if (w.size() != 4 || w[2] != w[3] || conv.group != 1 || !ones(conv.strides) || !ones(conv.dilations) ||
      !r.is_constant(node.inputs[1]) || !r.is_float32(node.inputs[0]) || !r.is_float32(node.inputs[1]) ||
      r.elements(node.outputs[0]) == 0 || r.elements(node.inputs[0]) == 0)
    return;
  // A tile may lie across an extent of the run. What is there is masked where a window reads it: if it is
  // padded.
  const int64_t least_padding = *std::min_element(conv.pads_after.begin(), conv.pads_after.end());
  if (least_padding == 0 && !has_whole_images(r.graph())) return;
  constexpr double kFewer = 0.8;  // of the products of larger tiles, so that smaller ones cannot pay
  double products_before = 0;
  for (int64_t inputs : kWinogradInputs) {
    WinogradAttrs attrs;
    attrs.tile = inputs - w[2] + 1;
    attrs.taps = w[2];
    if (!is_winograd(attrs.tile, attrs.taps)) continue;
    const int64_t tiles = WinogradTiles(attrs, r.shape(node.outputs[0])).count();
    const auto products = static_cast<double>(inputs * inputs * tiles);
    if (tiles > kFewTiles && products_before > 0 && products_before < kFewer * products) continue;
    products_before = products;
    equate_tiled(r, node, attrs);
  }
}

void strassen(Rewriter& r, NodeId id) {
  constexpr int64_t kFewestChannels = 128;  // fewer, and the sums take what the products save
  const Node conv = r.node(id);
  if (r.rank(conv.inputs[0]) != 4 || !is_pointwise(r, conv) || !r.is_float32(conv.inputs[0]) ||
      !r.is_float32(conv.inputs[1]) || r.elements(conv.outputs[0]) == 0)
    return;
  const Shape w = r.shape(conv.inputs[1]);
  if (std::min(w[0], w[1]) < kFewestChannels || w[0] % kStrassenHalves != 0 || w[1] % kStrassenHalves != 0)
    return;
  // Behind an extent of the run there may be anything: no pixel of an image may be paired with one of
  // another.
  const Shape x = r.shape(conv.inputs[0]);
  if (!r.graph().extents().empty() && x[2] * x[3] % kStrassenPixels != 0) return;
  if (!has_whole_images(r.graph())) return;
  WinogradAttrs attrs;
  attrs.tile = kStrassenPixels;
  attrs.taps = 1;
  equate_tiled(r, conv, attrs);
}

// Tap t of phase i is tap stride t + i.
void phases_into_strided_convolution(Rewriter& r, NodeId id) {
  const Node conv = r.node(id);
  if (!is_plain_convolution(r, conv)) return;
  const std::optional<Phases> input = phases_as_channels(r, conv.inputs[0]);
  if (!input) return;
  const int64_t stride = input->stride, count = stride * stride;
  const Shape w = r.shape(conv.inputs[1]);
  const ValueId order = r.emit(
      Op::Constant, ConstantAttrs{HostTensor::of<int64_t>(DType::i64, {count}, input->part_of_phase)}, {});
  const int64_t channels = w[1] / count;
  ValueId weights = r.emit(Op::Gather, AxisAttrs{1},
                           {r.reshape(conv.inputs[1], {w[0], count, channels, w[2], w[3]}), order});
  weights = r.transpose(r.reshape(weights, {w[0], stride, stride, channels, w[2], w[3]}), {0, 3, 4, 1, 5, 2});
  ConvAttrs attrs = std::get<ConvAttrs>(conv.attrs);
  attrs.strides = {stride, stride};
  for (size_t a = 0; a < 2; ++a) {
    attrs.pads_before[a] *= stride;
    attrs.pads_after[a] *= stride;
  }
  r.equate(conv.outputs[0],
           r.emit(Op::Conv, attrs,
                  {input->base, r.reshape(weights, {w[0], channels, w[2] * stride, w[3] * stride})}));
}

// The outputs at o + pad = stride q + phase are a convolution with every stride-th tap, beginning at the
// phase, in reverse order: all phases are features of one convolution, which are then interleaved.
void transposed_convolution_as_convolution(Rewriter& r, NodeId id) {
  const Node node = r.node(id);
  const auto& attrs = std::get<ConvAttrs>(node.attrs);
  const Shape in = r.shape(node.inputs[0]), out = r.shape(node.outputs[0]), w = r.shape(node.inputs[1]);
  const size_t axes = in.size() - 2;
  if (attrs.group != 1 || !r.is_constant(node.inputs[1]) ||
      std::any_of(attrs.dilations.begin(), attrs.dilations.end(), [](int64_t d) { return d != 1; }))
    return;
  ConvAttrs conv;
  conv.strides = conv.dilations = std::vector<int64_t>(axes, 1);
  std::vector<int64_t> taps(axes), places(axes);  // per phase: taps, and outputs
  for (size_t a = 0; a < axes; ++a) {
    const int64_t stride = attrs.strides[a];
    taps[a] = (w[a + 2] + stride - 1) / stride;
    places[a] = (out[a + 2] + attrs.pads_before[a] + stride - 1) / stride;
    conv.pads_before.push_back(taps[a] - 1);
    conv.pads_after.push_back(places[a] - in[a + 2]);
    if (conv.pads_after[a] < 0) return;
  }
  // Weights [C, M, k...] -> [C, M, taps, stride, ...], taps reversed -> [stride..., M, C, taps...].
  PadAttrs pad{Shape(w.size(), 0), Shape(w.size(), 0), PadMode::constant, 0};
  Shape split = {w[0], w[1]}, final_weights = {w[1], w[0]};
  std::vector<int64_t> weights_perm, taps_axes;
  for (size_t a = 0; a < axes; ++a) {
    const int64_t stride = attrs.strides[a];
    pad.after[a + 2] = taps[a] * stride - w[a + 2];
    split.push_back(taps[a]);
    split.push_back(stride);
    weights_perm.push_back(static_cast<int64_t>(3 + 2 * a));
    taps_axes.push_back(static_cast<int64_t>(2 + 2 * a));
    final_weights[0] *= stride;
    final_weights.push_back(taps[a]);
  }
  weights_perm.insert(weights_perm.end(), {1, 0});
  weights_perm.insert(weights_perm.end(), taps_axes.begin(), taps_axes.end());
  const bool is_padded = pad.after != Shape(w.size(), 0);
  ValueId weights = r.reshape(is_padded ? r.emit(Op::Pad, pad, {node.inputs[1]}) : node.inputs[1], split);
  SliceAttrs reverse{Shape(split.size(), 0), split, Shape(split.size(), 1)};
  for (int64_t axis : taps_axes) {
    reverse.starts[axis] = split[axis] - 1;
    if (split[axis] > 1) reverse.steps[axis] = -1;
  }
  weights = r.reshape(r.transpose(r.emit(Op::Slice, reverse, {weights}), weights_perm), final_weights);
  ValueId y = r.emit(Op::Conv, conv, {node.inputs[0], weights});
  // [N, stride... x M, places...] -> [N, M, places, stride, ...]
  Shape apart = {in[0]}, together = {in[0], w[1]};
  std::vector<int64_t> perm = {0, static_cast<int64_t>(axes) + 1};
  for (size_t a = 0; a < axes; ++a) apart.push_back(attrs.strides[a]);
  apart.push_back(w[1]);
  SliceAttrs cut{Shape(out.size(), 0), out, Shape(out.size(), 1)};
  for (size_t a = 0; a < axes; ++a) {
    apart.push_back(places[a]);
    perm.push_back(static_cast<int64_t>(axes + 2 + a));
    perm.push_back(static_cast<int64_t>(1 + a));
    together.push_back(places[a] * attrs.strides[a]);
    cut.starts[a + 2] = attrs.pads_before[a];
  }
  y = r.reshape(r.transpose(r.reshape(y, apart), perm), together);
  r.equate(node.outputs[0], r.emit(Op::Slice, cut, {y}));
}

}  // namespace korch::rules
