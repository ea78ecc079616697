// What the windows of a map read of a buffer, as a box in coordinates of axes (staged_windows.h).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "korch/base/ceil_div.h"
#include "korch/kernel/tile_graph.h"

namespace korch::tile {

// Loads at offsets that differ by constants: the sum over the axes of unit * coordinate. The coordinate that
// a tap reads is step * variable + one of low ... high; the buffer has those from `first` to `last`.
struct WindowAxis {
  LoopVariable variable;
  int64_t unit = 1, step = 1;
  int64_t low = 0, high = 0;
  int64_t first = 0, last = 0;
  int64_t width(int64_t tile) const { return step * (tile - 1) + high - low + 1; }
  int64_t blocks(int64_t tile) const { return ceil_div(variable.extent, tile); }
};

struct WindowBox {
  int buffer = -1;
  std::vector<WindowAxis> axes;  // by unit, the largest first
  std::map<int, std::vector<int64_t>>
      loads;  // each load's tap: of each axis what is added to step * variable
  // Guards that only tell apart what is inside of the buffer: staged elements outside of it have the value
  // `padding`, and so need none.
  std::vector<int> guards;
  int padding = -1;  // an expression; -1: nothing outside is read
};

// The one that most loads of the map belong to, at least `kFewestTaps`; none where offsets or guards are of
// another kind. `points` are all variables of the map, whether of the grid or of its loops.
// `constants_are_finite`: asked where padding is multiplied by constants.
constexpr size_t kFewestTaps = 3;
std::optional<WindowBox> window_box(TileGraph& graph, const Nest& nest,
                                    const std::vector<LoopVariable>& points,
                                    const std::function<bool()>& constants_are_finite);

}  // namespace korch::tile
