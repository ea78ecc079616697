#include "korch/codegen/opaque/loop_end.h"

#include <algorithm>

namespace korch {
namespace {

int64_t place(const std::vector<ValueId>& values, ValueId value) {
  const auto found = std::find(values.begin(), values.end(), value);
  return found == values.end() ? -1 : found - values.begin();
}

}  // namespace

void list_loop_end(const Graph& graph, const Candidate& candidate, const Device&, Accuracy,
                   std::vector<Implementation>& found, std::vector<Refusal>&) {
  if (candidate.nodes.size() != 1) return;
  const Node& node = graph.node(candidate.nodes[0]);
  if (!is_loop_end(node.op) || candidate.outputs != node.outputs) return;
  Implementation implementation;
  implementation.family = "loop_end";
  implementation.input_layouts.resize(candidate.inputs.size());
  implementation.output_layouts.resize(candidate.outputs.size());
  implementation.bytes = bytes_of(graph, candidate.outputs);
  // Of a stack one row is written.
  if (node.op == Op::LoopEnd)
    for (size_t i = 2 + static_cast<size_t>(std::get<LoopAttrs>(node.attrs).carried); i < node.outputs.size();
         ++i)
      implementation.bytes -= bytes_of(graph, {node.outputs[i]});
  found.push_back(std::move(implementation));
}

Result<Kernel> generate_loop_end(const Graph& graph, const Candidate& candidate,
                                 const Implementation& implementation, const Device&) {
  const Node& node = graph.node(candidate.nodes[0]);
  const bool begins = node.op == Op::LoopBegin;
  const auto inputs = static_cast<int64_t>(node.inputs.size()),
             outputs = static_cast<int64_t>(node.outputs.size());
  Kernel kernel;
  kernel.call = {"korch", begins ? "loop_begin" : "loop_end", {inputs, outputs}, {}};
  std::vector<int64_t>& params = kernel.call.params;
  if (!begins) params.push_back(std::get<LoopAttrs>(node.attrs).carried);
  const auto given = static_cast<int64_t>(candidate.inputs.size()),
             constant = static_cast<int64_t>(candidate.constants.size());
  for (ValueId input : node.inputs) {
    const int64_t at = place(candidate.inputs, input);
    params.push_back(at >= 0 ? at : given + place(candidate.constants, input));
    params.push_back(graph.value(input).type.bytes());
  }
  params.push_back(given + constant);  // the first result
  kernel.phases.push_back({begins ? "korch_loop_begin_run" : "korch_loop_end_run", 1, 1});
  // What is carried may be made where it is wanted.
  const int64_t first = begins ? 2 : 3,
                states = begins ? inputs - 2 : std::get<LoopAttrs>(node.attrs).carried;
  for (int64_t i = 0; i < states; ++i) {
    const ValueId state = node.inputs[static_cast<size_t>(first + i)];
    const int64_t at = place(candidate.inputs, state);
    if (at >= 0 && std::count(node.inputs.begin(), node.inputs.end(), state) == 1)
      kernel.in_place.emplace_back(static_cast<int>(at), static_cast<int>(2 + i));
  }
  kernel.constant_packing.resize(candidate.constants.size());
  kernel.bytes = implementation.bytes;
  return kernel;
}

}  // namespace korch
