// Linear primitives that share an input are one with more features, and one is several with fewer.
#include <algorithm>
#include <optional>

#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

constexpr int64_t kFewFeatures = 24;  // fewer than two vectors do not fill the registers of a tile
constexpr int kMaxBetween = 6;        // primitives between a slice and the linear one that it moves through

struct Range {
  int64_t start, size, step;
};

// Extents before the axis are `shape`'s.
bool same_up_to(const Shape& a, const Shape& b, int64_t axis) {
  return static_cast<int64_t>(std::min(a.size(), b.size())) > axis &&
         std::equal(a.begin(), a.begin() + axis + 1, b.begin());
}

// Which elements of a Value are wanted, along one axis.
class Selection {
 public:
  Selection(Rewriter& r, std::vector<Range> ranges) : r_(r), ranges_(std::move(ranges)) {}

  // The wanted part of the Value, computed from a linear primitive with fewer features; nothing where no
  // linear primitive with constant weights stands behind the Value.
  std::optional<ValueId> of(ValueId value, int64_t axis, int depth = 0) {
    if (depth > kMaxBetween) return std::nullopt;
    const std::vector<NodeId> makers = r_.graph().value(value).producers;
    for (NodeId maker : makers)
      if (const std::optional<ValueId> part = of_node(r_.node(maker), axis, depth)) return part;
    return std::nullopt;
  }

 private:
  std::optional<ValueId> of_node(const Node& node, int64_t axis, int depth) {
    if (const std::optional<Features> features = features_of(r_, node)) {
      if (features->of_output != axis) return std::nullopt;
      return r_.emit(node.op, node.attrs, {node.inputs[0], cut(node.inputs[1], features->of_weights)});
    }
    const Category category = info(node.op).category;
    if (category == Category::elementwise) return of_elementwise(node, axis, depth);
    if (node.op == Op::Reshape) {
      const Shape in = r_.shape(node.inputs[0]);
      Shape out = r_.shape(node.outputs[0]);
      if (!same_up_to(in, out, axis)) return std::nullopt;
      const std::optional<ValueId> part = of(node.inputs[0], axis, depth + 1);
      if (!part) return std::nullopt;
      out[static_cast<size_t>(axis)] = r_.shape(*part)[static_cast<size_t>(axis)];
      return r_.reshape(*part, out);
    }
    if (node.op == Op::Transpose) {
      const auto& perm = std::get<PermAttrs>(node.attrs).perm;
      const std::optional<ValueId> part = of(node.inputs[0], perm[static_cast<size_t>(axis)], depth + 1);
      return part ? std::optional(r_.transpose(*part, perm)) : std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<ValueId> of_elementwise(const Node& node, int64_t axis, int depth) {
    std::vector<ValueId> inputs = node.inputs;
    bool reaches = false;
    for (ValueId& input : inputs) {
      const int64_t own_axis = axis - (r_.rank(node.outputs[0]) - r_.rank(input));
      if (own_axis < 0 || r_.shape(input)[static_cast<size_t>(own_axis)] == 1) continue;
      if (r_.is_constant(input)) {
        input = cut(input, own_axis);
        continue;
      }
      const std::optional<ValueId> part = of(input, own_axis, depth + 1);
      if (!part) return std::nullopt;
      input = *part;
      reaches = true;
    }
    return reaches ? std::optional(r_.emit(node.op, node.attrs, inputs)) : std::nullopt;
  }

  ValueId cut(ValueId value, int64_t axis) {
    std::vector<ValueId> parts;
    for (const Range& range : ranges_)
      parts.push_back(r_.slice(value, axis, range.start, range.size, range.step));
    return r_.concat(parts, axis);
  }

  Rewriter& r_;
  const std::vector<Range> ranges_;
};

// The only axis along which the slice takes less than everything.
std::optional<int64_t> only_cut_axis(const Rewriter& r, const Node& slice) {
  const auto& attrs = std::get<SliceAttrs>(slice.attrs);
  const Shape& shape = r.shape(slice.inputs[0]);
  std::optional<int64_t> axis;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (attrs.sizes[i] == shape[i] && attrs.steps[i] == 1) continue;
    if (axis) return std::nullopt;
    axis = static_cast<int64_t>(i);
  }
  return axis;
}

Range range_of(const Node& slice, int64_t axis) {
  const auto& attrs = std::get<SliceAttrs>(slice.attrs);
  const auto i = static_cast<size_t>(axis);
  return {attrs.starts[i], attrs.sizes[i], attrs.steps[i]};
}

// Continues merged primitives through the elementwise ones that follow all of them alike.
class MergedChain {
 public:
  MergedChain(Rewriter& r, std::vector<ValueId> parts, ValueId merged, int64_t axis)
      : r_(r), parts_(std::move(parts)), merged_(merged), axis_(axis) {}

  void run() {
    while (step()) {
    }
    int64_t start = 0;
    for (ValueId part : parts_) {
      const int64_t extent = r_.shape(part)[static_cast<size_t>(axis_)];
      r_.equate(part, r_.slice(merged_, axis_, start, extent));
      start += extent;
    }
  }

 private:
  bool step() {
    std::vector<Node> next;
    for (ValueId part : parts_) {
      const std::vector<NodeId> users = r_.users(part);
      const auto& outputs = r_.graph().outputs();
      if (users.size() != 1 || std::count(outputs.begin(), outputs.end(), part) != 0) return false;
      const Node user = r_.node(users[0]);
      if (info(user.op).category != Category::elementwise || user.inputs.size() > 2) return false;
      if (!next.empty() && (user.op != next[0].op || user.attrs != next[0].attrs)) return false;
      next.push_back(user);
    }
    r_.covers(next);
    if (next[0].inputs.size() == 1) {
      merged_ = r_.emit(next[0].op, next[0].attrs, {merged_});
    } else {
      const size_t own = next[0].inputs[0] == parts_[0] ? 0 : 1;
      std::vector<ValueId> operands;
      for (size_t i = 0; i < next.size(); ++i) {
        const ValueId operand = next[i].inputs[1 - own];
        if (next[i].inputs[own] != parts_[i] || r_.shape(next[i].outputs[0]) != r_.shape(parts_[i]) ||
            !is_along(r_, operand, next[i].outputs[0], axis_) ||
            r_.rank(operand) != r_.rank(next[0].inputs[1 - own]))
          return false;
        operands.push_back(operand);
      }
      const ValueId operand = r_.concat(operands, axis_ - (r_.rank(merged_) - r_.rank(operands[0])));
      merged_ = own == 0 ? r_.emit(next[0].op, next[0].attrs, {merged_, operand})
                         : r_.emit(next[0].op, next[0].attrs, {operand, merged_});
    }
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i] = next[i].outputs[0];
    return true;
  }

  Rewriter& r_;
  std::vector<ValueId> parts_;
  ValueId merged_;
  const int64_t axis_;
};

}  // namespace

void merge_linear(Rewriter& r, NodeId id) {
  const Node first = r.node(id);
  const std::optional<Features> features = features_of(r, first);
  if (!features || r.graph().constant(first.inputs[1]) == nullptr) return;
  const auto mergeable = [&](const Node& node) {
    if (node.op != first.op || node.attrs != first.attrs || node.inputs[0] != first.inputs[0]) return false;
    if (!features_of(r, node) || r.graph().constant(node.inputs[1]) == nullptr) return false;
    Shape a = r.shape(first.inputs[1]), b = r.shape(node.inputs[1]);
    a[static_cast<size_t>(features->of_weights)] = b[static_cast<size_t>(features->of_weights)];
    return a == b;
  };
  std::vector<Node> all;
  std::vector<ValueId> weights, parts;
  for (NodeId user : r.users(first.inputs[0])) {
    const Node node = r.node(user);
    if (!mergeable(node)) continue;
    if (user < id) return;  // done for the first of them
    all.push_back(node);
    weights.push_back(node.inputs[1]);
    parts.push_back(node.outputs[0]);
  }
  const bool small = std::any_of(parts.begin(), parts.end(), [&](ValueId part) {
    return r.shape(part)[static_cast<size_t>(features->of_output)] <= kFewFeatures;
  });
  if (parts.size() < 2 || !small) return;
  r.covers(all);
  const ValueId merged =
      r.emit(first.op, first.attrs, {first.inputs[0], r.concat(weights, features->of_weights)});
  MergedChain(r, parts, merged, features->of_output).run();
}

void slice_before_linear(Rewriter& r, NodeId id) {
  const Node slice = r.node(id);
  const std::optional<int64_t> axis = only_cut_axis(r, slice);
  if (!axis || r.shape(slice.outputs[0])[static_cast<size_t>(*axis)] < kVector) return;
  if (const std::optional<ValueId> part = Selection(r, {range_of(slice, *axis)}).of(slice.inputs[0], *axis))
    r.equate(slice.outputs[0], *part);
}

void concat_of_slices_before_linear(Rewriter& r, NodeId id) {
  const Node concat = r.node(id);
  const int64_t axis = std::get<AxisAttrs>(concat.attrs).axis;
  ValueId whole = kNoId;
  std::vector<Range> ranges;
  for (ValueId part : concat.inputs) {
    const std::optional<Node> slice = r.producer(part, Op::Slice);
    if (!slice || only_cut_axis(r, *slice) != axis || (whole != kNoId && slice->inputs[0] != whole)) return;
    whole = slice->inputs[0];
    ranges.push_back(range_of(*slice, axis));
  }
  if (ranges.size() < 2) return;
  if (const std::optional<ValueId> part = Selection(r, ranges).of(whole, axis))
    r.equate(concat.outputs[0], *part);
}

}  // namespace korch::rules
