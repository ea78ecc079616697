// shrink_constants and merge_common.
#include <cstring>
#include <map>

#include "korch/fission/replace.h"
#include "korch/fission/simplify.h"
#include "korch/ir/node_key.h"

namespace korch::passes {
namespace {

// The tensor seen as [outer, extent, inner] bytes: true when all `extent` slices are equal.
bool repeats_along(const HostTensor& tensor, size_t axis) {
  const Shape& shape = tensor.shape();
  int64_t outer = 1;
  for (size_t i = 0; i < axis; ++i) outer *= shape[i];
  const int64_t extent = shape[axis];
  const size_t slice_bytes = static_cast<size_t>(tensor.bytes() / (outer * extent));
  const char* bytes = static_cast<const char*>(tensor.raw());
  for (int64_t o = 0; o < outer; ++o) {
    const char* first = bytes + static_cast<size_t>(o * extent) * slice_bytes;
    for (int64_t i = 1; i < extent; ++i) {
      if (std::memcmp(first, first + static_cast<size_t>(i) * slice_bytes, slice_bytes) != 0) return false;
    }
  }
  return true;
}

// The first of the equal slices along the axis.
HostTensor first_along(const HostTensor& tensor, size_t axis) {
  TensorType type = tensor.type();
  int64_t outer = 1;
  for (size_t i = 0; i < axis; ++i) outer *= type.shape[i];
  const size_t row_bytes = static_cast<size_t>(tensor.bytes() / outer);
  const size_t slice_bytes = row_bytes / static_cast<size_t>(type.shape[axis]);
  type.shape[axis] = 1;
  HostTensor result(type);
  const char* from = static_cast<const char*>(tensor.raw());
  char* to = static_cast<char*>(result.mutable_raw());
  for (int64_t o = 0; o < outer; ++o) {
    std::memcpy(to + static_cast<size_t>(o) * slice_bytes, from + static_cast<size_t>(o) * row_bytes,
                slice_bytes);
  }
  return result;
}

}  // namespace

HostTensor without_repetition(HostTensor tensor) {
  for (size_t axis = 0; axis < tensor.shape().size(); ++axis) {
    if (tensor.shape()[axis] > 1 && repeats_along(tensor, axis)) tensor = first_along(tensor, axis);
  }
  Shape shape = tensor.shape();
  while (!shape.empty() && shape[0] == 1) shape.erase(shape.begin());
  return tensor.reshaped(shape);
}

namespace {

// Replaces one operand of an elementwise node by a smaller constant where the result keeps its type.
bool shrink_operand(Graph& graph, NodeId id, size_t operand) {
  const Node node = graph.node(id);
  const ValueId input = node.inputs[operand];
  const HostTensor* constant = graph.constant(input);
  if (constant == nullptr || constant->elements() == 0 || constant->shape().empty()) return false;
  const HostTensor small = without_repetition(*constant);
  if (small.shape() == constant->shape()) return false;
  std::vector<TensorType> types;
  for (ValueId value : node.inputs) types.push_back(graph.value(value).type);
  types[operand] = small.type();
  if (infer_types(node.op, node.attrs, types)[0] != graph.value(node.outputs[0]).type) return false;
  std::vector<ValueId> inputs = node.inputs;
  const std::string name = graph.value(input).name;
  inputs[operand] = graph.add_constant(small, name, graph.node(graph.value(input).producers[0]).origins);
  replace_by_node(graph, id, node.op, node.attrs, inputs);
  return true;
}

}  // namespace

int shrink_constants(Graph& graph) {
  int changes = 0;
  for (NodeId id : graph.topological_order()) {
    const bool broadcasts =
        info(graph.node(id).op).category == Category::elementwise && graph.node(id).inputs.size() > 1;
    if (!broadcasts) continue;
    for (size_t i = 0; i < graph.node(id).inputs.size(); ++i) {
      if (!shrink_operand(graph, id, i)) continue;
      ++changes;
      break;  // the node is dead now; its successor is seen in the next round
    }
  }
  return changes;
}

int merge_common(Graph& graph) {
  int changes = 0;
  std::map<std::string, NodeId> seen;
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    const auto [place, is_new] = seen.emplace(node_key(node.op, node.attrs, node.inputs), id);
    if (is_new) continue;
    const NodeId first = place->second;
    Node& kept = graph.mutable_node(first);
    // A constant is data that many nodes share; only computation is attributed.
    if (kept.op != Op::Constant) kept.origins = merged_origins(kept.origins, graph.node(id).origins);
    for (size_t i = 0; i < kept.outputs.size(); ++i) {
      graph.replace_uses(graph.node(id).outputs[i], kept.outputs[i]);
    }
    graph.kill_node(id);
    ++changes;
  }
  return changes;
}

}  // namespace korch::passes
