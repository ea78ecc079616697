#include "korch/codegen/loop/reduction.h"

#include <algorithm>

#include "korch/codegen/loop/index_map.h"

namespace korch::tile {
namespace {

struct ReducedAxes {
  std::vector<int64_t> axes;
  bool keepdims;
  bool has(size_t axis) const {
    return std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
  }
};

ReducedAxes reduced_axes(const Node& node) {
  if (const auto* arg = std::get_if<ArgReduceAttrs>(&node.attrs)) return {{arg->axis}, arg->keepdims};
  const auto& reduce = std::get<ReduceAttrs>(node.attrs);
  return {reduce.axes, reduce.keepdims};
}

}  // namespace

bool is_linear(const Node& node) {
  return info(node.op).category == Category::linear;
}

bool is_reduction(const Node& node) {
  return info(node.op).category == Category::reduce || is_linear(node);
}

int64_t reduced_elements(const Graph& graph, const Node& node) {
  if (is_linear(node)) return element_count(product_extents(graph, node));
  int64_t count = 1;
  for (int64_t axis : reduced_axes(node).axes) count *= graph.value(node.inputs[0]).type.shape[axis];
  return count;
}

DraftNest reduction_nest(const Graph& graph, const Node& node, const std::vector<Index>& coords,
                         const Domain& reduced, const std::vector<int>& memory_order) {
  DraftNest nest;
  nest.kind = NestKind::reduce;
  nest.combine = *combine_function(node.op);
  for (const LoopVariable& variable : reduced.variables)
    if (variable.extent > 1) nest.reduced.push_back(variable);
  DraftTarget target;
  if (is_linear(node)) {
    target.source = node.outputs[0];
    target.coords = coords;
    target.reduced = unflatten(reduced.flat, product_extents(graph, node));
    nest.targets.push_back(std::move(target));
    return nest;
  }
  const Shape& in = graph.value(node.inputs[0]).type.shape;
  const ReducedAxes axes = reduced_axes(node);
  Shape extents;
  std::vector<int> order;
  for (int axis : memory_order) {
    if (!axes.has(axis)) continue;
    order.push_back(axis);
    extents.push_back(in[axis]);
  }
  const std::vector<Index> inner = unflatten(reduced.flat, extents);
  target.source = node.inputs[0];
  target.coords.resize(in.size());
  for (size_t i = 0; i < order.size(); ++i) target.coords[order[i]] = inner[i];
  for (size_t axis = 0, out = 0; axis < in.size(); ++axis) {
    if (!axes.has(axis)) target.coords[axis] = coords[out];
    if (!axes.has(axis) || axes.keepdims) ++out;
  }
  if (const auto* arg = std::get_if<ArgReduceAttrs>(&node.attrs)) {
    nest.kind = NestKind::arg_reduce;
    nest.position = target.coords[arg->axis];
    nest.select_last = arg->select_last;
  }
  nest.targets.push_back(std::move(target));
  return nest;
}

}  // namespace korch::tile
