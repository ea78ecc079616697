#include "korch/codegen/loop/reduction.h"

#include "korch/codegen/loop/index_map.h"

namespace korch::tile {

bool is_linear(const Node& node) {
  return info(node.op).category == Category::linear;
}

bool is_reduction(const Node& node) {
  return info(node.op).category == Category::reduce || is_linear(node);
}

int64_t reduced_elements(const Graph& graph, const Node& node) {
  return element_count(is_linear(node) ? product_extents(graph, node) : index_maps(graph, node).taps);
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
  const IndexMaps maps = index_maps(graph, node);
  std::vector<int> order;
  for (int axis : memory_order)
    if (const int tap = maps.operands[0].coordinates[axis].tap; tap >= 0) order.push_back(tap);
  target.source = node.inputs[0];
  target.coords = read_at(maps, 0, coords, coords_in_order(reduced.flat, maps.taps, order)).coords;
  if (const auto* arg = std::get_if<ArgReduceAttrs>(&node.attrs)) {
    nest.kind = NestKind::arg_reduce;
    nest.position = target.coords[arg->axis];
    nest.select_last = arg->select_last;
  }
  nest.targets.push_back(std::move(target));
  return nest;
}

}  // namespace korch::tile
