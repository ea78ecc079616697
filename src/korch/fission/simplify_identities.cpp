// remove_identities.

#include "korch/fission/replace.h"
#include "korch/fission/simplify.h"
#include "korch/ir/index_map.h"

namespace korch::passes {
namespace {

bool all_elements_are(const HostTensor* constant, double value) {
  if (constant == nullptr) return false;
  for (int64_t i = 0; i < constant->elements(); ++i) {
    if (element_as_double(*constant, i) != value) return false;
  }
  return true;
}

// Which operand of an arithmetic node passes through because the other is neutral, or -1.
int passed_operand(const Graph& graph, const Node& node) {
  const bool right_only = node.op == Op::Sub || node.op == Op::Div || node.op == Op::Pow;
  if (!right_only && node.op != Op::Add && node.op != Op::Mul) return -1;
  const double neutral = node.op == Op::Add || node.op == Op::Sub ? 0 : 1;
  if (all_elements_are(graph.constant(node.inputs[1]), neutral)) return 0;
  return !right_only && all_elements_are(graph.constant(node.inputs[0]), neutral) ? 1 : -1;
}

// The index of the input that the node returns unchanged as far as its attributes tell, or -1.
int returned_input(const Graph& graph, const Node& node) {
  switch (info(node.op).category) {
    case Category::layout:
      return node.inputs.size() == 1 && start_of_run(index_maps(graph, node).operands[0]) == 0 ? 0 : -1;
    case Category::elementwise:
      return node.op == Op::Cast ? 0 : passed_operand(graph, node);
    case Category::reduce:
      if (node.op == Op::ArgMax || node.op == Op::ArgMin) return -1;
      return std::get<ReduceAttrs>(node.attrs).axes.empty() ? 0 : -1;
    case Category::constant:
    case Category::window:
    case Category::linear:
    case Category::opaque:
    case Category::composite:
      return -1;
  }
  return -1;
}

}  // namespace

int remove_identities(Graph& graph) {
  int changes = 0;
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    const int index = returned_input(graph, node);
    if (index < 0) continue;
    const ValueId input = node.inputs[static_cast<size_t>(index)];
    if (graph.value(input).type != graph.value(node.outputs[0]).type) continue;
    replace_by_value(graph, id, input);
    ++changes;
  }
  return changes;
}

}  // namespace korch::passes
