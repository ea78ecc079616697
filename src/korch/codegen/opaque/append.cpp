#include "korch/codegen/opaque/append.h"

#include <algorithm>

namespace korch {
namespace {

constexpr int64_t kBytesPerChunk = 64 << 10;  // of rows that a worker copies at a time

int64_t argument_of(const Candidate& candidate, ValueId operand) {
  const auto found = std::find(candidate.inputs.begin(), candidate.inputs.end(), operand);
  if (found != candidate.inputs.end()) return found - candidate.inputs.begin();
  const auto& constants = candidate.constants;
  return static_cast<int64_t>(candidate.inputs.size()) +
         (std::find(constants.begin(), constants.end(), operand) - constants.begin());
}

}  // namespace

void list_append(const Graph& graph, const Candidate& candidate, const Device&, Accuracy,
                 std::vector<Implementation>& found, std::vector<Refusal>&) {
  if (candidate.nodes.size() != 1) return;
  const Node& node = graph.node(candidate.nodes[0]);
  if (node.op != Op::Append) return;
  Implementation implementation;
  implementation.family = "append";
  implementation.input_layouts.resize(candidate.inputs.size());
  implementation.output_layouts.resize(1);
  implementation.bytes = 2 * bytes_of(graph, {node.inputs[1]});
  found.push_back(std::move(implementation));
}

Result<Kernel> generate_append(const Graph& graph, const Candidate& candidate,
                               const Implementation& implementation, const Device&) {
  const Node& node = graph.node(candidate.nodes[0]);
  const auto& attrs = std::get<AppendAttrs>(node.attrs);
  const TensorType &old = graph.value(node.inputs[0]).type, &added = graph.value(node.inputs[1]).type;
  const auto axis = old.shape.begin() + attrs.axis;
  const int64_t outer = element_count(Shape(old.shape.begin(), axis)),
                row_bytes = element_count(Shape(axis + 1, old.shape.end())) *
                            static_cast<int64_t>(size_bytes(old.dtype)),
                new_rows = added.shape[static_cast<size_t>(attrs.axis)];
  Kernel kernel;
  kernel.call = {"korch", "append", {outer, row_bytes, *axis, new_rows, attrs.capacity}, {}};
  for (ValueId operand : node.inputs) kernel.call.params.push_back(argument_of(candidate, operand));
  kernel.call.params.push_back(static_cast<int64_t>(candidate.inputs.size() + candidate.constants.size()));
  const int64_t grain = kBytesPerChunk / std::max<int64_t>(1, new_rows * row_bytes);
  kernel.phases.push_back(
      {"korch_append_run", outer, std::clamp<int64_t>(grain, 1, std::max<int64_t>(1, outer))});
  kernel.constant_packing.resize(candidate.constants.size());
  kernel.bytes = implementation.bytes;
  return kernel;
}

}  // namespace korch
