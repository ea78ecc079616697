// remove_empty: Values without elements are constants, and nothing computes with them.
#include <algorithm>

#include "korch/fission/replace.h"
#include "korch/fission/simplify.h"

namespace korch::passes {
namespace {

bool is_empty(const Graph& graph, ValueId value) {
  return graph.value(value).type.elements() == 0;
}

// A state without rows is where rows are appended all the same.
bool grows_in_place(const Graph& graph, ValueId input) {
  return std::ranges::any_of(graph.states(), [&](const StatePair& state) {
    return state.axis >= 0 && graph.inputs()[static_cast<size_t>(state.input)] == input;
  });
}

// The constant that stands for a Value without elements.
void make_constant(Graph& graph, ValueId value) {
  const Value old = graph.value(value);
  const std::vector<std::string> origins =
      old.producers.empty() ? std::vector<std::string>() : graph.node(old.producers[0]).origins;
  graph.replace_uses(value, graph.add_constant(HostTensor(old.type), old.name, origins));
}

// One number in the shape of the node's result.
void fill(Graph& graph, NodeId id, double number) {
  const TensorType type = graph.value(graph.node(id).outputs[0]).type;
  const HostTensor scalar = converted(HostTensor::of<double>(DType::f64, {}, {number}), type.dtype);
  const ValueId constant = graph.add_constant(scalar, graph.value(graph.node(id).outputs[0]).name + ".fill",
                                              graph.node(id).origins);
  replace_by_node(graph, id, Op::Expand, ShapeAttrs{type.shape}, {constant});
}

// A node with elements in its result and none in an operand. False where only the evaluation can tell (the
// extreme of nothing is an error).
bool compute_without(Graph& graph, NodeId id) {
  const Node node = graph.node(id);
  if (node.op == Op::Concat) {
    std::vector<ValueId> inputs;
    std::copy_if(node.inputs.begin(), node.inputs.end(), std::back_inserter(inputs),
                 [&](ValueId input) { return !is_empty(graph, input); });
    replace_by_node(graph, id, Op::Concat, node.attrs, inputs);
    return true;
  }
  if (node.op == Op::Pad) {
    fill(graph, id, std::get<PadAttrs>(node.attrs).value);
    return true;
  }
  if (node.op == Op::ReduceSum || node.op == Op::MatMul || node.op == Op::NarrowMatMul ||
      node.op == Op::Conv || node.op == Op::ConvTranspose) {
    fill(graph, id, 0);
    return true;
  }
  if (node.op == Op::ReduceProd) {
    fill(graph, id, 1);
    return true;
  }
  if (node.op == Op::ScatterElements || node.op == Op::ScatterND) {
    replace_by_value(graph, id, node.inputs[0]);
    return true;
  }
  return false;
}

}  // namespace

int remove_empty(Graph& graph) {
  int changes = 0;
  for (ValueId input : graph.inputs()) {
    const bool used = !graph.value(input).users.empty() ||
                      std::count(graph.outputs().begin(), graph.outputs().end(), input) != 0;
    if (!used || !is_empty(graph, input) || grows_in_place(graph, input)) continue;
    make_constant(graph, input);
    ++changes;
  }
  for (NodeId id : graph.topological_order()) {
    const Node node = graph.node(id);
    if (node.op == Op::Constant) continue;
    if (std::all_of(node.outputs.begin(), node.outputs.end(),
                    [&](ValueId v) { return is_empty(graph, v); })) {
      for (ValueId output : node.outputs) make_constant(graph, output);
      graph.kill_node(id);
      ++changes;
    } else if (std::any_of(node.inputs.begin(), node.inputs.end(),
                           [&](ValueId v) { return is_empty(graph, v); })) {
      changes += compute_without(graph, id);
    }
  }
  return changes;
}

}  // namespace korch::passes
