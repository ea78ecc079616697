// Layout primitives moved through elementwise primitives and reductions, where that lets them cancel.
#include <algorithm>
#include <optional>
#include <utility>

#include "korch/ir/index_map.h"
#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

constexpr int kMaxMoves = 6;  // primitives that are moved through

bool is_single(const Rewriter& r, ValueId value) {
  return r.elements(value) == 1;
}

// The producer of a Value that has one.
std::optional<Node> only_producer(const Rewriter& r, ValueId value) {
  const std::vector<NodeId>& makers = r.graph().value(value).producers;
  return makers.size() == 1 ? std::optional(r.node(makers[0])) : std::nullopt;
}

// The same where nothing else reads the Value.
std::optional<Node> own_producer(const Rewriter& r, ValueId value) {
  return r.has_one_reader(value) ? only_producer(r, value) : std::nullopt;
}

// The operand with ones in front, so that it has as many axes as what it broadcasts to.
ValueId with_rank(Rewriter& r, ValueId value, int64_t rank) {
  Shape shape = r.shape(value);
  shape.insert(shape.begin(), static_cast<size_t>(rank) - shape.size(), 1);
  return r.reshape(value, shape);
}

// One kind of layout primitive: how it cancels, and what becomes of it on its way.
class Transposition {
 public:
  explicit Transposition(const Node& node) : perm_(std::get<PermAttrs>(node.attrs).perm) {}

  ValueId emit(Rewriter& r, ValueId value) const { return r.transpose(value, perm_); }
  std::optional<ValueId> cancelled(Rewriter&, const Node& maker) const {
    if (maker.op != Op::Transpose) return std::nullopt;
    const auto& inner = std::get<PermAttrs>(maker.attrs).perm;
    for (size_t i = 0; i < perm_.size(); ++i)
      if (inner[static_cast<size_t>(perm_[i])] != static_cast<int64_t>(i)) return std::nullopt;
    return maker.inputs[0];
  }
  std::optional<ValueId> broadcast_constant(Rewriter& r, ValueId value) const {
    return emit(r, with_rank(r, value, static_cast<int64_t>(perm_.size())));
  }
  // The reduction after this one's passage, and this one before it.
  std::optional<std::pair<ReduceAttrs, Transposition>> before(const Rewriter&, const Node& reduce) const {
    ReduceAttrs moved = std::get<ReduceAttrs>(reduce.attrs);
    const std::vector<int64_t> axes = std::exchange(moved.axes, {});
    for (size_t i = 0; i < perm_.size(); ++i)
      if (std::count(axes.begin(), axes.end(), perm_[i]) != 0) moved.axes.push_back(static_cast<int64_t>(i));
    return std::pair(moved, *this);
  }

 private:
  std::vector<int64_t> perm_;
};

class View {
 public:
  explicit View(const Node& node) : shape_(std::get<ShapeAttrs>(node.attrs).shape) {}

  ValueId emit(Rewriter& r, ValueId value) const { return r.reshape(value, shape_); }
  std::optional<ValueId> cancelled(Rewriter& r, const Node& maker) const {
    if (maker.op != Op::Reshape || r.shape(maker.inputs[0]) != shape_) return std::nullopt;
    return maker.inputs[0];
  }
  std::optional<ValueId> broadcast_constant(Rewriter&, ValueId) const { return std::nullopt; }
  std::optional<std::pair<ReduceAttrs, View>> before(const Rewriter&, const Node&) const {
    return std::nullopt;
  }

 private:
  Shape shape_;
};

class Cut {
 public:
  explicit Cut(const Node& node) : cut_(std::get<SliceAttrs>(node.attrs)) {}

  ValueId emit(Rewriter& r, ValueId value) const { return r.emit(Op::Slice, cut_, {value}); }
  std::optional<ValueId> cancelled(Rewriter& r, const Node& maker) const {
    if (maker.op == Op::Concat) {
      const ValueId part = emit(r, maker.outputs[0]);
      const std::optional<Node> slice = r.producer(part, Op::Slice);
      return slice && slice->inputs[0] == maker.outputs[0] ? std::nullopt : std::optional(part);
    }
    if (maker.op != Op::Pad) return std::nullopt;
    const std::optional<SliceAttrs> inside = slice_through(index_maps(r.graph(), maker).operands[0], cut_);
    return inside ? std::optional(r.emit(Op::Slice, *inside, {maker.inputs[0]})) : std::nullopt;
  }
  std::optional<ValueId> broadcast_constant(Rewriter& r, ValueId value) const {
    value = with_rank(r, value, static_cast<int64_t>(cut_.starts.size()));
    SliceAttrs own = cut_;
    for (size_t axis = 0; axis < own.starts.size(); ++axis)
      if (r.shape(value)[axis] == 1) own.starts[axis] = 0, own.sizes[axis] = own.steps[axis] = 1;
    return r.emit(Op::Slice, own, {value});
  }
  std::optional<std::pair<ReduceAttrs, Cut>> before(const Rewriter& r, const Node& reduce) const {
    Cut whole = *this;
    for (const int64_t reduced : std::get<ReduceAttrs>(reduce.attrs).axes) {
      const auto axis = static_cast<size_t>(reduced);
      whole.cut_.starts[axis] = 0;
      whole.cut_.sizes[axis] = r.shape(reduce.inputs[0])[axis];
      whole.cut_.steps[axis] = 1;
    }
    return std::pair(std::get<ReduceAttrs>(reduce.attrs), whole);
  }

 private:
  SliceAttrs cut_;
};

bool is_plain_reduction(const Node& node) {
  const auto* attrs = std::get_if<ReduceAttrs>(&node.attrs);
  return info(node.op).category == Category::reduce && attrs != nullptr && attrs->keepdims;
}

// The layout primitive applied to the Value, where it cancels on the way towards the inputs.
template <typename Layout>
std::optional<ValueId> moved(Rewriter& r, const Layout& layout, ValueId value, int depth = 0) {
  if (r.is_constant(value)) return layout.emit(r, value);
  if (depth > kMaxMoves || is_single(r, value)) return std::nullopt;
  const std::optional<Node> maker = only_producer(r, value);
  if (!maker) return std::nullopt;
  if (depth > 0)
    if (const std::optional<ValueId> rest = layout.cancelled(r, *maker)) return rest;
  if (!r.has_one_reader(value)) return std::nullopt;
  if (is_plain_reduction(*maker)) {
    const auto before = layout.before(r, *maker);
    if (!before) return std::nullopt;
    const std::optional<ValueId> input = moved(r, before->second, maker->inputs[0], depth + 1);
    return input ? std::optional(r.emit(maker->op, before->first, {*input})) : std::nullopt;
  }
  if (info(maker->op).category != Category::elementwise) return std::nullopt;
  std::vector<ValueId> inputs = maker->inputs;
  for (ValueId& input : inputs) {
    std::optional<ValueId> operand;
    if (is_single(r, input))
      operand = r.reshape(input, {});
    else if (r.shape(input) == r.shape(value))
      operand = moved(r, layout, input, depth + 1);
    else if (r.is_constant(input))
      operand = layout.broadcast_constant(r, input);
    if (!operand) return std::nullopt;
    input = *operand;
  }
  return r.emit(maker->op, maker->attrs, inputs);
}

template <typename Layout>
void cancel(Rewriter& r, const Node& node) {
  const std::optional<ValueId> other = moved(r, Layout(node), node.inputs[0]);
  if (other && r.shape(*other) == r.shape(node.outputs[0])) r.equate(node.outputs[0], *other);
}

// What the parts were cut from, where together they are all of it, in order; through equal functions of one
// operand.
std::optional<ValueId> whole_of(Rewriter& r, const std::vector<ValueId>& parts, int64_t axis, int depth = 0) {
  const std::optional<Node> first = own_producer(r, parts[0]);
  if (!first || first->inputs.size() != 1 || depth > kMaxMoves) return std::nullopt;
  const bool is_function = info(first->op).category == Category::elementwise;
  if (!is_function && (first->op != Op::Slice || depth == 0)) return std::nullopt;
  std::vector<ValueId> inputs;
  int64_t start = 0;
  for (const ValueId part : parts) {
    const std::optional<Node> node = own_producer(r, part);
    if (!node || node->op != first->op || (is_function && node->attrs != first->attrs)) return std::nullopt;
    inputs.push_back(node->inputs[0]);
    if (is_function) continue;
    const auto& cut = std::get<SliceAttrs>(node->attrs);
    const Shape& from = r.shape(inputs[0]);
    for (size_t i = 0; i < from.size(); ++i) {
      const bool cuts_here = static_cast<int64_t>(i) == axis;
      if (cut.steps[i] != 1 || cut.starts[i] != (cuts_here ? start : 0) ||
          (!cuts_here && cut.sizes[i] != from[i]))
        return std::nullopt;
    }
    start += cut.sizes[static_cast<size_t>(axis)];
  }
  if (is_function) {
    const std::optional<ValueId> whole = whole_of(r, inputs, axis, depth + 1);
    return whole ? std::optional(r.emit(first->op, first->attrs, {*whole})) : std::nullopt;
  }
  const bool same = std::all_of(inputs.begin(), inputs.end(), [&](ValueId v) { return v == inputs[0]; });
  return same && start == r.shape(inputs[0])[static_cast<size_t>(axis)] ? std::optional(inputs[0])
                                                                        : std::nullopt;
}

}  // namespace

void layouts_cancel(Rewriter& r, NodeId id) {
  const Node node = r.node(id);
  if (node.op == Op::Transpose) return cancel<Transposition>(r, node);
  if (node.op == Op::Reshape) return cancel<View>(r, node);
  if (node.op == Op::Slice) return cancel<Cut>(r, node);
  if (node.op == Op::Concat) {
    const std::optional<ValueId> whole = whole_of(r, node.inputs, std::get<AxisAttrs>(node.attrs).axis);
    if (whole) r.equate(node.outputs[0], *whole);
    return;
  }
  KORCH_ASSERT(false, std::string("layouts_cancel looks at ") + name(node.op));
}

// Follows views and one Expand to what is repeated.
void function_before_repetition(Rewriter& r, NodeId id) {
  const Node function = r.node(id);
  ValueId repeated = kNoId;
  for (const ValueId input : function.inputs) {
    if (is_single(r, input)) continue;
    if (repeated != kNoId) return;
    repeated = input;
  }
  if (repeated == kNoId || r.shape(repeated) != r.shape(function.outputs[0])) return;
  std::vector<Node> between;  // the last one first
  ValueId value = repeated;
  bool expands = false;
  while (const std::optional<Node> node = own_producer(r, value)) {
    if (node->op != Op::Reshape && (node->op != Op::Expand || expands)) break;
    expands = expands || node->op == Op::Expand;
    between.push_back(*node);
    value = node->inputs[0];
    if (expands && node->op == Op::Reshape) break;
  }
  if (!expands || r.is_constant(value) || is_single(r, value)) return;
  std::vector<ValueId> inputs = function.inputs;
  for (ValueId& input : inputs) input = input == repeated ? value : r.reshape(input, {});
  ValueId result = r.emit(function.op, function.attrs, inputs);
  for (auto node = between.rbegin(); node != between.rend(); ++node)
    result = r.emit(node->op, node->attrs, {result});
  r.equate(function.outputs[0], result);
}

}  // namespace korch::rules
