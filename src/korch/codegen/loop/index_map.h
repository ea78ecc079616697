// Index maps (ir/index_map.h) at symbolic coordinates.
#pragma once

#include <vector>

#include "korch/ir/index_map.h"
#include "korch/kernel/index.h"
#include "korch/tensor/layout.h"

namespace korch::tile {

// The element of operand `operand` at `coords`, for the output elements where `when` holds.
struct MappedRead {
  int operand = 0;
  std::vector<Index> coords;
  Condition when;
};

// The read of the result's element at `coords` by the taps `taps`. The caller replaces coordinates that are
// looked up.
MappedRead read_at(const IndexMaps& maps, size_t operand, std::vector<Index> coords,
                   const std::vector<Index>& taps = {});

// The reads of a layout primitive. The first piece whose condition holds gives the element; if none holds,
// the element is padding. Gather needs run-time values (compose.h).
std::vector<MappedRead> map_layout(const Graph& graph, const Node& node, const std::vector<Index>& coords);

// Of a Transpose or Reshape: the result's coordinates of an operand's element.
std::vector<Index> result_coords(const Graph& graph, const Node& node, const std::vector<Index>& coords);

// Row-major position of an index, and back.
Index flatten(const std::vector<Index>& coords, const Shape& shape);
std::vector<Index> unflatten(const Index& flat, const Shape& shape);

// The operand's coordinates under numpy broadcasting.
std::vector<Index> broadcast_coords(const std::vector<Index>& coords, const Shape& operand);

// Element offset in memory; any layout, blocked ones too.
Index memory_offset(const std::vector<Index>& coords, const Shape& shape, const Layout& layout);

}  // namespace korch::tile
