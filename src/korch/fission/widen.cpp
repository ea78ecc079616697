#include "korch/fission/widen.h"

#include <algorithm>

namespace korch {
namespace {

bool any_small(const Graph& graph, const std::vector<ValueId>& values) {
  return std::any_of(values.begin(), values.end(),
                     [&](ValueId value) { return is_small_float(graph.value(value).type.dtype); });
}

bool computes_in_small_float(const Graph& graph, const Node& node) {
  const Category category = info(node.op).category;
  if (category == Category::constant || category == Category::layout || node.op == Op::NarrowMatMul)
    return false;
  if (node.op != Op::Cast) return any_small(graph, node.inputs) || any_small(graph, node.outputs);
  const DType from = graph.value(node.inputs[0]).type.dtype, to = graph.value(node.outputs[0]).type.dtype;
  return (is_small_float(from) && to != DType::f32) || (is_small_float(to) && from != DType::f32);
}

ValueId in_float32(Graph& graph, ValueId value, const std::vector<std::string>& origins) {
  if (!is_small_float(graph.value(value).type.dtype)) return value;
  const std::string name = graph.value(value).name + ".f32";
  if (const HostTensor* constant = graph.constant(value))
    return graph.add_constant(converted(*constant, DType::f32), name, origins);
  return graph.add(Op::Cast, CastAttrs{DType::f32}, {value}, origins, name);
}

void widen(Graph& graph, const Node& node) {
  std::vector<ValueId> inputs;
  for (ValueId input : node.inputs) inputs.push_back(in_float32(graph, input, node.origins));
  if (node.op == Op::Cast) {
    // One of the two conversions remains to be done: to float32 and then to the wanted type.
    ValueId value = inputs[0];
    const DType to = std::get<CastAttrs>(node.attrs).to;
    if (graph.value(value).type.dtype != DType::f32 && is_small_float(to))
      value = graph.add(Op::Cast, CastAttrs{DType::f32}, {value}, node.origins,
                        graph.value(node.outputs[0]).name + ".f32");
    graph.add_alternative(Op::Cast, CastAttrs{to}, {value}, node.outputs, node.origins);
    return;
  }
  std::vector<ValueId> outputs;  // those of other types are computed as they were
  for (ValueId output : node.outputs)
    outputs.push_back(is_small_float(graph.value(output).type.dtype) ? kNoId : output);
  const NodeId wide = graph.add_alternative(node.op, node.attrs, inputs, outputs, node.origins);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != kNoId) continue;
    const Value narrow = graph.value(node.outputs[i]);
    const ValueId result = graph.node(wide).outputs[i];
    graph.rename(result, narrow.name + ".f32");
    graph.add_alternative(Op::Cast, CastAttrs{narrow.type.dtype}, {result}, {node.outputs[i]}, node.origins);
  }
}

}  // namespace

int widen_small_floats(Graph& graph) {
  int replaced = 0;
  for (NodeId id : graph.topological_order()) {
    const Node node = graph.node(id);
    if (!computes_in_small_float(graph, node)) continue;
    graph.kill_node(id);
    widen(graph, node);
    ++replaced;
  }
  return replaced;
}

}  // namespace korch
