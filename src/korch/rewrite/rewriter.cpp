#include "korch/rewrite/rewriter.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "korch/ir/index_map.h"
#include "korch/ir/node_key.h"

namespace korch {
namespace {

// Two Values may be views of each other.
constexpr int kMaxSimplifications = 16;

std::vector<int64_t> identity_perm(int64_t rank) {
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  return perm;
}

bool is_whole(const SliceAttrs& slice, const Shape& shape) {
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (slice.starts[axis] != 0 || slice.sizes[axis] != shape[axis] || slice.steps[axis] != 1) return false;
  return true;
}

}  // namespace

Rewriter::Rewriter(Graph& graph, const RewriteLimits& limits)
    : graph_(graph),
      limits_(limits),
      first_fresh_value_(graph.value_count()),
      first_fresh_node_(graph.node_count()),
      constant_(graph.value_count(), false),
      loops_(graph) {
  for (NodeId id : graph.topological_order()) note_node(id);
}

void Rewriter::note_node(NodeId id) {
  const Node& node = graph_.node(id);
  const bool constant =
      node.op == Op::Constant ||
      (!node.inputs.empty() && !is_loop_end(node.op) &&
       std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) { return constant_[input]; }));
  constant_.resize(graph_.value_count(), false);
  for (ValueId output : node.outputs) constant_[output] = constant_[output] || constant;
  by_key_.emplace(node_key(node.op, node.attrs, node.inputs), id);
  if (id >= first_fresh_node_) rule_of_.emplace(id, rule_);
}

std::optional<Node> Rewriter::producer(ValueId value, Op op) const {
  for (NodeId id : graph_.value(value).producers)
    if (graph_.node(id).op == op) return graph_.node(id);
  return std::nullopt;
}

std::vector<NodeId> Rewriter::users(ValueId value) const {
  std::vector<NodeId> result;
  for (NodeId user : graph_.value(value).users)
    if (!constant_[graph_.node(user).outputs[0]]) result.push_back(user);
  return result;
}

bool Rewriter::has_one_reader(ValueId value) const {
  const std::vector<NodeId>& users = graph_.value(value).users;
  if (users.size() != 1) return false;
  const std::vector<ValueId>& reads = graph_.node(users[0]).inputs;
  return std::count(reads.begin(), reads.end(), value) == 1 &&
         std::count(graph_.outputs().begin(), graph_.outputs().end(), value) == 0;
}

// Layout primitives that do nothing, or undo or continue what an operand's producer does.
std::optional<ValueId> Rewriter::simplified(Op op, const Attrs& attrs, const std::vector<ValueId>& inputs) {
  if (inputs.size() != 1 || simplifying_ > kMaxSimplifications) return std::nullopt;
  const ValueId x = inputs[0];
  const std::optional<Node> inner = producer(x, op);
  if (op == Op::Reshape) {
    const Shape& to = std::get<ShapeAttrs>(attrs).shape;
    if (to == shape(x)) return x;
    if (inner) return reshape(inner->inputs[0], to);
  }
  if (op == Op::Transpose) {
    if (std::get<PermAttrs>(attrs).perm == identity_perm(rank(x))) return x;
    if (inner) return emit(op, composed_views(op, inner->attrs, attrs), {inner->inputs[0]});
  }
  if (op == Op::Slice) {
    const auto& cut = std::get<SliceAttrs>(attrs);
    if (is_whole(cut, shape(x))) return x;
    if (inner) return emit(op, composed_views(op, inner->attrs, attrs), {inner->inputs[0]});
    if (const std::optional<Node> concat = producer(x, Op::Concat)) {
      const IndexMaps maps = index_maps(graph_, *concat);
      for (size_t i = 0; i < maps.operands.size(); ++i)
        if (const std::optional<SliceAttrs> inside = slice_through(maps.operands[i], cut))
          return emit(Op::Slice, *inside, {concat->inputs[i]});
    }
  }
  return std::nullopt;
}

ValueId Rewriter::emit(Op op, Attrs attrs, std::vector<ValueId> inputs) {
  ++simplifying_;
  const std::optional<ValueId> simpler = simplified(op, attrs, inputs);
  --simplifying_;
  if (simpler) return *simpler;
  const auto found = by_key_.find(node_key(op, attrs, inputs));
  if (found != by_key_.end() && !graph_.node(found->second).dead)
    return graph_.node(found->second).outputs[0];
  const NodeId id =
      graph_.add_node(op, std::move(attrs), std::move(inputs), origins_,
                      base_name_ + "~" + std::to_string(graph_.value_count() - first_fresh_value_));
  if (found != by_key_.end()) by_key_.erase(found);
  note_node(id);
  return graph_.node(id).outputs[0];
}

ValueId Rewriter::reshape(ValueId x, Shape shape) {
  return emit(Op::Reshape, ShapeAttrs{std::move(shape)}, {x});
}

ValueId Rewriter::transpose(ValueId x, std::vector<int64_t> perm) {
  return emit(Op::Transpose, PermAttrs{std::move(perm)}, {x});
}

ValueId Rewriter::slice(ValueId x, int64_t axis, int64_t start, int64_t size, int64_t step) {
  SliceAttrs cut{Shape(shape(x).size(), 0), shape(x), Shape(shape(x).size(), 1)};
  cut.starts[static_cast<size_t>(axis)] = start;
  cut.sizes[static_cast<size_t>(axis)] = size;
  cut.steps[static_cast<size_t>(axis)] = step;
  return emit(Op::Slice, cut, {x});
}

ValueId Rewriter::concat(std::vector<ValueId> parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : emit(Op::Concat, AxisAttrs{axis}, std::move(parts));
}

ValueId Rewriter::scalar(double value) {
  return emit(Op::Constant, ConstantAttrs{HostTensor::of<float>(DType::f32, {}, {static_cast<float>(value)})},
              {});
}

// Counts the constants that the Value is computed from, those that folding will make and no alternative so
// far has needed. False, and nothing is counted, where they are too many.
bool Rewriter::take_constants(ValueId value) {
  std::vector<ValueId> stack = {value};
  std::unordered_set<ValueId> seen = {value};
  int64_t bytes = 0;
  while (!stack.empty()) {
    const ValueId at = stack.back();
    stack.pop_back();
    if (!is_fresh(at) || taken_.count(at) != 0) continue;
    if (constant_[at]) {
      bytes += graph_.value(at).type.bytes();
      continue;
    }
    for (NodeId maker : graph_.value(at).producers)
      for (ValueId read : graph_.node(maker).inputs)
        if (seen.insert(read).second) stack.push_back(read);
  }
  if (constant_bytes_ + bytes > limits_.max_constant_bytes) return false;
  constant_bytes_ += bytes;
  taken_.merge(seen);
  return true;
}

int Rewriter::innermost_loop(ValueId value) const {
  if (loops_.empty()) return -1;
  int found = -1;
  std::vector<ValueId> stack = {value};
  std::unordered_set<ValueId> seen = {value};
  while (!stack.empty()) {
    const ValueId at = stack.back();
    stack.pop_back();
    if (!is_fresh(at)) {
      if (loops_.is_within(loops_.of_value(at), found)) found = loops_.of_value(at);
      continue;
    }
    for (NodeId maker : graph_.value(at).producers)
      for (ValueId read : graph_.node(maker).inputs)
        if (seen.insert(read).second) stack.push_back(read);
  }
  return found;
}

void Rewriter::equate(ValueId value, ValueId other) {
  if (value == other) return;
  KORCH_ASSERT(graph_.value(value).type == graph_.value(other).type,
               std::string(rule_) + " equates " + to_string(graph_.value(value).type) + " %" +
                   graph_.value(value).name + " with " + to_string(graph_.value(other).type));
  if (!loops_.is_within(innermost_loop(value), innermost_loop(other))) return;
  if (static_cast<int>(graph_.value(value).producers.size()) >= limits_.max_producers) {
    ++limited_["alternatives_per_value"];
    return;
  }
  if (!take_constants(other)) {
    ++limited_["alternatives_constant_bytes"];
    return;
  }
  const std::vector<NodeId>& makers = graph_.value(other).producers;
  const bool movable =
      is_fresh(other) && std::none_of(makers.begin(), makers.end(), [&](NodeId maker) {
        const auto& reads = graph_.node(maker).inputs;
        return maker < first_fresh_node_ || std::find(reads.begin(), reads.end(), value) != reads.end();
      });
  if (movable) {
    move_producers(other, value);
  } else {
    // The two names stay: one is the other under a view that moves nothing.
    const Attrs same_shape = ShapeAttrs{shape(value)};
    const auto bridge = by_key_.find(node_key(Op::Reshape, same_shape, {other}));
    if (bridge != by_key_.end() && !graph_.node(bridge->second).dead) return;
    note_node(graph_.add_alternative(Op::Reshape, same_shape, {other}, {value}, origins_));
  }
  if (dominates_ && matched_ >= first_removable_) graph_.kill_node(matched_);
  ++applied_[rule_];
  grew_ = true;
}

// What made one Value now makes the other, which its readers read instead.
void Rewriter::move_producers(ValueId from, ValueId to) {
  const std::vector<NodeId> makers = graph_.value(from).producers;
  for (NodeId maker : makers) {
    const Node node = graph_.node(maker);
    graph_.kill_node(maker);
    by_key_.erase(node_key(node.op, node.attrs, node.inputs));
    note_node(graph_.add_alternative(node.op, node.attrs, node.inputs, {to}, node.origins));
  }
  const std::vector<NodeId> readers = graph_.value(from).users;
  for (NodeId reader : readers) {
    const Node& node = graph_.node(reader);
    by_key_.erase(node_key(node.op, node.attrs, node.inputs));
  }
  graph_.replace_uses(from, to);
  for (NodeId reader : readers) note_node(reader);
}

void Rewriter::begin(const char* rule, NodeId node, bool dominates) {
  rule_ = rule;
  matched_ = node;
  dominates_ = dominates;
  origins_ = graph_.node(node).origins;
  const std::string& name = graph_.value(graph_.node(node).outputs[0]).name;
  base_name_ = name.substr(0, name.find('~'));  // of what stood there before any rule
}

void Rewriter::covers(const std::vector<Node>& nodes) {
  for (const Node& node : nodes)
    for (const std::string& origin : node.origins)
      if (std::count(origins_.begin(), origins_.end(), origin) == 0) origins_.push_back(origin);
}

bool Rewriter::grew() {
  return std::exchange(grew_, false);
}

bool Rewriter::has_room() {
  const double room =
      std::max<double>(limits_.free_nodes, limits_.max_growth * static_cast<double>(first_fresh_node_));
  if (static_cast<double>(graph_.node_count() - first_fresh_node_) <= room) return true;
  ++limited_["alternatives_nodes"];
  return false;
}

}  // namespace korch
