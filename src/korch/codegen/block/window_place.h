// Where windows read: indices of the axis that they are of.
#pragma once

#include "korch/codegen/block/arguments.h"

namespace korch::blocks {

struct WindowPlace {
  tile::Index place;
  tile::Condition inside;  // there is such a value of the axis
};

inline tile::Index sum_of(const block::Window& window, const AxisPlaces& places) {
  tile::Index sum = 0;
  for (const block::Window::Part& part : window.parts)
    sum = sum + places[static_cast<size_t>(part.axis)] * part.times;
  return sum;
}

inline WindowPlace place_of(const block::Window& window, const std::vector<block::Axis>& axes,
                            const AxisPlaces& places) {
  const tile::Index place = sum_of(window, places) + window.offset;
  return {place, tile::Condition().require(place, 0, axes[static_cast<size_t>(window.of)].extent - 1)};
}

}  // namespace korch::blocks
