// normalize_views, merge_views, drop_expands, absorb_transposes: layout primitives.
#include <algorithm>

#include "korch/fission/replace.h"
#include "korch/fission/simplify.h"
#include "korch/ir/index_map.h"
#include "korch/ir/node_key.h"

namespace korch::passes {
namespace {

bool reduces_only_unit_axes(const Node& node, const Shape& shape) {
  if (node.op == Op::ArgMax || node.op == Op::ArgMin) return false;
  const std::vector<int64_t>& axes = std::get<ReduceAttrs>(node.attrs).axes;
  return std::all_of(axes.begin(), axes.end(),
                     [&](int64_t axis) { return shape[static_cast<size_t>(axis)] == 1; });
}

// Computes its input's elements in their order, so that a reshape does the same.
bool is_reshape_in_disguise(const Graph& graph, const Node& node) {
  if (node.inputs.empty()) return false;
  if (node.op == Op::Transpose || node.op == Op::Expand)
    return start_of_run(index_maps(graph, node).operands[0]) == 0;
  return info(node.op).category == Category::reduce &&
         reduces_only_unit_axes(node, graph.value(node.inputs[0]).type.shape);
}

// Gather of positions first, first + step, ...: a slice, then a reshape when the indices are no vector.
bool gather_becomes_slice(Graph& graph, NodeId id) {
  const Node node = graph.node(id);
  const HostTensor* constant = graph.constant(node.inputs[1]);
  if (constant == nullptr || constant->elements() == 0) return false;
  const Shape shape = graph.value(node.inputs[0]).type.shape;
  const size_t axis = static_cast<size_t>(std::get<AxisAttrs>(node.attrs).axis);
  std::vector<int64_t> index = as_int_vector(*constant);
  for (int64_t& i : index) {
    i += i < 0 ? shape[axis] : 0;
    if (i < 0 || i >= shape[axis]) return false;  // an error at run time, not here
  }
  const int64_t step = index.size() > 1 ? index[1] - index[0] : 1;
  if (step == 0) return false;
  for (size_t i = 1; i < index.size(); ++i) {
    if (index[i] - index[i - 1] != step) return false;
  }
  SliceAttrs slice{Shape(shape.size(), 0), shape, Shape(shape.size(), 1)};
  slice.starts[axis] = index[0];
  slice.sizes[axis] = static_cast<int64_t>(index.size());
  slice.steps[axis] = step;
  const Shape result = graph.value(node.outputs[0]).type.shape;
  if (result == slice.sizes) {
    replace_by_node(graph, id, Op::Slice, slice, {node.inputs[0]});
    return true;
  }
  const std::string name = graph.value(node.outputs[0]).name + ".slice";
  const ValueId sliced = graph.add(Op::Slice, slice, {node.inputs[0]}, node.origins, name);
  replace_by_node(graph, id, Op::Reshape, ShapeAttrs{result}, {sliced});
  return true;
}

// The user computes the same when it reads the expand's input itself.
bool broadcasts_by_itself(const Graph& graph, const Node& user, size_t operand, const Node& expand) {
  const bool elementwise = info(user.op).category == Category::elementwise && user.inputs.size() > 1;
  if (!elementwise && user.op != Op::MatMul) return false;
  const Shape& small = graph.value(expand.inputs[0]).type.shape;
  const Shape& large = graph.value(expand.outputs[0]).type.shape;
  // A MatMul broadcasts its batch axes only.
  if (user.op == Op::MatMul &&
      (small.size() < 2 || !std::equal(large.end() - 2, large.end(), small.end() - 2, small.end()))) {
    return false;
  }
  std::vector<TensorType> types;
  for (ValueId input : user.inputs) types.push_back(graph.value(input).type);
  types[operand].shape = small;
  return infer_types(user.op, user.attrs, types)[0] == graph.value(user.outputs[0]).type;
}

// Reads a MatMul's operand with its last two axes exchanged.
bool exchange_last_axes(Graph& graph, NodeId id, size_t operand) {
  const Node matmul = graph.node(id);
  const Node* producer = producer_of(graph, matmul.inputs[operand], Op::Transpose);
  if (producer == nullptr) return false;
  const Node transpose = *producer;
  PermAttrs exchanged = std::get<PermAttrs>(transpose.attrs);
  const int64_t innermost = static_cast<int64_t>(exchanged.perm.size()) - 1;
  std::swap(exchanged.perm[exchanged.perm.size() - 1], exchanged.perm[exchanged.perm.size() - 2]);
  if (exchanged.perm.back() != innermost) return false;

  std::vector<ValueId> inputs = matmul.inputs;
  inputs[operand] = transpose.inputs[0];
  if (!std::is_sorted(exchanged.perm.begin(), exchanged.perm.end())) {
    const std::string name = graph.value(transpose.outputs[0]).name + ".rows";
    inputs[operand] = graph.add(Op::Transpose, exchanged, {transpose.inputs[0]}, transpose.origins, name);
  }
  MatMulAttrs flags = std::get<MatMulAttrs>(matmul.attrs);
  bool& flag = operand == 0 ? flags.transpose_a : flags.transpose_b;
  flag = !flag;
  replace_by_node(graph, id, Op::MatMul, flags, inputs, transpose.origins);
  return true;
}

}  // namespace

int normalize_views(Graph& graph) {
  int changes = 0;
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (is_reshape_in_disguise(graph, node)) {
      const ValueId input = node.inputs[0];
      const Shape result = graph.value(node.outputs[0]).type.shape;
      replace_by_node(graph, id, Op::Reshape, ShapeAttrs{result}, {input});
      ++changes;
    } else if (node.op == Op::Gather) {
      changes += gather_becomes_slice(graph, id);
    }
  }
  return changes;
}

int merge_views(Graph& graph) {
  int changes = 0;
  for (NodeId id : graph.topological_order()) {
    const Node& outer = graph.node(id);
    const bool mergeable = outer.op == Op::Reshape || outer.op == Op::Transpose || outer.op == Op::Slice ||
                           outer.op == Op::Expand;
    const Node* inner = mergeable ? producer_of(graph, outer.inputs[0], outer.op) : nullptr;
    if (inner == nullptr) continue;
    const std::vector<ValueId> inputs = inner->inputs;
    const std::vector<std::string> origins = inner->origins;
    replace_by_node(graph, id, outer.op, composed_views(outer.op, inner->attrs, outer.attrs), inputs,
                    origins);
    ++changes;
  }
  return changes;
}

int drop_expands(Graph& graph) {
  int changes = 0;
  for (NodeId id : graph.topological_order()) {
    for (size_t i = 0; i < graph.node(id).inputs.size(); ++i) {
      const Node user = graph.node(id);
      const Node* expand = producer_of(graph, user.inputs[i], Op::Expand);
      if (expand == nullptr || !broadcasts_by_itself(graph, user, i, *expand)) continue;
      std::vector<ValueId> inputs = user.inputs;
      inputs[i] = expand->inputs[0];
      const std::vector<std::string> origins = expand->origins;
      replace_by_node(graph, id, user.op, user.attrs, inputs, origins);
      ++changes;
      break;  // the node is dead now; its successor is seen in the next round
    }
  }
  return changes;
}

int absorb_transposes(Graph& graph) {
  int changes = 0;
  for (NodeId id : graph.topological_order()) {
    // After the first operand the node is dead; its successor is seen in the next round.
    if (graph.node(id).op != Op::MatMul) continue;
    changes += exchange_last_axes(graph, id, 0) || exchange_last_axes(graph, id, 1);
  }
  return changes;
}

}  // namespace korch::passes
