// separate_axes: transposes move the finest axes there are, so that one that only changes the layout of an
// image (NCHW to NHWC, then flattened) shows as such.
#include <algorithm>
#include <optional>

#include "korch/fission/replace.h"
#include "korch/fission/simplify.h"

namespace korch::passes {
namespace {

// For each axis of `coarse` the range [begin, end) of axes of `fine` that it is the product of.
using Groups = std::vector<std::pair<size_t, size_t>>;

// Null unless `coarse` results from merging neighbours of `fine`, at least two of them larger than 1.
std::optional<Groups> merged_groups(const Shape& fine, const Shape& coarse) {
  if (element_count(fine) == 0) return std::nullopt;
  Groups groups;
  size_t next = 0;
  bool merges = false;
  for (size_t axis = 0; axis < coarse.size(); ++axis) {
    const size_t begin = next;
    int64_t product = 1;
    int larger = 0;
    while (next < fine.size() && (product < coarse[axis] || (next == begin && fine[next] == 1))) {
      product *= fine[next];
      larger += fine[next] > 1;
      ++next;
    }
    if (axis + 1 == coarse.size()) {
      while (next < fine.size() && fine[next] == 1) ++next;
    }
    if (product != coarse[axis]) return std::nullopt;
    merges = merges || larger > 1;
    groups.push_back({begin, next});
  }
  if (!merges || next != fine.size()) return std::nullopt;
  return groups;
}

// The axes of the groups, taken in the order of `perm`.
std::vector<int64_t> fine_perm(const Groups& groups, const std::vector<int64_t>& perm) {
  std::vector<int64_t> result;
  for (int64_t axis : perm) {
    for (size_t i = groups[static_cast<size_t>(axis)].first; i < groups[static_cast<size_t>(axis)].second;
         ++i) {
      result.push_back(static_cast<int64_t>(i));
    }
  }
  return result;
}

bool has_one_use(const Graph& graph, ValueId value) {
  const std::vector<ValueId>& outputs = graph.outputs();
  return graph.value(value).users.size() == 1 &&
         std::find(outputs.begin(), outputs.end(), value) == outputs.end();
}

// Transpose of a merging reshape: transpose the axes, then merge.
bool transpose_before_merge(Graph& graph, NodeId id) {
  const Node transpose = graph.node(id);
  const Node* reshape = producer_of(graph, transpose.inputs[0], Op::Reshape);
  if (reshape == nullptr || !has_one_use(graph, transpose.inputs[0])) return false;
  const ValueId x = reshape->inputs[0];
  const std::optional<Groups> groups =
      merged_groups(graph.value(x).type.shape, graph.value(transpose.inputs[0]).type.shape);
  if (!groups) return false;
  const std::vector<std::string> origins = reshape->origins;
  const PermAttrs perm{fine_perm(*groups, std::get<PermAttrs>(transpose.attrs).perm)};
  const std::string name = graph.value(transpose.outputs[0]).name + ".axes";
  const ValueId moved = graph.add(Op::Transpose, perm, {x}, transpose.origins, name);
  const Shape result = graph.value(transpose.outputs[0]).type.shape;
  replace_by_node(graph, id, Op::Reshape, ShapeAttrs{result}, {moved}, origins);
  return true;
}

// Splitting reshape of a transpose: split the axes, then transpose.
bool split_before_transpose(Graph& graph, NodeId id) {
  const Node reshape = graph.node(id);
  const Node* producer = producer_of(graph, reshape.inputs[0], Op::Transpose);
  if (producer == nullptr || !has_one_use(graph, reshape.inputs[0])) return false;
  const Node transpose = *producer;
  const Shape result = graph.value(reshape.outputs[0]).type.shape;
  const std::optional<Groups> groups = merged_groups(result, graph.value(reshape.inputs[0]).type.shape);
  if (!groups) return false;

  // Axis a of the transpose's input becomes the axes of group g where perm[g] = a.
  const std::vector<int64_t>& perm = std::get<PermAttrs>(transpose.attrs).perm;
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  const std::vector<int64_t> order = fine_perm(*groups, inverse);  // output axis of each split input axis
  Shape split;
  PermAttrs moved{std::vector<int64_t>(order.size())};
  for (size_t i = 0; i < order.size(); ++i) {
    split.push_back(result[static_cast<size_t>(order[i])]);
    moved.perm[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  const std::string name = graph.value(reshape.outputs[0]).name + ".axes";
  const ValueId axes =
      graph.add(Op::Reshape, ShapeAttrs{split}, {transpose.inputs[0]}, reshape.origins, name);
  replace_by_node(graph, id, Op::Transpose, moved, {axes}, transpose.origins);
  return true;
}

}  // namespace

int separate_axes(Graph& graph) {
  int changes = 0;
  for (NodeId id : graph.topological_order()) {
    if (graph.node(id).op == Op::Transpose) changes += transpose_before_merge(graph, id);
    if (graph.node(id).op == Op::Reshape) changes += split_before_transpose(graph, id);
  }
  return changes;
}

}  // namespace korch::passes
