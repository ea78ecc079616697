#include "korch/codegen/block/slice.h"

namespace korch::blocks {
namespace {

linear::RowTiling rows_of(const BlockGraph& graph, const Roles& roles, const BlockSchedule& schedule) {
  const int64_t extent = roles.rows < 0 ? 1 : graph.axes[static_cast<size_t>(roles.rows)].extent;
  return linear::split_rows(extent, static_cast<int>(schedule.rows));
}

}  // namespace

Slice::Slice(const BlockGraph& graph, const Roles& roles, const BlockSchedule& schedule)
    : graph_(graph),
      roles_(roles),
      schedule_(schedule),
      rows_(rows_of(graph, roles, schedule)),
      row_blocks_("block", rows_.tiles(), 1) {}

std::vector<Zone> Slice::zones(int loop_number) const {
  const int axis = graph_.loops[static_cast<size_t>(loop_number)];
  const int64_t last = blocks(axis) - 1, rest = extent(axis) - last * schedule_.block;
  if (rest == schedule_.block) return {{loop_number, axis, 0, last + 1, rest}};
  std::vector<Zone> zones;
  if (last > 0) zones.push_back({loop_number, axis, 0, last, schedule_.block});
  zones.push_back({loop_number, axis, last, last + 1, rest});
  return zones;
}

tile::Condition Slice::in_blocks(const Zone& zone, int64_t low, int64_t high) const {
  return tile::Condition().require(loop(zone).at(zone.low, zone.high), low, high);
}

int64_t Slice::most(int axis) const {
  if (axis == roles_.rows) return rows_.rows;
  for (int loop_axis : graph_.loops)
    if (axis == loop_axis) return std::min(extent(axis), schedule_.block);
  return extent(axis);
}

int64_t Slice::held(int axis, const Zone& zone) const {
  return axis == zone.loop_axis ? zone.length : most(axis);
}

Cursor Slice::cursor(const Zone& zone) const {
  Cursor cursor{AxisPlaces(graph_.axes.size()), AxisPlaces(graph_.axes.size())};
  for (int axis = 0; axis < static_cast<int>(graph_.axes.size()); ++axis) {
    if ((roles_.single & axis_set(axis)) != 0)
      cursor.global[static_cast<size_t>(axis)] = tile::Index::variable(grid_variable(axis), extent(axis));
    else
      set(cursor, axis, tile::Index::variable(variable(axis), held(axis, zone)), zone);
  }
  return cursor;
}

void Slice::set(Cursor& cursor, int axis, const tile::Index& local, const Zone& zone) const {
  cursor.local[static_cast<size_t>(axis)] = local;
  tile::Index& global = cursor.global[static_cast<size_t>(axis)];
  global = local;
  if (axis == roles_.rows) {
    global = linear::first_row(rows_, row_blocks_.at()) + local;
    // A block may be one row short; what is computed in place of it nobody stores.
    if (rows_.short_tiles > 0) global = tile::clamp(global, 0, extent(axis) - 1);
  } else if (axis == zone.loop_axis) {
    global = loop(zone).at(zone.low, zone.high) * schedule_.block + local;
  }
}

void Slice::set_row(Cursor& cursor, const linear::RowZone& rows) const {
  if (roles_.rows < 0) return;
  const tile::Index local = tile::Index::variable("row", rows.rows);
  cursor.local[static_cast<size_t>(roles_.rows)] = local;
  cursor.global[static_cast<size_t>(roles_.rows)] =
      rows.first_row(row_blocks_.at(rows.low, rows.high)) + local;
}

TileShape tile_of(const RowProduct& p, const Slice& slice, const Device& target) {
  const int64_t rows = p.rows < 0 ? 1 : slice.most(p.rows);
  return linear::rank_tiles(rows, slice.most(p.columns), slice.most(p.terms), false, target).front();
}

Roles roles_with(const BlockGraph& graph, const BlockSchedule& schedule) {
  bool in_blocks = false;
  for (int axis : graph.loops)
    in_blocks = in_blocks || graph.axes[static_cast<size_t>(axis)].extent > schedule.block;
  return roles_of(graph, in_blocks);
}

}  // namespace korch::blocks
