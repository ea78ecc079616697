#include "korch/codegen/linear/output_map.h"

#include <algorithm>
#include <set>

#include "korch/codegen/loop/index_map.h"

namespace korch::linear {

namespace {

// Splits the axes of two shapes of equal element count into the smallest groups of equal products.
struct AxisGroup {
  size_t from_begin, from_end, to_begin, to_end;
};

std::vector<AxisGroup> matching_groups(const Shape& from, const Shape& to) {
  std::vector<AxisGroup> groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    AxisGroup group{i, i, j, j};
    int64_t a = 1, b = 1;
    do {
      if (a <= b && i < from.size())
        a *= from[i++];
      else if (j < to.size())
        b *= to[j++];
      else
        a *= from[i++];
    } while (a != b);
    group.from_end = i;
    group.to_end = j;
    groups.push_back(group);
  }
  return groups;
}

Coords reshape_coords(const Shape& from, const Shape& to, const Coords& coords) {
  Coords result(to.size());
  for (const AxisGroup& group : matching_groups(from, to)) {
    Index flat = 0;
    for (size_t i = group.from_begin; i < group.from_end; ++i) flat = flat * from[i] + coords[i];
    int64_t stride = 1;
    for (size_t j = group.to_end; j-- > group.to_begin;) {
      const Index quotient = tile::floor_div(flat, stride);
      result[j] = j == group.to_begin ? quotient : tile::floor_mod(quotient, to[j]);
      stride *= to[j];
    }
  }
  return result;
}

Coords step(const Graph& graph, const Node& node, ValueId from, const Coords& coords) {
  if (node.op == Op::Transpose) return tile::result_coords(graph, node, coords);
  if (node.op == Op::Reshape)
    return reshape_coords(graph.value(from).type.shape, graph.value(node.outputs[0]).type.shape, coords);
  return coords;
}

// Whether the axes lie contiguously, in order, in the layout of this shape; those of one element lie
// anywhere.
bool contiguous(const Shape& shape, const Layout& layout, const std::vector<int>& axes) {
  if (!layout.has_strides()) return false;
  const Shape element_strides = strides(shape, layout);
  int inner = -1;
  for (size_t i = axes.size(); i-- > 0;) {
    const int axis = axes[i];
    if (shape[axis] == 1) continue;
    if (inner >= 0 && element_strides[axis] != element_strides[inner] * shape[inner]) return false;
    inner = axis;
  }
  return true;
}

// Reading `value` elementwise for a result of `shape`: `axes` of the result may be merged.
bool read_merges(const LinearWorkload& workload, const Implementation& implementation, ValueId value,
                 const Shape& shape, const std::vector<int>& axes) {
  const Shape& own = type_of(workload, value).shape;
  const int shift = static_cast<int>(shape.size()) - static_cast<int>(own.size());
  bool full = true, broadcast = true;
  std::vector<int> own_axes;
  for (int axis : axes) {
    if (shape[axis] == 1) continue;
    const bool has = axis >= shift && own[axis - shift] == shape[axis];
    full = full && has;
    broadcast = broadcast && !has;
    own_axes.push_back(axis - shift);
  }
  if (full) return contiguous(own, layout_of(workload, implementation, value), own_axes);
  return broadcast;
}

std::map<ValueId, NodeId> producers(const LinearWorkload& workload) {
  std::map<ValueId, NodeId> made;
  for (NodeId id : workload.candidate->nodes)
    for (ValueId output : workload.graph->node(id).outputs) made[output] = id;
  return made;
}

// Whether all that is between `root` and what is read is elementwise, and what is read merges.
bool tree_merges(const LinearWorkload& workload, const Implementation& implementation, ValueId root,
                 const Shape& shape, const std::vector<int>& axes, const std::map<ValueId, NodeId>& made) {
  std::vector<ValueId> pending = {root};
  std::set<ValueId> seen = {workload.value};
  while (!pending.empty()) {
    const ValueId value = pending.back();
    pending.pop_back();
    if (!seen.insert(value).second) continue;
    const auto producer = made.find(value);
    if (producer == made.end()) {
      if (!read_merges(workload, implementation, value, shape, axes)) return false;
      continue;
    }
    const Node& node = workload.graph->node(producer->second);
    if (info(node.op).category != Category::elementwise) return false;
    pending.insert(pending.end(), node.inputs.begin(), node.inputs.end());
  }
  return true;
}

}  // namespace

Layout layout_of(const LinearWorkload& workload, const Implementation& implementation, ValueId value) {
  const auto& inputs = workload.candidate->inputs;
  const auto& outputs = workload.candidate->outputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] == value) return implementation.input_layouts[i];
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] == value) return implementation.output_layouts[i];
  return Layout::row_major();
}

int merged_axis(const Shape& shape, const std::vector<int>& axes) {
  for (size_t i = axes.size(); i-- > 0;)
    if (shape[axes[i]] != 1) return axes[i];
  return axes.back();
}

int reshaped_axis(const Shape& from, const Shape& to, int axis) {
  for (const AxisGroup& group : matching_groups(from, to)) {
    if (axis < static_cast<int>(group.from_begin) || axis >= static_cast<int>(group.from_end)) continue;
    for (size_t inner = axis + 1; inner < group.from_end; ++inner)
      if (from[inner] != 1) return -1;
    int last = static_cast<int>(group.to_end) - 1;
    while (last > static_cast<int>(group.to_begin) && to[last] == 1) --last;
    return last >= static_cast<int>(group.to_begin) ? last : -1;
  }
  return -1;
}

std::map<ValueId, Coords> output_coords(const LinearWorkload& workload, const Coords& coords) {
  const Graph& graph = *workload.graph;
  std::map<ValueId, Coords> known = {{workload.value, coords}};
  for (NodeId id : workload.candidate->nodes) {
    if (id == workload.node) continue;
    const Node& node = graph.node(id);
    for (ValueId input : node.inputs) {
      const auto found = known.find(input);
      if (found == known.end()) continue;
      Coords next = step(graph, node, input, found->second);
      const auto [at, inserted] = known.emplace(node.outputs[0], next);
      if (!inserted && !(at->second == next)) return {};
    }
  }
  std::map<ValueId, Coords> result;
  for (ValueId output : workload.candidate->outputs) result[output] = known.at(output);
  return result;
}

bool epilogue_merges(const LinearWorkload& workload, const Implementation& implementation,
                     const std::vector<int>& axes) {
  const Shape& shape = type_of(workload, workload.value).shape;
  const auto made = producers(workload);
  return std::all_of(workload.candidate->outputs.begin(), workload.candidate->outputs.end(),
                     [&](ValueId output) {
                       return tree_merges(workload, implementation, output, shape, axes, made) &&
                              contiguous(shape, layout_of(workload, implementation, output), axes);
                     });
}

bool operand_merges(const LinearWorkload& workload, const Implementation& implementation, ValueId value,
                    const std::vector<int>& axes) {
  return tree_merges(workload, implementation, value, type_of(workload, value).shape, axes,
                     producers(workload));
}

}  // namespace korch::linear
