// What the slices of a phase read and write: derived from the offsets and conditions of a tile graph.
#pragma once

#include <functional>
#include <vector>

#include "korch/kernel/tile_graph.h"

namespace korch::tile {

// The elements base + sum of x_k * stride_k with 0 <= x_k < extent_k; strides ascend and are positive.
struct StridedBox {
  struct Axis {
    int64_t extent, stride;
    bool operator==(const Axis&) const = default;
  };
  int64_t base = 0;
  std::vector<Axis> axes;
  int64_t last() const;  // its largest element
  bool operator==(const StridedBox&) const = default;
};

struct Region {
  std::vector<StridedBox> boxes;  // may overlap
  bool exact = true;  // else it may hold more than is accessed: an index comes from data, or the boxes
                      // would be too many
};

enum class Direction { read, written };

// The part of a buffer that slices [begin, end) of a phase read or write.
Region region(const TileGraph& graph, const Phase& phase, Direction direction, int buffer, int64_t begin,
              int64_t end);

// Every access of the phase, all slices at once: buffer, direction, region.
struct Access {
  int buffer;
  Direction direction;
  Region region;
};
std::vector<Access> accesses(const TileGraph& graph, const Phase& phase, const Nest& nest);

// Every access of slices [begin, end) of the phase, found without a walk over the slices. The regions hold at
// least the accessed elements, and more if a value depends on a chunk and on values inside it.
std::vector<Access> accesses(const TileGraph& graph, const Phase& phase, int64_t begin, int64_t end);

void for_each_element(const Region& region, const std::function<void(int64_t)>& visit);

// An output that is written twice or not wholly; empty when there is none. For a graph without structural
// fault.
std::string coverage_fault(const TileGraph& graph);

}  // namespace korch::tile
