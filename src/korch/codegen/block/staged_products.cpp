// What a thread block does otherwise than a core. A product is one tile, which the block's threads hold;
// panels of its operands are staged in scratch, some terms at a time, as those of codegen/linear/staged.cpp.
// Folds have results of their own in each block of a loop, so that the nests of a row read nothing that they
// write, and threads keep the row in registers (codegen/cuda/row_group.h).
#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/block/block_lowering.h"

namespace korch::blocks {
namespace {

constexpr int64_t kBanks = 8;  // of 16 bytes

// From one line of terms to the next: an odd number of 16 bytes, so that what matrix units read at once, 8
// rows by 4 terms, lies in different banks.
int64_t pitch_along_terms(int64_t terms) {
  return ceil_div(terms + 4, kBanks) * kBanks - 4;
}

Condition never() {
  return Condition().require(Index(1), 0, 0);
}

}  // namespace

// Rows first; neighbours along the last axis.
Held BlockLowering::block_storage(int step) {
  Held held;
  const int last = last_axis(step);
  const AxisSet axes = local(at(step).axes);
  if (roles_.rows >= 0 && (axes & axis_set(roles_.rows)) != 0) held.order.push_back(roles_.rows);
  for (int axis : axes_in(axes))
    if (axis != roles_.rows && axis != last) held.order.push_back(axis);
  if (last >= 0 && last != roles_.rows) held.order.push_back(last);
  held.strides.assign(held.order.size(), 1);
  int64_t elements = 1;
  for (size_t i = held.order.size(); i-- > 0;) {
    held.strides[i] = elements;
    elements *= slice_.most(held.order[i]);
    if (i > 0 && i + 1 == held.order.size()) elements = pitch_along_terms(elements);
  }
  held.buffer = builder_.add_scratch(elements, at(step).type);
  return held;
}

Held BlockLowering::tile_storage(int step) {
  const RowProduct& p = *product(step);
  const int64_t columns = slice_.tile_columns(p.columns);
  return {builder_.add_scratch(slice_.most(p.rows) * columns), {p.rows, p.columns}, {columns, 1}};
}

// What is held of all that computes the step.
void BlockLowering::store_below(int step, const Zone& zone) {
  for (int below : steps_of(graph_, roles_.held, step))
    if (is_held(below) && !stored_[static_cast<size_t>(below)]) store(below, zone);
}

void BlockLowering::stage_product(int step, const RowProduct& p, const Zone& zone) {
  store_below(p.left, zone);
  store_below(p.right, zone);
  if (!tiles_.contains(step)) tiles_[step] = tile_storage(step);
  held_[step] = tiles_[step];
  if (graph_.is_running(at(step)) && in_blocks(zone) && at(step).rescale >= 0) rescale(step, zone);
  const int64_t terms = slice_.held(p.terms, zone), size = schedule_.k_tile, whole = terms / size;
  if (whole > 0) {
    TermZone tiles{0, whole, size, Index(0), {}};
    const std::string name = fmt::format("k_tile{}", step);
    tiles.k_tile = Index::variable(name, whole);
    if (whole > 1) tiles.loops = {{{name, whole}, 0, whole}};
    multiply_tiles(step, p, zone, tiles);
  }
  if (const int64_t rest = terms % size; rest > 0)
    multiply_tiles(step, p, zone, {whole * size, 1, rest, Index(0), {}});
}

void BlockLowering::multiply_tiles(int step, const RowProduct& p, const Zone& zone, const TermZone& terms) {
  const Staged left = stage(p.left, p.rows, p, zone, terms),
               right = stage(p.right, p.columns, p, zone, terms);
  const Held& tile = tiles_.at(step);
  const int64_t rows = slice_.most(p.rows), columns = tile.strides[0];
  std::vector<OuterLoop> loops = around(zone, 0);
  loops.insert(loops.end(), terms.loops.begin(), terms.loops.end());
  ScheduledNest nest = builder_.product_nest(
      std::move(loops), {{"r", rows}, {"c", columns}}, {{"k", terms.size}},
      builder_.load(left.buffer, left.offset), builder_.load(right.buffer, right.offset), tile.buffer,
      Index::variable("r", rows) * columns + Index::variable("c", columns));
  nest.schedule.matrix_units = schedule_.matrix_units;
  nest.schedule.stages = 2;
  if (terms.first > 0)
    nest.anew = never();
  else if (terms.count > 1)
    nest.anew.require(terms.k_tile, 0, 0);
  if (graph_.is_running(at(step)) && in_blocks(zone)) nest.anew.require(slice_.first(zone));
  phase_.nests.push_back(std::move(nest));
}

// A factor's terms for the rows or columns of the tile: where it is held, or in a panel, with zeros in place
// of columns that there are not.
Staged BlockLowering::stage(int step, int across, const RowProduct& p, const Zone& zone,
                            const TermZone& terms) {
  const bool rows = across == p.rows;
  const int64_t size = rows ? slice_.most(across) : slice_.tile_columns(across),
                valid = slice_.held(across, zone);
  const std::string name = rows ? "r" : "c";
  const Index place = Index::variable(name, size);
  Cursor cursor = slice_.cursor(zone);
  slice_.set(cursor, p.terms, terms.term(), zone);
  if (is_held(step) && valid == size) {
    slice_.set(cursor, across, place, zone);
    return {held_.at(step).buffer, offset(held_.at(step), cursor)};
  }
  slice_.set(cursor, across, place, zone);
  begin(cursor, ~AxisSet{0}, -1);
  const int element = value(step);
  const auto neighbours = [&](const std::string& variable) {
    return std::ranges::any_of(builder_.pool().reachable({element}), [&](int id) {
      const tile::Expr& e = builder_.pool()[id];
      return e.kind == tile::ExprKind::load && builder_.buffer(e.buffer).role != tile::BufferRole::scratch &&
             e.coords[0].affine_in(variable) && e.coords[0].stride(variable) == 1;
    });
  };
  const bool source_along_terms = neighbours("k") && !neighbours(name);
  const bool along_terms = source_along_terms && schedule_.matrix_units;
  const int64_t pitch = along_terms ? pitch_along_terms(terms.size) : size + (schedule_.matrix_units ? 8 : 4);
  const int buffer = builder_.add_scratch((along_terms ? size : terms.size) * pitch);
  const Index k = Index::variable("k", terms.size);
  const Index offset = along_terms ? place * pitch + k : k * pitch + place;
  ScheduledNest nest;
  nest.around = around(zone, 0);
  nest.around.insert(nest.around.end(), terms.loops.begin(), terms.loops.end());
  nest.loops = {{"k", terms.size}, {name, size}};
  nest.stores = {{buffer, offset, builder_.padded(Condition().require(place, 0, valid - 1), element)}};
  nest.schedule = {.lanes = 4, .variable = source_along_terms ? "k" : name};
  if (source_along_terms) std::swap(nest.loops[0], nest.loops[1]);
  phase_.nests.push_back(std::move(nest));
  return {buffer, offset};
}

// --- results of products that others than the threads that hold them read

bool BlockLowering::is_stored_below(int step) const {
  return std::ranges::all_of(steps_of(graph_, roles_.held, step), [&](int below) {
    if (below == step || !is_held(below) || stored_[static_cast<size_t>(below)]) return true;
    return at(below).kind == Step::Kind::call && is_stored_below(below);
  });
}

// Elementwise steps of the product's results, by the threads that hold these; all else finds them in scratch.
void BlockLowering::store_readers(int step, const Zone& zone) {
  if (graph_.is_running(at(step))) return;
  if (is_read_elsewhere(step)) return settle(step, zone);
  for (int reader : roles_.readers[static_cast<size_t>(step)])
    if (is_held(reader) && at(reader).kind == Step::Kind::call && at(reader).place == at(step).place &&
        is_stored_below(reader))
      store(reader, zone);
}

bool BlockLowering::is_read_elsewhere(int step) const {
  return std::ranges::any_of(roles_.readers[static_cast<size_t>(step)], [&](int reader) {
    return at(reader).kind != Step::Kind::call || local(at(reader).axes) != local(at(step).axes);
  });
}

void BlockLowering::settle(int step, const Zone& zone) {
  if (!settled_.contains(step)) settled_[step] = block_storage(step);
  const Held &tile = tiles_.at(step), &to = settled_.at(step);
  begin(slice_.cursor(zone), local(at(step).axes), at(step).place);
  ScheduledNest nest;
  nest.loops = loops_over(tile.order, zone);
  nest.stores = {{to.buffer, offset(to, cursor_), builder_.load(tile.buffer, offset(tile, cursor_))}};
  add(std::move(nest), around(zone, 0));
  held_[step] = to;
}

// Of a loop that is over.
void BlockLowering::settle_sums(int place) {
  for (const auto& [step, tile] : tiles_)
    if (at(step).place == place && graph_.is_running(at(step)) && is_read_elsewhere(step)) settle(step, {});
}

// --- folds

void BlockLowering::fold_in_block(int step, const Zone& zone) {
  const Step& s = at(step);
  const AxisSet result = local(s.axes), all = result | s.over;
  const bool runs = graph_.is_running(s) && in_blocks(zone);
  if (runs && s.rescale >= 0) {
    store_first(s.rescale, local(at(s.rescale).axes), zone);
    if (is_held(s.rescale)) store(s.rescale, zone);
  }
  begin(slice_.cursor(zone), all, s.place);
  ScheduledNest nest;
  nest.kind = tile::NestKind::reduce;
  nest.combine = s.combine;
  nest.loops = loops_over(axes_in(result), zone);
  nest.reduced = loops_over(axes_in(s.over), zone);
  nest.nan_wins = !shows_nan(step);
  const int operand = value(s.args[0]);
  if (runs && !running_.contains(step))
    running_[step] = {block_storage(step), block_storage(step), block_storage(step)};
  const Held& to = runs ? running_.at(step).here : storage(step, {});
  nest.stores = {{to.buffer, offset(to, cursor_), operand}};
  add(std::move(nest), around(zone, all));
  if (runs) so_far(step, zone);
}

// From what earlier blocks gave and what this one gives; and what it was before, if that is read.
void BlockLowering::so_far(int step, const Zone& zone) {
  const Step& s = at(step);
  const Running& running = running_.at(step);
  begin(slice_.cursor(zone), local(s.axes), s.place);
  const Index place = offset(running.now, cursor_);
  int before = builder_.load(running.before.buffer, place);
  if (s.rescale >= 0) before = builder_.product(before, value(s.rescale));
  before =
      builder_.pool().guard(slice_.later(zone), before, identity_of(builder_.pool(), s.combine, DType::f32));
  ScheduledNest nest;
  nest.loops = loops_over(running.now.order, zone);
  for (size_t i = 0; i < graph_.steps.size(); ++i)
    if (roles_.used[i] && graph_.steps[i].kind == Step::Kind::before && graph_.steps[i].args[0] == step) {
      const Held& kept = storage(static_cast<int>(i), {});
      nest.stores.push_back({kept.buffer, offset(kept, cursor_), before});
      stored_[i] = emitted_[i] = true;
    }
  nest.stores.push_back({running.now.buffer, place,
                         builder_.call(s.combine, {before, builder_.load(running.here.buffer, place)})});
  add(std::move(nest), around(zone, local(s.axes)));
  held_[step] = running.now;
}

void BlockLowering::keep_for_next_block(const Zone& zone) {
  if (!in_blocks(zone)) return;
  for (const auto& [step, running] : running_) {
    if (graph_.loop_axis(at(step)) != zone.loop_axis || at(step).place / 2 != zone.loop_number) continue;
    begin(slice_.cursor(zone), local(at(step).axes), at(step).place);
    const Index place = offset(running.now, cursor_);
    ScheduledNest nest;
    nest.loops = loops_over(running.now.order, zone);
    nest.stores = {{running.before.buffer, place, builder_.load(running.now.buffer, place)}};
    add(std::move(nest), around(zone, 0));
  }
}

}  // namespace korch::blocks
