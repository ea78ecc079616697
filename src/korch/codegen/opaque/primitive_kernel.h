// A tile graph in the making, of a candidate that is one primitive.
#pragma once

#include <variant>
#include <vector>

#include "korch/base/ceil_div.h"
#include "korch/codegen/implementation.h"
#include "korch/kernel/schedule.h"

namespace korch::tile {

// One primitive and the graph that is made for it; in and out are the buffers of its operands and results.
struct PrimitiveKernel {
  const Node& node;
  std::vector<TensorType> inputs, outputs;
  std::vector<int> in, out;  // out: -1 for a result that nobody asked for
  ScheduledGraph graph;

  template <typename T>
  const T& attrs() const {
    return std::get<T>(node.attrs);
  }
  int add_buffer(BufferRole role, const TensorType& type) {
    graph.buffers.push_back({.role = role, .type = type.dtype, .elements = type.elements()});
    return static_cast<int>(graph.buffers.size()) - 1;
  }
  int add_scratch(const TensorType& type) {
    const int number = add_buffer(BufferRole::scratch, type);
    graph.buffers[number].offset_bytes = graph.scratch_bytes;
    graph.scratch_bytes += ceil_div(graph.buffers[number].bytes(), kCacheLineBytes) * kCacheLineBytes;
    return number;
  }
  int load_from(int buffer, const Index& offset) {
    Expr e;
    e.kind = ExprKind::load;
    e.type = graph.buffers[buffer].type;
    e.buffer = buffer;
    e.coords = {offset};
    return graph.pool.add(std::move(e));
  }
  int load(size_t input, const Index& offset) { return load_from(in[input], offset); }
  // An element of the indices (input 1) as an index of an axis.
  Index checked_index(const Index& offset, int64_t extent) {
    return tile::checked_index(graph.pool, load(1, offset), extent);
  }
  Nest& add_nest(std::vector<GridVariable> grid, Nest nest) {
    add_phase(graph, {std::move(grid), {{std::move(nest), {}}}});
    return graph.phases.back().nests.back();
  }
};

// The arguments in the order of the ABI, and where among them the operands and results are.
PrimitiveKernel primitive_kernel(const Graph& graph, const Candidate& candidate);

}  // namespace korch::tile
