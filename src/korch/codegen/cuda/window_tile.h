// How many results of a map over windows a slice makes, and how what they read lies in shared memory
// (staged_windows.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/codegen/cuda/window_box.h"
#include "korch/device/device.h"

namespace korch::tile {

// Values of each variable that a slice has.
using WindowTile = std::map<std::string, int64_t>;

// The box of a tile: of each axis the first coordinate beside step * the tile's first value, how many there
// are, and how far they lie from each other. Lines begin and end at multiples of four elements where that
// holds for the buffer's lines, so that they are copied by four.
struct StagedBox {
  std::vector<int64_t> low, width, pitch;
  int64_t elements = 1;
};
StagedBox staged_box(const WindowBox& box, const WindowTile& tile);

// The tile that is thought to be the fastest, in which staged elements are read often enough; empty: none.
// `points` are the variables of the map, in the order in which they are dealt to threads.
WindowTile choose_window_tile(const WindowBox& box, const Index& stored_at,
                              const std::vector<LoopVariable>& points, const Device& device);

}  // namespace korch::tile
