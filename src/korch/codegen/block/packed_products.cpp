// Products in register tiles of a core, of right operands that are packed before.
#include "korch/codegen/block/block_lowering.h"
#include "korch/codegen/loop/index_map.h"

namespace korch::blocks {

TileShape BlockLowering::tile_of(const RowProduct& p) const {
  return blocks::tile_of(p, slice_, target_);
}

void BlockLowering::pack_right_operands() {
  for (size_t i = 0; i < graph_.steps.size(); ++i)
    if (const RowProduct* p = product(static_cast<int>(i)); p != nullptr && p->packed)
      pack(*p, static_cast<int>(i));
}

void BlockLowering::pack(const RowProduct& p, int step) {
  Packed packed;
  const AxisSet matrix = at(p.right).axes & ~axis_set(p.columns) & ~axis_set(p.terms);
  packed.matrix_axes = axes_in(matrix);
  Shape extents;
  for (int axis : packed.matrix_axes) extents.push_back(slice_.extent(axis));
  packed.operand.blocks =
      linear::split_columns(slice_.extent(p.columns), tile_of(p).vectors, target_.lanes());
  packed.operand.depth = slice_.extent(p.terms);
  packed.operand.matrices = element_count(extents);
  if (at(p.right).kind == Step::Kind::leaf && matrix == 0 && is_read_by_one(graph_, roles_, at(p.right).leaf))
    packed.buffer = arguments_.pack(builder_, at(p.right).leaf, p.terms, p.columns, packed.operand.blocks);
  if (packed.buffer < 0) {
    packed.operand.element = [this, p, extents, axes = packed.matrix_axes](
                                 const Index& number, const Index& term, const Index& column,
                                 const tile::Replacements& places) {
      Cursor cursor{AxisPlaces(graph_.axes.size()), AxisPlaces(graph_.axes.size())};
      const std::vector<Index> coords = tile::unflatten(number, extents);
      for (size_t i = 0; i < axes.size(); ++i) cursor.global[static_cast<size_t>(axes[i])] = coords[i];
      cursor.global[static_cast<size_t>(p.columns)] = column;
      cursor.global[static_cast<size_t>(p.terms)] = tile::substitute(term, places);
      begin(cursor, ~AxisSet{0}, -1);
      return value(p.right);
    };
    packed.buffer = builder_.add_temporary(packed.operand.matrices * packed.operand.matrix_elements());
  }
  packed_.emplace(step, std::move(packed));
}

// The columns of the zone: whole blocks of the packed ones, if they are the loop's.
linear::ColumnBlocks BlockLowering::columns_of(int step, const RowProduct& p, const Zone& zone) const {
  if (!p.packed)
    return linear::split_columns(slice_.held(p.columns, zone), tile_of(p).vectors, target_.lanes());
  linear::ColumnBlocks columns = packed_.at(step).operand.blocks;
  if (p.columns != zone.loop_axis) return columns;
  if (zone.high < slice_.blocks(zone.loop_axis)) columns.tail.clear();
  columns.blocks = columns.block_lanes() > 0 ? zone.length / columns.block_lanes() : 0;
  return columns;
}

int BlockLowering::left_element(const RowProduct& p, const Cursor& cursor) {
  if (!is_held(p.left)) return arguments_.read(builder_, at(p.left).leaf, cursor.global);
  return builder_.load(held_.at(p.left).buffer, offset(held_.at(p.left), cursor));
}

// Of block `b`, column `c` in it.
int BlockLowering::right_element(int step, const RowProduct& p, const Cursor& cursor, const Zone& zone,
                                 int64_t lanes, const Index& b, const Index& c) {
  if (!p.packed) return builder_.load(held_.at(p.right).buffer, offset(held_.at(p.right), cursor));
  const Packed& packed = packed_.at(step);
  std::vector<Index> matrix;
  Shape extents;
  for (int axis : packed.matrix_axes) {
    matrix.push_back(cursor.global[static_cast<size_t>(axis)]);
    extents.push_back(slice_.extent(axis));
  }
  const int64_t block = packed.operand.blocks.block_lanes(), depth = packed.operand.depth;
  Index first = tile::flatten(matrix, extents) * packed.operand.matrix_elements();
  if (p.columns == zone.loop_axis && block > 0)
    first =
        first + slice_.loop(zone).at(zone.low, zone.high) * (slice_.most(p.columns) / block * block * depth);
  return builder_.load(packed.buffer,
                       first + b * (depth * block) + cursor.global[static_cast<size_t>(p.terms)] * lanes + c);
}

void BlockLowering::multiply(int step, const RowProduct& p, const Zone& zone) {
  if (is_held(p.left)) store(p.left, zone);
  if (!p.packed) store_columns(p, zone);
  const bool runs = graph_.is_running(at(step)) && in_blocks(zone);
  if (runs && at(step).rescale >= 0) rescale(step, zone);
  storage(step, {});
  const int finishing = finishing_step(step);
  if (finishing >= 0) {
    stored_[static_cast<size_t>(step)] = true;
    held_[finishing] = held_.at(step);
  }
  const linear::RowTiling tiling =
      linear::split_rows(p.rows < 0 ? 1 : slice_.held(p.rows, zone), tile_of(p).rows);
  const linear::ColumnBlocks columns = columns_of(step, p, zone);
  const linear::SliceAxis column("column", columns.total(), columns.total()),
      tile("tile", tiling.tiles(), tiling.tiles());
  std::vector<OuterLoop> outside = around(zone, 0);
  for (int axis : axes_in(p.around))
    outside.push_back({{slice_.variable(axis), slice_.held(axis, zone)}, 0, slice_.held(axis, zone)});
  for (const linear::ColumnZone& c_zone : linear::column_zones(columns))
    for (const linear::RowZone& r_zone : linear::row_zones(tiling)) {
      std::vector<OuterLoop> loops = outside;
      column.loop(loops, c_zone.low, c_zone.high);
      tile.loop(loops, r_zone.low, r_zone.high);
      const int64_t lanes = linear::total_lanes(c_zone.lanes), terms = slice_.held(p.terms, zone);
      const Index b = column.at(c_zone.low, c_zone.high), c = Index::variable("c", lanes),
                  row =
                      r_zone.first_row(tile.at(r_zone.low, r_zone.high)) + Index::variable("r", r_zone.rows);
      Cursor cursor = slice_.cursor(zone);
      if (p.rows >= 0) slice_.set(cursor, p.rows, row, zone);
      slice_.set(cursor, p.terms, Index::variable("k", terms), zone);
      slice_.set(cursor, p.columns, b * columns.block_lanes() + c, zone);
      const Held& result = held_.at(step);
      ScheduledNest nest = builder_.product_nest(
          std::move(loops), {{"r", r_zone.rows}, {"c", lanes}}, {{"k", terms}}, left_element(p, cursor),
          right_element(step, p, cursor, zone, lanes, b, c), result.buffer, offset(result, cursor));
      if (runs) nest.anew = slice_.first(zone);
      phase_.nests.push_back(std::move(nest));
      if (finishing < 0) continue;
      const int64_t first = c_zone.low * columns.block_lanes();
      const int64_t there = c_zone.high < columns.total() ? lanes : slice_.held(p.columns, zone) - first;
      finish_tile(finishing, cursor, r_zone.rows, std::min(lanes, there));
    }
  if (finishing < 0) return;
  stored_[static_cast<size_t>(finishing)] = emitted_[static_cast<size_t>(finishing)] = true;
}

// The step that alone reads a product, element by element, and takes its place: of a tile that is in L1. -1:
// none.
int BlockLowering::finishing_step(int step) const {
  const std::vector<int>& readers = roles_.readers[static_cast<size_t>(step)];
  if (!has_windows(graph_) || readers.size() != 1 || graph_.is_running(at(step)) ||
      !is_free_after(step, readers[0]))
    return -1;
  const int reader = readers[0];
  if (at(reader).kind != Step::Kind::call || !is_held(reader) || at(reader).axes != at(step).axes) return -1;
  for (int below : steps_of(graph_, roles_.held, reader))
    if (below != reader && below != step && is_held(below)) return -1;
  return last_axis(reader) == last_axis(step) ? reader : -1;
}

// After the product's nest, in the same loops.
void BlockLowering::finish_tile(int step, const Cursor& cursor, int64_t rows, int64_t columns) {
  begin(cursor, local(at(step).axes), at(step).place);
  ScheduledNest nest;
  nest.loops = {{"r", rows}, {"c", columns}};
  const int result = defined(step);
  const Held& held = storage(step, {});
  nest.stores = {{held.buffer, offset(held, cursor_), result}};
  nest.around = phase_.nests.back().around;
  phase_.nests.push_back(std::move(nest));
}

// A right operand in scratch, and zeros beside its last column: a register tile reads whole vectors.
void BlockLowering::store_columns(const RowProduct& p, const Zone& zone) {
  store(p.right, zone);
  if (product(p.right) != nullptr) return;
  const linear::ColumnBlocks columns =
      linear::split_columns(slice_.held(p.columns, zone), tile_of(p).vectors, target_.lanes());
  const int64_t there = slice_.held(p.columns, zone), beside = columns.lanes_in_all() - there;
  if (beside == 0) return;
  const Held& held = held_.at(p.right);
  Cursor cursor = slice_.cursor(zone);
  slice_.set(cursor, p.columns, Index::variable("beside", beside) + there, zone);
  ScheduledNest nest;
  nest.loops = loops_over(held.order, zone);
  nest.loops.back() = {"beside", beside};
  nest.stores = {{held.buffer, offset(held, cursor), builder_.zero()}};
  nest.around = around(zone, 0);
  phase_.nests.push_back(std::move(nest));
}

}  // namespace korch::blocks
