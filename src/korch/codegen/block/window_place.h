// Where windows read: indices of the axis that they are of.
#pragma once

#include "korch/codegen/block/arguments.h"

namespace korch::blocks {

struct WindowPlace {
  tile::Index place;
  tile::Condition inside;  // there is such a value of the axis
};

inline WindowPlace place_of(const block::Window& window, const std::vector<block::Axis>& axes,
                            const AxisPlaces& places) {
  tile::Index place = window.offset;
  for (const block::Window::Part& part : window.parts)
    place = place + places[static_cast<size_t>(part.axis)] * part.times;
  return {place, tile::Condition().require(place, 0, axes[static_cast<size_t>(window.of)].extent - 1)};
}

}  // namespace korch::blocks
