// One axis of the results that is divided among slices: whole, one by one, or in chunks.
#pragma once

#include <string>
#include <vector>

#include "korch/kernel/schedule.h"

namespace korch::linear {

class SliceAxis {
 public:
  // `extent` values, `chunk` of them per slice.
  SliceAxis(std::string name, int64_t extent, int64_t chunk)
      : grid_{{std::move(name), extent}, chunk < extent ? chunk : extent} {}

  int64_t extent() const { return grid_.variable.extent; }
  int64_t chunk() const { return grid_.chunk; }
  // Appends what the phase's grid needs for it.
  void deal_out(tile::ScheduledPhase& phase) const {
    if (dealt_out()) phase.grid.push_back(grid_);
  }
  // Appends the loop over the values low .. high - 1 that a slice has.
  void loop(std::vector<tile::OuterLoop>& loops, int64_t low, int64_t high) const {
    const bool fixed = dealt_out() && chunk() == 1, whole = low == 0 && high == extent();
    if (extent() > 1 && !(fixed && whole)) loops.push_back({grid_.variable, low, high});
  }
  void loop(std::vector<tile::OuterLoop>& loops) const { loop(loops, 0, extent()); }
  // Its value within that loop.
  tile::Index at(int64_t low, int64_t high) const {
    return tile::Index::variable(grid_.variable.name, low, high - 1);
  }
  tile::Index at() const { return at(0, extent()); }
  // The slice's first value.
  tile::Index first() const {
    if (!dealt_out()) return 0;
    return chunk() == 1 ? at() : tile::Index::variable(grid_.block(), grid_.count()) * chunk();
  }
  // Which of the slices along the axis it is.
  tile::Index number() const {
    if (!dealt_out()) return 0;
    return chunk() == 1 ? at() : tile::Index::variable(grid_.block(), grid_.count());
  }
  // How far a value is from the first.
  tile::Index local(int64_t low, int64_t high) const {
    return dealt_out() ? tile::floor_mod(at(low, high), chunk()) : at(low, high);
  }
  tile::Index local() const { return local(0, extent()); }

 private:
  bool dealt_out() const { return grid_.count() > 1; }

  tile::GridVariable grid_;
};

}  // namespace korch::linear
