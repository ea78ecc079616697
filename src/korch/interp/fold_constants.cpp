#include "korch/interp/interpreter.h"
#include "korch/interp/work.h"

namespace korch {
namespace {

// The node's inputs where all of them are constants; empty otherwise.
std::vector<HostTensor> constant_inputs(const Graph& graph, const Node& node) {
  std::vector<HostTensor> inputs;
  for (ValueId input : node.inputs) {
    const HostTensor* constant = graph.constant(input);
    if (constant == nullptr) return {};
    inputs.push_back(*constant);
  }
  return inputs;
}

bool grows_too_much(const std::vector<HostTensor>& inputs, const std::vector<TensorType>& types,
                    int64_t max_growth_bytes) {
  int64_t growth = 0;
  for (const TensorType& type : types) growth += type.bytes();
  for (const HostTensor& input : inputs) growth -= input.bytes();
  return growth > max_growth_bytes;
}

}  // namespace

int fold_constants(Graph& graph, int64_t max_growth_bytes) {
  int folded = 0;
  double left = kMaxFoldingWork;
  for (NodeId id : graph.topological_order()) {
    const Node node = graph.node(id);  // a copy: adding constants moves the nodes
    if (is_loop_end(node.op)) continue;
    const std::vector<HostTensor> inputs = constant_inputs(graph, node);
    if (inputs.empty()) continue;
    std::vector<TensorType> types;
    for (ValueId output : node.outputs) types.push_back(graph.value(output).type);
    if (grows_too_much(inputs, types, max_growth_bytes)) continue;
    const double work = evaluation_work(node.op, node.attrs, input_types(graph, node), types);
    if (work > left) continue;
    left -= work;
    const std::vector<HostTensor> results = evaluate_node(node, inputs, types, Precision::native);
    graph.kill_node(id);
    for (size_t i = 0; i < results.size(); ++i) {
      const ValueId constant =
          graph.add_constant(results[i], graph.value(node.outputs[i]).name, node.origins);
      graph.replace_uses(node.outputs[i], constant);
    }
    ++folded;
  }
  if (folded > 0) graph.remove_dead_nodes();
  return folded;
}

}  // namespace korch
