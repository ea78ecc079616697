// How a kernel of a block graph is cut: the rows of a slice, and the blocks of the loop's axis.
#pragma once

#include <fmt/format.h>

#include <map>

#include "korch/codegen/block/arguments.h"
#include "korch/codegen/block/roles.h"
#include "korch/codegen/linear/slice_axis.h"
#include "korch/codegen/linear/tiling.h"
#include "korch/codegen/schedule.h"
#include "korch/device/device.h"

namespace korch::blocks {

// Blocks of a loop's axis of one length: number low .. high - 1. Outside of loops: one, of no length.
struct Zone {
  int loop_number = -1;  // of the graph's loops
  int loop_axis = -1;
  int64_t low = 0, high = 1, length = 0;
};

// The values that nests are at: of every axis within what a slice holds of it, and in all.
struct Cursor {
  AxisPlaces local, global;
};

class Slice {
 public:
  Slice(const BlockGraph& graph, const Roles& roles, const BlockSchedule& schedule);

  const linear::RowTiling& rows() const { return rows_; }
  const linear::SliceAxis& row_blocks() const { return row_blocks_; }
  const linear::SliceAxis& column_blocks() const { return column_blocks_; }
  // Blocks with equally many rows that there are; of columns.
  std::vector<linear::RowZone> row_zones() const;
  std::vector<linear::RowZone> column_zones() const;
  int64_t blocks(int axis) const { return ceil_div(extent(axis), schedule_.block); }
  // Of a loop's axis that a slice has, one after the other.
  int64_t blocks_of_slice(int axis) const { return ceil_div(blocks(axis), schedule_.parts); }
  // Two loops over one axis have variables of their own: neighbouring nests in one loop would be one loop.
  linear::SliceAxis loop(const Zone& zone) const {
    return {fmt::format("block{}_{}", zone.loop_number, name(zone.loop_axis)), blocks(zone.loop_axis),
            blocks_of_slice(zone.loop_axis)};
  }
  // Runs of blocks of the first loop's axis; the last one may have fewer. How many, and which one a slice
  // has.
  int64_t parts() const;
  tile::Index part() const { return loop({0, graph_.loops[0]}).number(); }
  std::vector<Zone> zones(int loop_number) const;
  // Of those that the slice has.
  tile::Condition first(const Zone& zone) const { return in_blocks(zone, 0, 0); }
  tile::Condition later(const Zone& zone) const {
    return in_blocks(zone, 1, blocks_of_slice(zone.loop_axis) - 1);
  }

  // An axis that a window reads along for rows of the grid: the slice has what those read, also in place of
  // values that there are not.
  bool follows_rows(int axis) const { return followers_.contains(axis); }
  // Where the slice has what a window reads at the cursor: along its axis.
  tile::Index place_in(const block::Window& window, const Cursor& cursor) const;

  int64_t extent(int axis) const { return graph_.axes[static_cast<size_t>(axis)].extent; }
  const std::string& name(int axis) const { return graph_.axes[static_cast<size_t>(axis)].name; }
  // What a slice holds of an axis at a time, at most, and in the zone.
  int64_t most(int axis) const;
  int64_t held(int axis, const Zone& zone) const;

  std::string grid_variable(int axis) const { return "at_" + name(axis); }
  std::string variable(int axis) const {
    return axis == roles_.rows ? "row" : axis == roles_.columns ? "col" : "i_" + name(axis);
  }
  // Every axis at its variable, where the slice and the loop are.
  Cursor cursor(const Zone& zone) const;
  void set(Cursor& cursor, int axis, const tile::Index& local, const Zone& zone) const;
  // The rows of blocks low .. high - 1, which all have so many: a row that there is. Columns alike.
  void set_row(Cursor& cursor, const linear::RowZone& rows) const;
  void set_column(Cursor& cursor, const linear::RowZone& columns) const;
  // The columns of a staged product's tile, of which there may be fewer.
  int64_t tile_columns(int axis) const;

 private:
  struct Follower {
    tile::Index first;  // value
    int64_t count = 1;
  };

  bool is_of_slice(int axis) const {
    return axis == roles_.rows || (roles_.single & axis_set(axis)) != 0 || follows_rows(axis);
  }
  void find_followers();
  tile::Index first_of(int axis) const;
  tile::Condition in_blocks(const Zone& zone, int64_t low, int64_t high) const;

  const BlockGraph& graph_;
  const Roles& roles_;
  const BlockSchedule schedule_;
  const linear::RowTiling rows_, columns_;
  const linear::SliceAxis row_blocks_, column_blocks_;
  std::map<int, Follower> followers_;
};

// The register tile of a product.
TileShape tile_of(const RowProduct& p, const Slice& slice, const Device& target);
// The roles that the steps have with blocks of the schedule.
Roles roles_with(const BlockGraph& graph, const BlockSchedule& schedule, const Device& target);
inline Products products_on(const Device& target) {
  return target.is_gpu() ? Products::staged : Products::packed;
}

}  // namespace korch::blocks
