#include "korch/codegen/block/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "korch/codegen/block/slice.h"
#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/linear/packing_phase.h"
#include "korch/codegen/loop/compose.h"
#include "korch/codegen/loop/index_map.h"

namespace korch::blocks {
namespace {

using tile::Condition;
using tile::Index;
using tile::LoopVariable;
using tile::OuterLoop;
using tile::ScheduledNest;

// A Value in scratch: its axes within a slice, of which the last lie one after the other.
struct Held {
  int buffer = -1;
  std::vector<int> order;
  std::vector<int64_t> strides;
};

// A right operand in a temporary, by blocks of columns: a matrix for each value of the other axes.
struct Packed {
  int buffer = -1;
  std::vector<int> matrix_axes;
  linear::PackedOperand operand;
};

class BlockLowering {
 public:
  BlockLowering(const BlockGraph& graph, const BlockSchedule& schedule, const Device& target,
                Arguments& arguments, Roles roles)
      : graph_(graph),
        target_(target),
        arguments_(arguments),
        roles_(std::move(roles)),
        slice_(graph_, roles_, schedule),
        stored_(graph.steps.size(), false),
        emitted_(graph.steps.size(), false) {}

  Result<tile::ScheduledGraph> lower(Division division);

 private:
  const Step& at(int step) const { return graph_.steps[static_cast<size_t>(step)]; }
  AxisSet local(AxisSet axes) const { return roles_.local(axes); }
  bool is_held(int step) const { return roles_.held[static_cast<size_t>(step)]; }
  const RowProduct* product(int step) const {
    const auto& p = roles_.products[static_cast<size_t>(step)];
    return p ? &*p : nullptr;
  }
  bool in_blocks(const Zone& zone) const { return zone.loop_axis >= 0 && slice_.blocks(zone.loop_axis) > 1; }

  std::string obstacle() const;
  void pack_right_operands();
  void pack(const RowProduct& p, int step);
  TileShape tile_of(const RowProduct& p) const;
  int last_axis(int step) const;
  Held new_storage(int step);
  const Held& storage(int step, const std::vector<int>& read);
  bool is_free_after(int step, int reader) const;
  Index offset(const Held& held, const Cursor& cursor) const;

  // Of the nest in the making: what its elements are, and what is stored besides.
  int value(int step);
  int exponential(int step, const std::vector<int>& args);
  int defined(int step);
  void begin(const Cursor& cursor, AxisSet axes, int place);
  bool can_store(int step) const;
  std::vector<OuterLoop> around(const Zone& zone, AxisSet axes) const;
  std::vector<LoopVariable> loops_over(const std::vector<int>& axes, const Zone& zone) const;
  void add(ScheduledNest nest, std::vector<OuterLoop> around);

  void emit_part(int place, const Zone& zone);
  void emit(int step, const Zone& zone);
  void store_first(int root, AxisSet axes, const Zone& zone);
  void store(int step, const Zone& zone);
  void fold(int step, const Zone& zone);
  void extreme_so_far(int step, const Zone& zone);
  void rescale(int step, const Zone& zone);
  void multiply(int step, const RowProduct& p, const Zone& zone);
  void store_columns(const RowProduct& p, const Zone& zone);
  linear::ColumnBlocks columns_of(int step, const RowProduct& p, const Zone& zone) const;
  int right_element(int step, const RowProduct& p, const Cursor& cursor, const Zone& zone, int64_t lanes,
                    const Index& b, const Index& c);
  void write_results();
  void write_result(int result, const linear::RowZone& rows);

  const BlockGraph& graph_;
  const Device& target_;
  Arguments& arguments_;
  const Roles roles_;
  const Slice slice_;
  tile::TileBuilder builder_{DType::f32};
  tile::ScheduledPhase phase_;
  std::map<int, Held> held_;
  std::map<int, Packed> packed_;  // by step of the product
  int fold_here_ = -1;            // what a block alone gives an extreme
  std::vector<bool> stored_;      // in scratch, since the part began or before
  std::vector<bool> emitted_;
  // The nest in the making.
  Cursor cursor_;
  AxisSet axes_ = 0;  // that it goes over
  int place_ = 0;
  std::map<int, int> values_;
  std::vector<tile::Store> stores_;
  std::vector<int> stores_of_;
};

// --- storage

// Columns of a product, terms of one that reads it, or the loop's.
int BlockLowering::last_axis(int step) const {
  for (size_t i = 0; i < graph_.steps.size(); ++i)
    if (const RowProduct* p = product(static_cast<int>(i))) {
      if (p->left == step) return p->terms;
      if (p->right == step && !p->packed) return p->columns;
    }
  if (const RowProduct* p = product(step)) return p->columns;
  const std::vector<int> axes = axes_in(local(at(step).axes));
  const int loop = graph_.loop_axis(at(step));
  if (std::ranges::count(axes, loop) != 0) return loop;
  return axes.empty() || axes.back() == roles_.rows ? -1 : axes.back();
}

Held BlockLowering::new_storage(int step) {
  Held held;
  const int last = last_axis(step);
  const AxisSet axes = local(at(step).axes);
  if (roles_.rows >= 0 && (axes & axis_set(roles_.rows)) != 0) held.order.push_back(roles_.rows);
  for (int axis : axes_in(axes))
    if (axis != roles_.rows && axis != last) held.order.push_back(axis);
  if (last >= 0) held.order.push_back(last);
  held.strides.assign(held.order.size(), 1);
  int64_t elements = 1;
  for (size_t i = held.order.size(); i-- > 0;) {
    held.strides[i] = elements;
    elements *= slice_.most(held.order[i]);
    if (held.order[i] != last) continue;
    constexpr int64_t kLine = kCacheLineBytes / static_cast<int64_t>(sizeof(float));
    // A register tile reads and writes whole vectors.
    elements = ceil_div(elements, std::max<int64_t>(kLine, target_.lanes())) *
               std::max<int64_t>(kLine, target_.lanes());
    if (linear::rows_conflict(elements * static_cast<int64_t>(sizeof(float)))) elements += kLine;
  }
  held.buffer = builder_.add_scratch(elements, at(step).type);
  return held;
}

// Whether nothing computed from now on but `reader` reads the step.
bool BlockLowering::is_free_after(int step, int reader) const {
  const std::vector<int>& readers = roles_.readers[static_cast<size_t>(step)];
  return !graph_.is_running(at(step)) && at(step).place == at(reader).place &&
         std::ranges::all_of(readers, [&](int r) { return r == reader || emitted_[static_cast<size_t>(r)]; });
}

// Of a step that reads these ones: in place of one of them, if it is the last to read it.
const Held& BlockLowering::storage(int step, const std::vector<int>& read) {
  const auto found = held_.find(step);
  if (found != held_.end()) return found->second;
  const AxisSet axes = local(at(step).axes);
  for (int other : read) {
    const auto its = held_.find(other);
    if (its == held_.end() || at(other).axes != at(step).axes || at(other).type != at(step).type ||
        std::popcount(axes) < 2 || last_axis(other) != last_axis(step) || !is_free_after(other, step))
      continue;
    return held_[step] = its->second;
  }
  return held_[step] = new_storage(step);
}

Index BlockLowering::offset(const Held& held, const Cursor& cursor) const {
  Index offset = 0;
  for (size_t i = 0; i < held.order.size(); ++i)
    offset = offset + cursor.local[static_cast<size_t>(held.order[i])] * held.strides[i];
  return offset;
}

// --- elements of the nest in the making

void BlockLowering::begin(const Cursor& cursor, AxisSet axes, int place) {
  cursor_ = cursor;
  axes_ = axes;
  place_ = place;
  values_.clear();
  stores_.clear();
  stores_of_.clear();
}

// The nest visits each element of the step once.
bool BlockLowering::can_store(int step) const {
  return is_held(step) && !stored_[static_cast<size_t>(step)] && local(at(step).axes) == axes_ &&
         at(step).place == place_;
}

int BlockLowering::value(int step) {
  const auto known = values_.find(step);
  if (known != values_.end()) return known->second;
  const bool loads = is_held(step) && stored_[static_cast<size_t>(step)];
  const int result =
      loads ? builder_.load(held_.at(step).buffer, offset(held_.at(step), cursor_)) : defined(step);
  values_[step] = result;
  if (!loads && can_store(step)) {
    std::vector<int> read = steps_of(graph_, roles_.held, step);
    read.pop_back();
    const Held& held = storage(step, read);
    stores_.push_back({held.buffer, offset(held, cursor_), result});
    stores_of_.push_back(step);
  }
  return result;
}

int BlockLowering::defined(int step) {
  const Step& s = at(step);
  std::vector<int> args;
  if (s.kind == Step::Kind::call)
    for (int arg : s.args) args.push_back(value(arg));
  switch (s.kind) {
    case Step::Kind::leaf:
      return arguments_.read(builder_, s.leaf, cursor_.global);
    case Step::Kind::number:
      return builder_.constant(s.number);
    case Step::Kind::call:
      if (decays(graph_, step)) return exponential(step, args);
      return tile::apply_elementwise(builder_.pool(), s.op, s.scalars, args, s.type);
    case Step::Kind::fold:
    case Step::Kind::before:
      break;
  }
  KORCH_ASSERT(false, fmt::format("%{} is not stored yet\n{}", step, block::print(graph_)));
  return -1;
}

// Exp(x - r) relative to 0 where r, the maximum, is -inf: no element so far is larger.
int BlockLowering::exponential(int step, const std::vector<int>&) {
  const Step& difference = at(at(step).args[0]);
  const int extreme = value(difference.args[1]);
  const int none = builder_.pool().call(ScalarFn::eq, DType::bool_, {extreme, builder_.constant(-INFINITY)});
  const int base = builder_.call(ScalarFn::select, {none, builder_.zero(), extreme});
  return builder_.pool().decaying_exp(builder_.difference(value(difference.args[0]), base));
}

// --- nests

std::vector<OuterLoop> BlockLowering::around(const Zone& zone, AxisSet axes) const {
  std::vector<OuterLoop> loops;
  if (zone.loop_axis >= 0) slice_.loop(zone).loop(loops, zone.low, zone.high);
  if (roles_.rows >= 0 && (axes & axis_set(roles_.rows)) != 0 && slice_.rows().rows > 1)
    loops.push_back({{"row", slice_.rows().rows}, 0, slice_.rows().rows});
  return loops;
}

std::vector<LoopVariable> BlockLowering::loops_over(const std::vector<int>& axes, const Zone& zone) const {
  std::vector<LoopVariable> loops;
  for (int axis : axes)
    if (axis != roles_.rows) loops.push_back({slice_.variable(axis), slice_.held(axis, zone)});
  return loops;
}

void BlockLowering::add(ScheduledNest nest, std::vector<OuterLoop> around) {
  nest.around = std::move(around);
  for (tile::Store& store : stores_) nest.stores.push_back(std::move(store));
  for (int step : stores_of_) stored_[static_cast<size_t>(step)] = emitted_[static_cast<size_t>(step)] = true;
  phase_.nests.push_back(std::move(nest));
}

// Stores what the nest of `root`, over these axes, needs and cannot store itself.
void BlockLowering::store_first(int root, AxisSet axes, const Zone& zone) {
  for (int step : steps_of(graph_, roles_.held, root))
    if (step != root && is_held(step) && !stored_[static_cast<size_t>(step)] &&
        (local(at(step).axes) != axes || at(step).kind == Step::Kind::before))
      store(step, zone);
  // What they read in turn.
  for (int step : steps_of(graph_, roles_.held, root))
    if (step != root && is_held(step) && !stored_[static_cast<size_t>(step)]) store_first(step, axes, zone);
}

// A call or leaf, by a nest of its own.
void BlockLowering::store(int step, const Zone& zone) {
  if (stored_[static_cast<size_t>(step)]) return;
  const AxisSet axes = local(at(step).axes);
  store_first(step, axes, zone);
  begin(slice_.cursor(zone), axes, at(step).place);
  value(step);
  ScheduledNest nest;
  std::vector<int> order = held_.at(step).order;
  nest.loops = loops_over(order, zone);
  add(std::move(nest), around(zone, axes));
}

// In lanes along the last axis.
void BlockLowering::fold(int step, const Zone& zone) {
  const Step& s = at(step);
  const AxisSet result = local(s.axes), all = result | s.over;
  store_first(s.args[0], all, zone);
  if (is_held(s.args[0]) && !stored_[static_cast<size_t>(s.args[0])] && local(at(s.args[0]).axes) != all)
    store(s.args[0], zone);
  const bool runs = graph_.is_running(s) && in_blocks(zone);
  if (runs && s.rescale >= 0) rescale(step, zone);
  begin(slice_.cursor(zone), all, s.place);
  ScheduledNest nest;
  nest.kind = tile::NestKind::reduce;
  nest.combine = s.combine;
  nest.loops = loops_over(axes_in(result), zone);
  nest.reduced = loops_over(axes_in(s.over), zone);
  const bool extreme = s.combine == ScalarFn::max || s.combine == ScalarFn::min;
  // A NaN shows in the exponentials.
  nest.nan_wins = !(extreme && std::ranges::all_of(roles_.readers[static_cast<size_t>(step)], [&](int r) {
                      return decays(graph_, r) || at(r).kind == Step::Kind::before;
                    }));
  const int operand = value(s.args[0]);
  const Held& held = storage(step, {});
  const bool apart = runs && s.combine != ScalarFn::add;
  if (apart && fold_here_ < 0) fold_here_ = builder_.add_scratch(slice_.rows().rows);
  nest.stores = {{apart ? fold_here_ : held.buffer, offset(held, cursor_), operand}};
  if (runs && !apart) nest.anew = slice_.first(zone);
  add(std::move(nest), around(zone, all));
  if (apart) extreme_so_far(step, zone);
}

// From what the block alone gives; and what it was before, if that is read.
void BlockLowering::extreme_so_far(int step, const Zone& zone) {
  const Step& s = at(step);
  begin(slice_.cursor(zone), local(s.axes), s.place);
  const Held& held = held_.at(step);
  const Index place = offset(held, cursor_);
  const int before = builder_.pool().guard(slice_.later(zone), builder_.load(held.buffer, place),
                                           identity_of(builder_.pool(), s.combine, DType::f32));
  ScheduledNest nest;
  nest.loops = loops_over(held.order, zone);
  for (size_t i = 0; i < graph_.steps.size(); ++i)
    if (roles_.used[i] && graph_.steps[i].kind == Step::Kind::before && graph_.steps[i].args[0] == step) {
      const Held& kept = storage(static_cast<int>(i), {});
      nest.stores.push_back({kept.buffer, place, before});
      stored_[i] = emitted_[i] = true;
    }
  nest.stores.push_back(
      {held.buffer, place, builder_.call(s.combine, {before, builder_.load(fold_here_, place)})});
  add(std::move(nest), around(zone, local(s.axes)));
}

// What earlier blocks gave the accumulator.
void BlockLowering::rescale(int step, const Zone& zone) {
  const Step& s = at(step);
  store_first(s.rescale, local(at(s.rescale).axes), zone);
  if (is_held(s.rescale)) store(s.rescale, zone);
  begin(slice_.cursor(zone), local(s.axes), s.place);
  const int factor = value(s.rescale);
  const Held& held = storage(step, {});
  const Index place = offset(held, cursor_);
  ScheduledNest nest;
  nest.loops = loops_over(held.order, zone);
  nest.stores = {
      {held.buffer, place,
       builder_.padded(slice_.later(zone), builder_.product(builder_.load(held.buffer, place), factor))}};
  add(std::move(nest), around(zone, local(s.axes)));
}

// --- products

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
  store(p.left, zone);
  if (!p.packed) store_columns(p, zone);
  const bool runs = graph_.is_running(at(step)) && in_blocks(zone);
  if (runs && at(step).rescale >= 0) rescale(step, zone);
  storage(step, {});
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
      const Held &left = held_.at(p.left), &result = held_.at(step);
      ScheduledNest nest = builder_.product_nest(
          std::move(loops), {{"r", r_zone.rows}, {"c", lanes}}, {{"k", terms}},
          builder_.load(left.buffer, offset(left, cursor)), right_element(step, p, cursor, zone, lanes, b, c),
          result.buffer, offset(result, cursor));
      if (runs) nest.anew = slice_.first(zone);
      phase_.nests.push_back(std::move(nest));
    }
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

// --- parts

void BlockLowering::emit(int step, const Zone& zone) {
  if (!roles_.used[static_cast<size_t>(step)] || at(step).kind != Step::Kind::fold) return;
  if (const RowProduct* p = product(step))
    multiply(step, *p, zone);
  else
    fold(step, zone);
  stored_[static_cast<size_t>(step)] = emitted_[static_cast<size_t>(step)] = true;
}

void BlockLowering::emit_part(int place, const Zone& zone) {
  for (size_t i = 0; i < graph_.steps.size(); ++i)
    if (graph_.steps[i].place == place) stored_[i] = false;
  for (size_t i = 0; i < graph_.steps.size(); ++i)
    if (graph_.steps[i].place == place) emit(static_cast<int>(i), zone);
  // What loops that follow read.
  for (size_t i = 0; i < graph_.steps.size() && place % 2 == 0; ++i)
    if (graph_.steps[i].place == place && is_held(static_cast<int>(i)) &&
        std::ranges::any_of(roles_.readers[i], [&](int reader) { return at(reader).place > place; }))
      store(static_cast<int>(i), zone);
}

void BlockLowering::write_results() {
  for (size_t i = 0; i < graph_.results.size(); ++i) {
    const int step = graph_.results[i];
    store_first(step, local(at(step).axes), {});
    if (is_held(step)) store(step, {});
    for (const linear::RowZone& rows : linear::row_zones(slice_.rows()))
      write_result(static_cast<int>(i), rows);
  }
}

void BlockLowering::write_result(int result, const linear::RowZone& rows) {
  const int step = graph_.results[static_cast<size_t>(result)];
  Cursor cursor = slice_.cursor({});
  slice_.set_row(cursor, rows);
  begin(cursor, local(at(step).axes), -1);
  const auto [buffer, place] = arguments_.place_of(result, cursor.global);
  ScheduledNest nest;
  if (roles_.rows >= 0) nest.loops.push_back({"row", rows.rows});
  const int last = last_axis(step);
  std::vector<int> axes = axes_in(local(at(step).axes));
  if (std::erase(axes, last) > 0) axes.push_back(last);
  for (const LoopVariable& loop : loops_over(axes, {})) nest.loops.push_back(loop);
  nest.stores = {{buffer, place, value(step)}};
  std::vector<OuterLoop> loops;
  slice_.row_blocks().loop(loops, rows.low, rows.high);
  add(std::move(nest), std::move(loops));
}

std::string BlockLowering::obstacle() const {
  for (size_t i = 0; i < graph_.steps.size(); ++i) {
    if (!roles_.used[i]) continue;
    const Step& step = graph_.steps[i];
    if (step.kind == Step::Kind::before && at(step.args[0]).combine == ScalarFn::add)
      return "what a sum was before";
    const RowProduct* p = product(static_cast<int>(i));
    if (p == nullptr) continue;
    const RowProduct *left = product(p->left), *right = product(p->right);
    if ((left != nullptr && left->columns != p->terms) ||
        (!p->packed && right != nullptr && right->columns != p->columns))
      return "a product whose result would have to be transposed";
    const bool cut = std::ranges::count(graph_.loops, p->columns) != 0 && slice_.blocks(p->columns) > 1;
    if (p->packed && cut && slice_.most(p->columns) % (tile_of(*p).vectors * target_.lanes()) != 0)
      return "a block that cuts columns of a register tile";
  }
  return {};
}

Result<tile::ScheduledGraph> BlockLowering::lower(Division division) {
  if (division == Division::by_quotients) builder_.pool().keep_quotients();
  if (const std::string why = obstacle(); !why.empty()) return Refusal{RefusalReason::no_kernel_family, why};
  arguments_.add_buffers(builder_);
  pack_right_operands();
  for (const auto& [step, packed] : packed_)
    if (builder_.buffer(packed.buffer).role == tile::BufferRole::temporary)
      builder_.add_phase(linear::packing_phase(builder_, packed.operand, packed.buffer));
  for (int axis : axes_in(roles_.single))
    phase_.grid.push_back({{slice_.grid_variable(axis), slice_.extent(axis)}, 1});
  slice_.row_blocks().deal_out(phase_);
  for (int place = 0; place <= 2 * static_cast<int>(graph_.loops.size()); ++place) {
    if (place % 2 == 0) {
      emit_part(place, {});
      continue;
    }
    for (const Zone& zone : slice_.zones(place / 2)) emit_part(place, zone);
  }
  write_results();
  builder_.add_phase(std::move(phase_));
  return builder_.finish();
}

}  // namespace

Result<tile::ScheduledGraph> lower(const BlockGraph& graph, const BlockSchedule& schedule,
                                   const Device& target, Arguments& arguments, Division division) {
  return BlockLowering(graph, schedule, target, arguments, roles_with(graph, schedule)).lower(division);
}

}  // namespace korch::blocks
