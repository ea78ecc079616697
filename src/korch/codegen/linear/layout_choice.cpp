#include "korch/codegen/linear/layout_choice.h"

#include <algorithm>
#include <set>

#include "korch/codegen/linear/output_map.h"

namespace korch::linear {

namespace {

// The data operand and all the Values it is computed from inside the candidate.
std::set<ValueId> behind_data(const LinearWorkload& workload) {
  std::set<ValueId> values = {workload.data};
  const auto& nodes = workload.candidate->nodes;
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) {
    const Node& node = workload.graph->node(*id);
    if (values.count(node.outputs[0]) && *id != workload.node)
      values.insert(node.inputs.begin(), node.inputs.end());
  }
  return values;
}

Layout layout_in(const LinearWorkload& workload, ValueId value, Order order) {
  const Shape& shape = type_of(workload, value).shape;
  if (order == Order::row_major || shape.size() < 3) return Layout::row_major();
  return canonical(Layout::channels_last(static_cast<int>(shape.size())), shape);
}

}  // namespace

Implementation with_layouts(const LinearWorkload& workload, const std::string& family, Order data,
                            Order result) {
  Implementation implementation;
  implementation.family = family;
  const std::set<ValueId> behind = behind_data(workload);
  for (ValueId input : workload.candidate->inputs)
    implementation.input_layouts.push_back(layout_in(workload, input, behind.count(input) ? data : result));
  for (ValueId output : workload.candidate->outputs)
    implementation.output_layouts.push_back(layout_in(workload, output, result));
  implementation.flops = workload.flops;
  implementation.flops_at_once = terms_together(workload);
  implementation.bytes = touched_bytes(*workload.graph, *workload.candidate);
  return implementation;
}

void add_once(const Implementation& implementation, std::vector<Implementation>& found) {
  const bool known = std::any_of(found.begin(), found.end(), [&](const Implementation& other) {
    return other.family == implementation.family && other.schedule == implementation.schedule &&
           other.input_layouts == implementation.input_layouts &&
           other.output_layouts == implementation.output_layouts;
  });
  if (!known) found.push_back(implementation);
}

bool stores_rows(const LinearWorkload& workload, const Implementation& implementation) {
  // The axis of the output that moves when the result's column moves must have stride 1; else rows are
  // contiguous.
  const Shape& shape = type_of(workload, workload.value).shape;
  const size_t column_axis =
      type_of(workload, workload.value).shape.size() >= 2 && workload.matmul ? shape.size() - 1 : 1;
  Coords at;
  for (size_t i = 0; i < shape.size(); ++i)
    at.push_back(i == column_axis ? Index::variable("c", shape[i]) : Index(0));
  const auto coords = output_coords(workload, at);
  if (coords.empty()) return false;
  const ValueId output = workload.candidate->outputs[0];
  const Shape steps = strides(type_of(workload, output).shape, layout_of(workload, implementation, output));
  Index offset = 0;
  for (size_t i = 0; i < steps.size(); ++i) offset = offset + coords.at(output)[i] * steps[i];
  return shape[column_axis] > 1 && offset.affine_in("c") && offset.stride("c") != 1;
}

}  // namespace korch::linear
