// The layout primitives as maps from an output index to an input index.
#pragma once

#include <vector>

#include "korch/ir/graph.h"
#include "korch/kernel/index.h"
#include "korch/tensor/layout.h"

namespace korch::tile {

// The element of operand `operand` at `coords`, for the output elements where `when` holds.
struct MappedRead {
  int operand = 0;
  std::vector<Index> coords;
  Condition when;
};

// Pieces are tried in order; the first whose condition holds gives the element. Where none holds (constant
// padding) the element is PadAttrs::value. Covers Transpose, Reshape, Slice, Pad, Concat and Expand; Gather
// needs run-time values (compose.h).
std::vector<MappedRead> map_layout(const Graph& graph, const Node& node, const std::vector<Index>& coords);

// Row-major position of an index, and back.
Index flatten(const std::vector<Index>& coords, const Shape& shape);
std::vector<Index> unflatten(const Index& flat, const Shape& shape);

// The operand's coordinates under numpy broadcasting.
std::vector<Index> broadcast_coords(const std::vector<Index>& coords, const Shape& operand);

// Element offset in memory; any layout, blocked ones too.
Index memory_offset(const std::vector<Index>& coords, const Shape& shape, const Layout& layout);

}  // namespace korch::tile
