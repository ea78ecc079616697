#include "korch/codegen/linear/layout_choice.h"

#include <algorithm>
#include <set>

#include "korch/codegen/linear/output_map.h"

namespace korch::linear {

namespace {

// The data operand and all the Values it is computed from inside the candidate.
std::set<ValueId> behind_data(const Problem& problem) {
  std::set<ValueId> values = {problem.data};
  const auto& nodes = problem.candidate->nodes;
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) {
    const Node& node = problem.graph->node(*id);
    if (values.count(node.outputs[0]) && *id != problem.node)
      values.insert(node.inputs.begin(), node.inputs.end());
  }
  return values;
}

Layout layout_in(const Problem& problem, ValueId value, Order order) {
  const Shape& shape = type_of(problem, value).shape;
  if (order == Order::row_major || shape.size() < 3) return Layout::row_major();
  return canonical(Layout::channels_last(static_cast<int>(shape.size())), shape);
}

}  // namespace

Implementation with_layouts(const Problem& problem, const std::string& family, Order data, Order result) {
  Implementation implementation;
  implementation.family = family;
  const std::set<ValueId> behind = behind_data(problem);
  for (ValueId input : problem.candidate->inputs)
    implementation.input_layouts.push_back(layout_in(problem, input, behind.count(input) ? data : result));
  for (ValueId output : problem.candidate->outputs)
    implementation.output_layouts.push_back(layout_in(problem, output, result));
  implementation.flops = problem.flops;
  implementation.flops_at_once = terms_together(problem);
  implementation.bytes = touched_bytes(*problem.graph, *problem.candidate);
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

bool stores_rows(const Problem& problem, const Implementation& implementation) {
  // The axis of the output that moves when the result's column moves must have stride 1; else rows are
  // contiguous.
  const Shape& shape = type_of(problem, problem.value).shape;
  const size_t column_axis =
      type_of(problem, problem.value).shape.size() >= 2 && problem.matmul ? shape.size() - 1 : 1;
  Coords at;
  for (size_t i = 0; i < shape.size(); ++i)
    at.push_back(i == column_axis ? Index::variable("c", shape[i]) : Index(0));
  const auto coords = output_coords(problem, at);
  if (coords.empty()) return false;
  const ValueId output = problem.candidate->outputs[0];
  const Shape steps = strides(type_of(problem, output).shape, layout_of(problem, implementation, output));
  Index offset = 0;
  for (size_t i = 0; i < steps.size(); ++i) offset = offset + coords.at(output)[i] * steps[i];
  return shape[column_axis] > 1 && offset.affine_in("c") && offset.stride("c") != 1;
}

}  // namespace korch::linear
