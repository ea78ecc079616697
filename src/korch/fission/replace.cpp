#include "korch/fission/replace.h"

#include <algorithm>

namespace korch {

std::vector<std::string> merged_origins(std::vector<std::string> first,
                                        const std::vector<std::string>& second) {
  for (const std::string& origin : second) {
    if (std::find(first.begin(), first.end(), origin) == first.end()) first.push_back(origin);
  }
  return first;
}

void replace_by_value(Graph& graph, NodeId node, ValueId value) {
  graph.replace_uses(graph.node(node).outputs[0], value);
  graph.kill_node(node);
}

void replace_by_node(Graph& graph, NodeId node, Op op, Attrs attrs, std::vector<ValueId> inputs,
                     const std::vector<std::string>& also) {
  std::vector<std::string> origins = merged_origins(also, graph.node(node).origins);
  std::vector<ValueId> outputs = graph.node(node).outputs;
  graph.kill_node(node);
  graph.add_alternative(op, std::move(attrs), std::move(inputs), std::move(outputs), std::move(origins));
}

const Node* producer_of(const Graph& graph, ValueId value, Op op) {
  const std::vector<NodeId>& producers = graph.value(value).producers;
  if (producers.size() != 1) return nullptr;
  const Node& node = graph.node(producers[0]);
  return node.op == op ? &node : nullptr;
}

}  // namespace korch
