// Linear primitives next to linear primitives: what may change places, and what becomes one.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

// A region of primitives that computes every channel of `result` [N, C, ...] from the same channel of `base`,
// linearly and in the same way for all channels and images.
struct ChannelwiseMap {
  ValueId base = kNoId;
  std::vector<NodeId> nodes;  // in topological order, the last one makes the result
};

// Of a slice, reshape or expansion: whether each channel holds what it did, of the same image.
bool keeps_channels(const Rewriter& r, const Node& node) {
  const Shape &in = r.shape(node.inputs[0]), &out = r.shape(node.outputs[0]);
  if (in.size() < 2 || out.size() < 2 || in[0] != out[0] || in[1] != out[1]) return false;
  if (node.op == Op::Expand) return in.size() == out.size();  // else axes of the same extent are others
  if (node.op != Op::Slice) return true;
  const std::vector<int64_t>& steps = std::get<SliceAttrs>(node.attrs).steps;
  return steps[0] == 1 && steps[1] == 1;  // not backwards
}

// The Values that the node reads as such a map does; empty when it is none.
std::vector<ValueId> channelwise_operands(const Rewriter& r, const Node& node) {
  const Shape& out = r.shape(node.outputs[0]);
  const auto reads = [&](size_t i) { return std::vector<ValueId>{node.inputs[i]}; };
  if (out.size() < 3) return {};
  if (node.op == Op::Gather) {
    const int64_t axis = std::get<AxisAttrs>(node.attrs).axis;
    return axis >= 2 && r.is_constant(node.inputs[1]) ? reads(0) : std::vector<ValueId>{};
  }
  if (node.op == Op::Slice || node.op == Op::Reshape || node.op == Op::Expand)
    return keeps_channels(r, node) ? reads(0) : std::vector<ValueId>{};
  if (node.op == Op::Add || node.op == Op::Sub) {
    const bool both = r.shape(node.inputs[0]) == out && r.shape(node.inputs[1]) == out;
    return both ? node.inputs : std::vector<ValueId>{};
  }
  if (node.op == Op::Mul || node.op == Op::Div) {
    const size_t factor = r.is_constant(node.inputs[1]) ? 1 : 0;
    if (!r.is_constant(node.inputs[factor]) || (factor == 0 && node.op == Op::Div)) return {};
    const Shape& shape = r.shape(node.inputs[factor]);
    const size_t missing = out.size() - std::min(out.size(), shape.size());
    for (size_t axis = missing; axis < 2; ++axis)
      if (shape[axis - missing] != 1) return {};
    return r.shape(node.inputs[1 - factor]) == out ? reads(1 - factor) : std::vector<ValueId>{};
  }
  return {};
}

// The map that makes the Value from the fewest elements, where these are fewer than its own. A Value's first
// producer is followed.
std::optional<ChannelwiseMap> upsampling_of(const Rewriter& r, ValueId result) {
  const std::vector<NodeId>& makers = r.graph().value(result).producers;
  if (makers.empty() || channelwise_operands(r, r.graph().node(makers[0])).empty()) return std::nullopt;
  std::vector<NodeId> order = r.graph().topological_order();
  std::vector<size_t> place(r.graph().node_count());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const auto latest = [&](ValueId a, ValueId b) {
    const auto at = [&](ValueId v) {
      const auto& makers = r.graph().value(v).producers;
      return makers.empty() ? size_t{0} : place[makers[0]] + 1;
    };
    return at(a) < at(b);
  };
  std::set<ValueId> frontier = {result};
  std::vector<NodeId> nodes;
  std::optional<ChannelwiseMap> best;
  while (!frontier.empty()) {
    const ValueId value = *std::max_element(frontier.begin(), frontier.end(), latest);
    if (frontier.size() == 1 && value != result && r.rank(value) == r.rank(result) &&
        r.elements(value) < (best ? r.elements(best->base) : r.elements(result)))
      best = ChannelwiseMap{value, nodes};
    if (r.graph().is_input(value) || r.is_constant(value)) break;
    const NodeId maker = r.graph().value(value).producers[0];
    const std::vector<ValueId> operands = channelwise_operands(r, r.graph().node(maker));
    if (operands.empty()) break;
    nodes.push_back(maker);
    frontier.erase(value);
    frontier.insert(operands.begin(), operands.end());
  }
  if (best) std::reverse(best->nodes.begin(), best->nodes.end());
  return best;
}

// The node's attributes when the channels are `channels`.
Attrs with_channels(const Attrs& attrs, Op op, int64_t channels) {
  Attrs result = attrs;
  if (op == Op::Reshape || op == Op::Expand) std::get<ShapeAttrs>(result).shape[1] = channels;
  if (op == Op::Slice) std::get<SliceAttrs>(result).sizes[1] = channels;
  return result;
}

}  // namespace

void convolution_over_concat(Rewriter& r, NodeId id) {
  const Node conv = r.node(id);
  if (std::get<ConvAttrs>(conv.attrs).group != 1 || !r.is_constant(conv.inputs[1])) return;
  const std::optional<Node> concat = r.producer(conv.inputs[0], Op::Concat);
  if (!concat || std::get<AxisAttrs>(concat->attrs).axis != 1) return;
  const bool pays = std::any_of(concat->inputs.begin(), concat->inputs.end(),
                                [&](ValueId part) { return upsampling_of(r, part).has_value(); });
  if (!pays) return;
  ValueId sum = kNoId;
  int64_t channel = 0;
  for (ValueId part : concat->inputs) {
    const int64_t channels = r.shape(part)[1];
    const ValueId weights = r.slice(conv.inputs[1], 1, channel, channels);
    const ValueId term = r.emit(Op::Conv, conv.attrs, {part, weights});
    sum = sum == kNoId ? term : r.emit(Op::Add, {sum, term});
    channel += channels;
  }
  r.equate(conv.outputs[0], sum);
}

void channel_map_before_upsampling(Rewriter& r, NodeId id) {
  const Node conv = r.node(id);
  if (!is_pointwise(r, conv)) return;
  const std::optional<ChannelwiseMap> map = upsampling_of(r, conv.inputs[0]);
  if (!map) return;
  const int64_t channels = r.shape(conv.inputs[1])[0];
  std::map<ValueId, ValueId> mapped = {
      {map->base, r.emit(Op::Conv, conv.attrs, {map->base, conv.inputs[1]})}};
  ValueId last = kNoId;
  for (NodeId inner : map->nodes) {
    const Node node = r.node(inner);
    std::vector<ValueId> inputs = node.inputs;
    for (ValueId& input : inputs)
      if (const auto found = mapped.find(input); found != mapped.end()) input = found->second;
    last = r.emit(node.op, with_channels(node.attrs, node.op, channels), inputs);
    mapped[node.outputs[0]] = last;
  }
  r.equate(conv.outputs[0], last);
}

void pointwise_convolution_as_matmul(Rewriter& r, NodeId id) {
  const Node conv = r.node(id);
  if (!is_pointwise(r, conv) || r.rank(conv.inputs[0]) != 4) return;
  const std::vector<int64_t> to_rows = {0, 2, 3, 1}, to_images = {0, 3, 1, 2};
  const std::optional<Node> from_rows = r.producer(conv.inputs[0], Op::Transpose);
  if (!from_rows || std::get<PermAttrs>(from_rows->attrs).perm != to_images) return;
  const Shape in = r.shape(conv.inputs[0]), out = r.shape(conv.outputs[0]), weights = r.shape(conv.inputs[1]);
  const ValueId rows = r.reshape(r.transpose(conv.inputs[0], to_rows), {in[0], in[2] * in[3], in[1]});
  const ValueId matrix = r.reshape(conv.inputs[1], {weights[0], weights[1]});
  const ValueId product = r.emit(Op::MatMul, MatMulAttrs{false, true}, {rows, matrix});
  r.equate(conv.outputs[0], r.transpose(r.reshape(product, {out[0], out[2], out[3], out[1]}), to_images));
}

void compose_constant_matmuls(Rewriter& r, NodeId id) {
  const Node outer = r.node(id);
  if (!r.is_constant(outer.inputs[1]) || r.rank(outer.inputs[1]) != 2) return;
  if (std::get<MatMulAttrs>(outer.attrs).transpose_a) return;
  const MatMulAttrs by_outer{false, std::get<MatMulAttrs>(outer.attrs).transpose_b};
  // x A + b, or x A; views between that keep the rows whole are looked through.
  ValueId inner_value = behind_views_of_rows(r, outer.inputs[0]);
  ValueId bias = kNoId;
  if (const std::optional<Node> add = r.producer(inner_value, Op::Add)) {
    const size_t constant = r.is_constant(add->inputs[0]) ? 0 : 1;
    const Shape& shape = r.shape(add->inputs[constant]);
    if (!r.is_constant(add->inputs[constant]) || shape.empty() || element_count(shape) != shape.back())
      return;
    if (shape.back() != r.shape(inner_value).back()) return;
    bias = add->inputs[constant];
    if (r.shape(add->inputs[1 - constant]) != r.shape(inner_value)) return;
    inner_value = add->inputs[1 - constant];
  }
  const std::optional<Node> inner = r.producer(inner_value, Op::MatMul);
  if (!inner || !r.is_constant(inner->inputs[1]) || r.rank(inner->inputs[1]) != 2) return;
  const auto& by_inner = std::get<MatMulAttrs>(inner->attrs);
  const int64_t k = r.shape(inner->inputs[1])[by_inner.transpose_b ? 1 : 0];
  const int64_t j = r.shape(inner->inputs[1])[by_inner.transpose_b ? 0 : 1];
  const int64_t n = r.shape(outer.outputs[0]).back();
  if (k * n >= k * j + j * n) return;
  r.covers({*inner});
  // (x A) B = x (A B); A may be stored transposed, and so must A B be then: B^T A^T.
  const ValueId product =
      by_inner.transpose_b
          ? r.emit(Op::MatMul, MatMulAttrs{!by_outer.transpose_b, false}, {outer.inputs[1], inner->inputs[1]})
          : r.emit(Op::MatMul, by_outer, {inner->inputs[1], outer.inputs[1]});
  ValueId result = r.emit(Op::MatMul, inner->attrs, {inner->inputs[0], product});
  if (bias != kNoId) {
    const ValueId moved = r.emit(Op::MatMul, by_outer, {r.reshape(bias, {1, j}), outer.inputs[1]});
    result = r.emit(Op::Add, {result, r.reshape(moved, {n})});
  }
  r.equate(outer.outputs[0], r.reshape(result, r.shape(outer.outputs[0])));
}

}  // namespace korch::rules
