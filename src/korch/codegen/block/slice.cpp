#include "korch/codegen/block/slice.h"

namespace korch::blocks {
namespace {

int64_t extent_of(const BlockGraph& graph, int axis) {
  return axis < 0 ? 1 : graph.axes[static_cast<size_t>(axis)].extent;
}

// Tiles of thread blocks have one size, whatever there is.
linear::RowTiling tiles_of_one_size(int64_t extent, int64_t size) {
  return {static_cast<int>(size), ceil_div(extent, size), 0};
}

linear::RowTiling rows_of(const BlockGraph& graph, const Roles& roles, const BlockSchedule& schedule) {
  const int64_t extent = extent_of(graph, roles.rows);
  return roles.way == Products::staged && roles.rows >= 0
             ? tiles_of_one_size(extent, schedule.rows)
             : linear::split_rows(extent, static_cast<int>(schedule.rows));
}

linear::RowTiling columns_of(const BlockGraph& graph, const Roles& roles, const BlockSchedule& schedule) {
  return tiles_of_one_size(extent_of(graph, roles.columns), roles.columns < 0 ? 1 : schedule.columns);
}

std::vector<linear::RowZone> zones_of(const linear::RowTiling& tiling, int64_t extent) {
  const int64_t whole = extent / tiling.rows, rest = extent % tiling.rows;
  if (tiling.short_tiles > 0 || rest == 0) return linear::row_zones(tiling);
  std::vector<linear::RowZone> zones;
  if (whole > 0) zones.push_back({0, whole, tiling.rows, 0});
  zones.push_back({whole, whole + 1, static_cast<int>(rest), whole * (tiling.rows - rest)});
  return zones;
}

}  // namespace

Slice::Slice(const BlockGraph& graph, const Roles& roles, const BlockSchedule& schedule)
    : graph_(graph),
      roles_(roles),
      schedule_(schedule),
      rows_(rows_of(graph, roles, schedule)),
      columns_(columns_of(graph, roles, schedule)),
      row_blocks_("block", rows_.tiles(), 1),
      column_blocks_("column_block", columns_.tiles(), 1) {
  find_followers();
}

// From what is read for the grid to what that reads in turn: windows that are read stand last.
void Slice::find_followers() {
  for (auto step = graph_.steps.rbegin(); step != graph_.steps.rend(); ++step) {
    const block::Window& window = step->window;
    if (step->kind != Step::Kind::window || follows_rows(window.of)) continue;
    Follower follower{window.offset, 1};
    bool follows = false;
    for (const block::Window::Part& part : window.parts) {
      if (is_of_slice(part.axis)) {
        follows = true;
        follower.first = follower.first + first_of(part.axis) * part.times;
      }
      if ((roles_.single & axis_set(part.axis)) == 0) follower.count += part.times * (most(part.axis) - 1);
    }
    if (follows) followers_.emplace(window.of, std::move(follower));
  }
}

tile::Index Slice::first_of(int axis) const {
  if (axis == roles_.rows) return linear::first_row(rows_, row_blocks_.at());
  return follows_rows(axis) ? followers_.at(axis).first
                            : tile::Index::variable(grid_variable(axis), extent(axis));
}

tile::Index Slice::place_in(const block::Window& window, const Cursor& cursor) const {
  const bool follows = follows_rows(window.of);
  tile::Index place = follows ? 0 : window.offset;
  for (const block::Window::Part& part : window.parts) {
    const AxisPlaces& at = is_of_slice(part.axis) ? cursor.local : cursor.global;
    place = place + at[static_cast<size_t>(part.axis)] * part.times;
  }
  return place;
}

std::vector<linear::RowZone> Slice::row_zones() const {
  return zones_of(rows_, extent_of(graph_, roles_.rows));
}

std::vector<linear::RowZone> Slice::column_zones() const {
  return zones_of(columns_, extent_of(graph_, roles_.columns));
}

int64_t Slice::parts() const {
  if (graph_.loops.empty()) return 1;
  return ceil_div(blocks(graph_.loops[0]), blocks_of_slice(graph_.loops[0]));
}

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
  return tile::Condition().require(loop(zone).local(zone.low, zone.high), low, high);
}

int64_t Slice::most(int axis) const {
  if (axis == roles_.rows) return rows_.rows;
  if (follows_rows(axis)) return followers_.at(axis).count;
  if (axis == roles_.columns) return columns_.rows;
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
  if (follows_rows(axis)) {
    // What is computed in place of values that there are not nobody stores.
    global = tile::clamp(followers_.at(axis).first + local, 0, extent(axis) - 1);
  } else if (axis == roles_.rows) {
    global = linear::first_row(rows_, row_blocks_.at()) + local;
    // A block may have fewer rows; what is computed in place of the others nobody stores.
    if (rows_.tiles() * rows_.rows > extent(axis)) global = tile::clamp(global, 0, extent(axis) - 1);
  } else if (axis == roles_.columns) {
    global = linear::first_row(columns_, column_blocks_.at()) + local;
    if (columns_.tiles() * columns_.rows > extent(axis)) global = tile::clamp(global, 0, extent(axis) - 1);
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

void Slice::set_column(Cursor& cursor, const linear::RowZone& columns) const {
  if (roles_.columns < 0) return;
  const tile::Index local = tile::Index::variable("col", columns.rows);
  cursor.local[static_cast<size_t>(roles_.columns)] = local;
  cursor.global[static_cast<size_t>(roles_.columns)] =
      columns.first_row(column_blocks_.at(columns.low, columns.high)) + local;
}

// Warps of matrix units have eight columns and more, four of them beside each other; threads alone have four
// by four results and more.
int64_t Slice::tile_columns(int axis) const {
  constexpr int64_t kUnits = 32, kResults = 16 * 256;
  if (schedule_.matrix_units) return ceil_div(most(axis), kUnits) * kUnits;
  int64_t columns = std::max<int64_t>(1, kResults / rows_.rows);
  while (columns < most(axis)) columns *= 2;
  return columns;
}

TileShape tile_of(const RowProduct& p, const Slice& slice, const Device& target) {
  const int64_t rows = p.rows < 0 ? 1 : slice.most(p.rows);
  return linear::rank_tiles(rows, slice.most(p.columns), slice.most(p.terms), false, target).front();
}

Roles roles_with(const BlockGraph& graph, const BlockSchedule& schedule, const Device& target) {
  bool in_blocks = false;
  for (int axis : graph.loops) {
    const int64_t blocks = ceil_div(graph.axes[static_cast<size_t>(axis)].extent, schedule.block);
    in_blocks = in_blocks || blocks > schedule.parts;
  }
  return roles_of(graph, in_blocks, schedule.direct ? Products::direct : products_on(target));
}

}  // namespace korch::blocks
