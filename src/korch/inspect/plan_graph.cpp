#include "korch/inspect/plan_graph.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "korch/fission/fission.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"

namespace korch {
namespace {

std::string name_of(int64_t value) {
  return fmt::format("v{}", value);
}

int64_t number_in(const std::string& name) {
  int64_t number = -1;
  const char* end = name.data() + name.size();
  const bool is_one = name.size() > 1 && name[0] == 'v' &&
                      std::from_chars(name.data() + 1, end, number).ptr == end && number >= 0;
  return is_one ? number : -1;
}

// Of the steps' tensors, in the steps' order, each once.
std::vector<ValueId> exchanged_values(const Plan& plan) {
  std::vector<ValueId> values;
  std::set<int64_t> seen;
  for (const PlanStep& step : plan.steps)
    for (const std::vector<int>* tensors : {&step.inputs, &step.outputs})
      for (int tensor : *tensors) {
        const int64_t value = plan.tensors[static_cast<size_t>(tensor)].value;
        KORCH_ASSERT(value >= 0, "a step's tensor is of a Value");
        if (seen.insert(value).second) values.push_back(static_cast<ValueId>(value));
      }
  return values;
}

// What computes the outputs, each Value by its first producer, and nothing else.
Graph needed_part(Graph graph) {
  const std::vector<NodeId> needed = needed_nodes(graph);
  const std::set<NodeId> kept(needed.begin(), needed.end());
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    if (kept.count(id) == 0 && !graph.node(id).dead) graph.kill_node(id);
    graph.mutable_node(id).origins.clear();
  }
  return graph;
}

// Of a graph of constants the outputs with these names, which are then wanted no more.
Graph wanted_constants(const Graph& folded, std::map<std::string, HostTensor>* wanted) {
  std::vector<ValueId> outputs;
  std::vector<std::string> names;
  for (size_t i = 0; i < folded.outputs().size(); ++i) {
    if (wanted->erase(folded.output_names()[i]) == 0) continue;
    outputs.push_back(folded.outputs()[i]);
    names.push_back(folded.output_names()[i]);
  }
  Graph part = folded;
  part.set_outputs(std::move(outputs), std::move(names));
  return needed_part(std::move(part)).compact();
}

// The large constants of a graph that the network does not have.
void add_constants(const Graph& graph, const std::map<std::string, HostTensor>& network,
                   std::map<std::string, HostTensor>* wanted) {
  for (const auto& [hash, tensor] : large_constants(graph))
    if (network.count(hash) == 0) wanted->emplace(hash, tensor);
}

}  // namespace

PlanGraph plan_graph(const Graph& primitive, const Rewritten& rewritten, const Plan& plan) {
  Graph graph = rewritten.graph;
  const std::vector<ValueId> values = exchanged_values(plan);
  graph.set_outputs(values, std::vector<std::string>(values.size()));
  graph = needed_part(std::move(graph));
  for (ValueId id = 0; id < graph.value_count(); ++id) graph.rename(id, name_of(id));
  PlanGraph written;
  written.text = print(graph);
  const std::map<std::string, HostTensor> network = large_constants(primitive);
  add_constants(graph, network, &written.constants);
  for (size_t i = rewritten.folded.size(); i-- > 0;) {
    const Graph constants = wanted_constants(rewritten.folded[i], &written.constants);
    if (constants.outputs().empty()) continue;
    add_constants(constants, network, &written.constants);
    written.folded.insert(written.folded.begin(), print(constants));
  }
  return written;
}

PlanPrimitives read_plan_graph(const PlanGraph& written, const Graph& imported) {
  std::map<std::string, HostTensor> constants = large_constants(fission(imported));
  constants.insert(written.constants.begin(), written.constants.end());
  for (const std::string& text : written.folded) {
    const std::map<std::string, HostTensor> folded = folded_constants(parse_graph(text, constants));
    constants.insert(folded.begin(), folded.end());
  }
  PlanPrimitives result;
  result.graph = parse_graph(written.text, constants);
  for (ValueId id = 0; id < result.graph.value_count(); ++id)
    if (const int64_t number = number_in(result.graph.value(id).name); number >= 0)
      result.ids.emplace(number, id);
  return result;
}

}  // namespace korch
