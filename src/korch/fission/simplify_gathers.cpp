// narrow_indices and transpose_gathers.
#include <algorithm>
#include <limits>

#include "korch/fission/replace.h"
#include "korch/fission/simplify.h"

namespace korch::passes {
namespace {

// The constant that the Value is, or that it repeats; null if there is none.
const HostTensor* constant_behind(const Graph& graph, ValueId value) {
  if (const Node* expand = producer_of(graph, value, Op::Expand)) value = expand->inputs[0];
  return graph.constant(value);
}

// Of what an Error at run time is due to, nothing is changed.
bool lie_inside(const HostTensor& indices, int64_t extent) {
  const std::vector<int64_t> values = as_int_vector(indices);
  return extent <= std::numeric_limits<int32_t>::max() &&
         std::all_of(values.begin(), values.end(), [&](int64_t i) { return -extent <= i && i < extent; });
}

bool narrow_indices_of(Graph& graph, NodeId id) {
  const Node node = graph.node(id);
  const HostTensor* given = constant_behind(graph, node.inputs[1]);
  if (given == nullptr || given->elements() == 0) return false;
  const Shape shape = graph.value(node.inputs[1]).type.shape;
  HostTensor indices = without_repetition(*given);
  // What folding would write out again stays whole.
  const int64_t repeated = element_count(shape) - indices.elements();
  if (repeated * static_cast<int64_t>(size_bytes(given->dtype())) <= kFoldedGrowthBytes) indices = *given;
  const int64_t extent =
      graph.value(node.inputs[0]).type.shape[static_cast<size_t>(std::get<AxisAttrs>(node.attrs).axis)];
  const bool is_wide = size_bytes(given->dtype()) > size_bytes(DType::i32) || given->dtype() == DType::u32;
  const bool narrows = is_wide && lie_inside(indices, extent);
  if (!narrows && indices.elements() == given->elements()) return false;
  if (narrows) indices = converted(indices, DType::i32);
  const std::string name = graph.value(node.inputs[1]).name;
  ValueId value = graph.add_constant(std::move(indices), name, node.origins);
  if (graph.value(value).type.shape != shape)
    value = graph.add(Op::Expand, ShapeAttrs{shape}, {value}, node.origins, name);
  replace_by_node(graph, id, node.op, node.attrs, {node.inputs[0], value});
  return true;
}

bool transpose_operands(Graph& graph, NodeId id) {
  const Node transpose = graph.node(id);
  const ValueId read = transpose.inputs[0];
  const Node* producer = producer_of(graph, read, Op::GatherElements);
  const std::vector<ValueId>& outputs = graph.outputs();
  if (producer == nullptr || graph.value(read).users.size() != 1 ||
      std::find(outputs.begin(), outputs.end(), read) != outputs.end())
    return false;
  const Node gather = *producer;
  const HostTensor* given = constant_behind(graph, gather.inputs[1]);
  if (given == nullptr) return false;
  const auto& attrs = std::get<PermAttrs>(transpose.attrs);
  const Shape result = graph.value(transpose.outputs[0]).type.shape;
  Shape whole(result.size() - given->shape().size(), 1);
  whole.insert(whole.end(), given->shape().begin(), given->shape().end());
  const std::vector<std::string> origins = merged_origins(gather.origins, transpose.origins);
  ValueId indices = graph.add_constant(given->reshaped(whole), "", origins);
  indices = graph.add(Op::Transpose, attrs, {indices}, origins);
  if (graph.value(indices).type.shape != result)
    indices = graph.add(Op::Expand, ShapeAttrs{result}, {indices}, origins);
  const ValueId data = graph.add(Op::Transpose, attrs, {gather.inputs[0]}, origins);
  const int64_t axis = std::get<AxisAttrs>(gather.attrs).axis;
  const auto moved = std::find(attrs.perm.begin(), attrs.perm.end(), axis);
  replace_by_node(graph, id, Op::GatherElements, AxisAttrs{moved - attrs.perm.begin()}, {data, indices},
                  gather.origins);
  return true;
}

template <typename Change>
int change_all(Graph& graph, Op op, const Change& change) {
  int changes = 0;
  for (NodeId id : graph.topological_order())
    if (graph.node(id).op == op && !graph.node(id).dead) changes += change(graph, id) ? 1 : 0;
  return changes;
}

}  // namespace

int narrow_indices(Graph& graph) {
  return change_all(graph, Op::GatherElements, narrow_indices_of);
}

int transpose_gathers(Graph& graph) {
  return change_all(graph, Op::Transpose, transpose_operands);
}

}  // namespace korch::passes
