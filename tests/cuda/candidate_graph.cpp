#include "candidate_graph.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace korch::testing {

HostTensor generated_constant(const TensorType& type, size_t number) {
  constexpr Range kPositive{0.125, 2, 2};  // variances and divisors are among them
  constexpr uint64_t kFirstSeed = 1000;
  return random_tensor(type, kFirstSeed + number, kPositive);
}

uint64_t random_bits(uint64_t seed, uint64_t i) {
  uint64_t z = (seed + 1) * 0xd1342543de82ef95u + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

HostTensor random_tensor(const TensorType& type, uint64_t seed, const Range& range) {
  constexpr double kTwoTo24 = 16777216.0;
  HostTensor wide(TensorType{DType::f64, type.shape});
  for (int64_t i = 0; i < wide.elements(); ++i) {
    const double unit = static_cast<double>(random_bits(seed, static_cast<uint64_t>(i)) >> 40) / kTwoTo24;
    double value = range.low + unit * (range.high - range.low);
    if (is_integer(type.dtype)) value = std::floor(unit * static_cast<double>(range.count));
    if (type.dtype == DType::bool_) value = unit < 0.5 ? 0 : 1;
    wide.mutable_data<double>()[i] = value;
  }
  return converted(wide, type.dtype);
}

int64_t index_count(const Graph& graph, ValueId input) {
  int64_t count = 128;
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    const bool tuples = node.op == Op::GatherND || node.op == Op::ScatterND;
    const bool along =
        node.op == Op::Gather || node.op == Op::GatherElements || node.op == Op::ScatterElements;
    if (!tuples && !along) continue;
    const Shape& data = graph.value(node.inputs[0]).type.shape;
    if (along) count = std::min(count, data[static_cast<size_t>(std::get<AxisAttrs>(node.attrs).axis)]);
    if (tuples) count = std::min(count, *std::min_element(data.begin(), data.end()));
  }
  return graph.value(input).type.dtype == DType::bool_ ? 2 : std::max<int64_t>(count, 1);
}

CandidateGraph candidate_graph(const Graph& graph, const Candidate& candidate) {
  CandidateGraph made;
  Graph& result = made.graph;
  std::map<ValueId, ValueId> placed;
  for (ValueId input : candidate.inputs)
    placed[input] = result.add_input(graph.value(input).type, "in" + std::to_string(placed.size()));
  for (ValueId constant : candidate.constants) {
    HostTensor value = *graph.constant(constant);
    if (value.elements() > 1 && !is_integer(value.dtype())) {
      made.generated.push_back(value.type());
      value = generated_constant(value.type(), made.generated.size() - 1);
    }
    placed[constant] = result.add_constant(value);
  }
  for (NodeId id : candidate.nodes) {
    const Node& node = graph.node(id);
    std::vector<ValueId> inputs;
    for (ValueId input : node.inputs) inputs.push_back(placed.at(input));
    const Node& copy = result.node(result.add_node(node.op, node.attrs, inputs));
    for (size_t i = 0; i < node.outputs.size(); ++i) placed[node.outputs[i]] = copy.outputs[i];
  }
  std::vector<ValueId> outputs;
  std::vector<std::string> names;
  for (ValueId output : candidate.outputs) {
    outputs.push_back(placed.at(output));
    names.push_back("out" + std::to_string(names.size()));
  }
  result.set_outputs(outputs, names);
  return made;
}

Candidate whole_candidate(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (NodeId id : graph.topological_order())
    if (info(graph.node(id).op).category != Category::constant) nodes.push_back(id);
  return make_candidate(graph, nodes, graph.outputs());
}

}  // namespace korch::testing
