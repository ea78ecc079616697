#include "korch/ir/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <queue>

namespace korch {
namespace {

void insert_sorted(std::vector<NodeId>& ids, NodeId id) {
  const auto place = std::lower_bound(ids.begin(), ids.end(), id);
  if (place == ids.end() || *place != id) ids.insert(place, id);
}

// Infers types; an error gains the ONNX node's name.
std::vector<TensorType> infer_named(Op op, const Attrs& attrs, const std::vector<TensorType>& types,
                                    const std::vector<const HostTensor*>& constants,
                                    const std::vector<std::string>& origins) {
  try {
    return infer_types(op, attrs, types, constants);
  } catch (const Error& error) {
    if (origins.empty()) throw;
    throw Error(error.kind(), fmt::format("node \"{}\": {}", fmt::join(origins, "\", \""), error.what()));
  }
}

}  // namespace

ValueId Graph::add_input(TensorType type, std::string name) {
  const auto id = static_cast<ValueId>(values_.size());
  values_.push_back({std::move(type), std::move(name), {}, {}});
  inputs_.push_back(id);
  return id;
}

NodeId Graph::add_node(Op op, Attrs attrs, std::vector<ValueId> inputs, std::vector<std::string> origins,
                       std::string name) {
  std::vector<ValueId> outputs(output_count(op, attrs, inputs.size()), kNoId);
  const NodeId id =
      add_alternative(op, std::move(attrs), std::move(inputs), std::move(outputs), std::move(origins));
  const std::vector<ValueId>& made = nodes_[id].outputs;
  for (size_t i = 0; i < made.size() && !name.empty(); ++i)
    values_[made[i]].name = i == 0 ? name : fmt::format("{}.{}", name, i);
  return id;
}

ValueId Graph::add(Op op, Attrs attrs, std::vector<ValueId> inputs, std::vector<std::string> origins,
                   std::string name) {
  KORCH_ASSERT(info(op).outputs == 1, std::string(korch::name(op)) + " has several outputs");
  return nodes_[add_node(op, std::move(attrs), std::move(inputs), std::move(origins), std::move(name))]
      .outputs[0];
}

NodeId Graph::add_alternative(Op op, Attrs attrs, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
                              std::vector<std::string> origins) {
  std::vector<TensorType> types;
  std::vector<const HostTensor*> constants;
  for (ValueId input : inputs) {
    KORCH_ASSERT(input < values_.size(),
                 fmt::format("{} reads a Value that does not exist", korch::name(op)));
    types.push_back(values_[input].type);
    constants.push_back(constant(input));
  }
  std::vector<TensorType> result = infer_named(op, attrs, types, constants, origins);
  KORCH_ASSERT(result.size() == outputs.size(), fmt::format("{}: wrong number of outputs", korch::name(op)));
  const auto id = static_cast<NodeId>(nodes_.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == kNoId) {
      outputs[i] = static_cast<ValueId>(values_.size());
      values_.push_back({std::move(result[i]), fmt::format("v{}", outputs[i]), {}, {}});
    } else {
      KORCH_ASSERT(values_[outputs[i]].type == result[i],
                   fmt::format("an alternative of %{} : {} computes {}", values_[outputs[i]].name,
                               to_string(values_[outputs[i]].type), to_string(result[i])));
    }
    values_[outputs[i]].producers.push_back(id);
  }
  for (ValueId input : inputs) insert_sorted(values_[input].users, id);
  nodes_.push_back({op, std::move(attrs), std::move(inputs), std::move(outputs), std::move(origins), false});
  return id;
}

ValueId Graph::add_constant(HostTensor value, std::string name, std::vector<std::string> origins) {
  return add(Op::Constant, ConstantAttrs{std::move(value)}, {}, std::move(origins), std::move(name));
}

void Graph::set_outputs(std::vector<ValueId> outputs, std::vector<std::string> names,
                        std::vector<OutputExtent> extents) {
  KORCH_ASSERT(outputs.size() == names.size(), "one name per graph output");
  KORCH_ASSERT(extents.size() <= outputs.size(), "extents are outputs");
  extents_ = std::move(extents);
  outputs_ = std::move(outputs);
  output_names_ = std::move(names);
}

void Graph::set_input_order(std::vector<ValueId> inputs) {
  KORCH_ASSERT(std::is_permutation(inputs.begin(), inputs.end(), inputs_.begin(), inputs_.end()),
               "another order of the same inputs");
  inputs_ = std::move(inputs);
}

void Graph::kill_node(NodeId id) {
  Node& node = nodes_[id];
  if (node.dead) return;
  node.dead = true;
  for (ValueId output : node.outputs) std::erase(values_[output].producers, id);
  for (ValueId input : node.inputs) std::erase(values_[input].users, id);
}

void Graph::replace_uses(ValueId from, ValueId to) {
  if (from == to) return;
  for (NodeId user : values_[from].users) {
    std::replace(nodes_[user].inputs.begin(), nodes_[user].inputs.end(), from, to);
    insert_sorted(values_[to].users, user);
  }
  values_[from].users.clear();
  std::replace(outputs_.begin(), outputs_.end(), from, to);
}

std::vector<bool> Graph::nodes_that_reach_outputs() const {
  std::vector<bool> reached(nodes_.size(), false);
  std::vector<ValueId> stack = outputs_;
  while (!stack.empty()) {
    const ValueId value = stack.back();
    stack.pop_back();
    for (NodeId producer : values_[value].producers) {
      if (reached[producer]) continue;
      reached[producer] = true;
      stack.insert(stack.end(), nodes_[producer].inputs.begin(), nodes_[producer].inputs.end());
    }
  }
  return reached;
}

void Graph::remove_dead_nodes() {
  const std::vector<bool> reached = nodes_that_reach_outputs();
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (!reached[id]) kill_node(id);
  }
}

const HostTensor* Graph::constant(ValueId id) const {
  for (NodeId producer : values_[id].producers) {
    if (nodes_[producer].op == Op::Constant) return &std::get<ConstantAttrs>(nodes_[producer].attrs).value;
  }
  return nullptr;
}

std::vector<NodeId> Graph::topological_order() const {
  using MinHeap = std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>>;
  // missing: (input, producer) pairs not yet ordered; underived: distinct inputs without any ordered
  // producer.
  std::vector<int> missing(nodes_.size(), 0), underived(nodes_.size(), 0);
  std::vector<bool> done(nodes_.size(), false), available(values_.size(), false);
  MinHeap ready, derivable;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id].dead) continue;
    std::vector<ValueId> distinct = nodes_[id].inputs;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (ValueId input : distinct) {
      missing[id] += static_cast<int>(values_[input].producers.size());
      underived[id] += values_[input].producers.empty() ? 0 : 1;
    }
    if (missing[id] == 0) ready.push(id);
  }
  std::vector<NodeId> order;
  const size_t live = live_node_count();
  while (order.size() < live) {
    MinHeap& from = ready.empty() ? derivable : ready;
    if (from.empty()) break;
    const NodeId id = from.top();
    from.pop();
    if (done[id]) continue;
    done[id] = true;
    order.push_back(id);
    for (ValueId output : nodes_[id].outputs) {
      const bool first = !available[output];
      available[output] = true;
      for (NodeId user : values_[output].users) {
        if (--missing[user] == 0) ready.push(user);
        if (first && --underived[user] == 0) derivable.push(user);
      }
    }
  }
  if (order.size() == live) return order;
  std::vector<std::string> stuck;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (!nodes_[id].dead && !done[id])
      stuck.push_back(fmt::format("{} %{}", korch::name(nodes_[id].op), values_[nodes_[id].outputs[0]].name));
  }
  throw Error(ErrorKind::invalid,
              fmt::format("the graph has a cycle through or before: {}", fmt::join(stuck, ", ")));
}

size_t Graph::live_node_count() const {
  return static_cast<size_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const Node& n) { return !n.dead; }));
}

Graph Graph::compact() const {
  Graph result;
  std::vector<ValueId> renumbered(values_.size(), kNoId);
  const auto copy_value = [&](ValueId id) {
    if (renumbered[id] != kNoId) return renumbered[id];
    renumbered[id] = static_cast<ValueId>(result.values_.size());
    result.values_.push_back({values_[id].type, values_[id].name, {}, {}});
    return renumbered[id];
  };
  for (ValueId input : inputs_) result.inputs_.push_back(copy_value(input));
  for (NodeId id : topological_order()) {
    Node node = nodes_[id];
    const auto new_id = static_cast<NodeId>(result.nodes_.size());
    for (ValueId& input : node.inputs) {
      input = copy_value(input);
      insert_sorted(result.values_[input].users, new_id);
    }
    for (ValueId& output : node.outputs) {
      output = copy_value(output);
      result.values_[output].producers.push_back(new_id);
    }
    result.nodes_.push_back(std::move(node));
  }
  for (ValueId output : outputs_) result.outputs_.push_back(copy_value(output));
  result.output_names_ = output_names_;
  result.extents_ = extents_;
  result.open_dimensions_ = open_dimensions_;
  result.states_ = states_;
  return result;
}

std::vector<TensorType> input_types(const Graph& graph, const Node& node) {
  std::vector<TensorType> types;
  for (ValueId input : node.inputs) types.push_back(graph.value(input).type);
  return types;
}

}  // namespace korch
