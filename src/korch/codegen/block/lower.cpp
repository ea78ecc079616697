#include "korch/codegen/block/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "korch/codegen/block/block_lowering.h"
#include "korch/codegen/block/phases.h"
#include "korch/codegen/block/window_place.h"
#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/loop/compose.h"

namespace korch::blocks {

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
  if (has_windows(graph_))
    if (const int last = channels_of(step, axes); last >= 0) return last;
  const int loop = graph_.loop_axis(at(step));
  if (std::ranges::count(axes, loop) != 0) return loop;
  return axes.empty() || axes.back() == roles_.rows ? -1 : axes.back();
}

// What a fold over a window gives lies as what it reads, channel by channel; so do its weights.
int BlockLowering::channels_of(int step, const std::vector<int>& axes) const {
  for (int below : steps_of(graph_, roles_.held, step)) {
    if (below == step) continue;
    const Step::Kind kind = at(below).kind;
    if (kind != Step::Kind::fold && !(kind == Step::Kind::call && is_held(below))) continue;
    if (const int last = last_axis(below); std::ranges::count(axes, last) != 0) return last;
  }
  for (int reader : roles_.readers[static_cast<size_t>(step)])
    if (reader > step && at(step).kind == Step::Kind::leaf)
      if (const int last = last_axis(reader); std::ranges::count(axes, last) != 0) return last;
  return -1;
}

Held BlockLowering::new_storage(int step) {
  if (stages()) return block_storage(step);
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
         std::ranges::count(graph_.results, step) == 0 &&
         std::ranges::all_of(readers, [&](int r) { return r == reader || emitted_[static_cast<size_t>(r)]; });
}

// Of a step that reads these ones: in place of one of them, if it is the last to read it.
const Held& BlockLowering::storage(int step, const std::vector<int>& read) {
  const auto found = held_.find(step);
  if (found != held_.end()) return found->second;
  const AxisSet axes = local(at(step).axes);
  // Thread blocks keep a row in registers from one nest to the next, which overwrite nothing that they read.
  for (int other : stages() ? std::vector<int>() : read) {
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
    case Step::Kind::window:
      return through_window(s);
    case Step::Kind::fold:
      if (is_written_out(graph_, step)) return written_out(s);
      break;
    case Step::Kind::before:
      break;
  }
  KORCH_ASSERT(false, fmt::format("%{} is not stored yet\n{}", step, block::print(graph_)));
  return -1;
}

// Its operand at another value of the axis; nothing of that is a value of the nest.
int BlockLowering::through_window(const Step& window) {
  const WindowPlace read = blocks::place_of(window.window, graph_.axes, cursor_.global);
  const auto of = static_cast<size_t>(window.window.of);
  const Cursor here = cursor_;
  cursor_.local[of] = slice_.place_in(window.window, here);
  cursor_.global[of] = read.place;
  std::map<int, int> values;
  std::swap(values, values_);
  const int place = std::exchange(place_, -1);
  const int result = builder_.padded(read.inside, value(window.args[0]));
  place_ = place;
  std::swap(values, values_);
  cursor_ = here;
  return result;
}

// The sum over a short window, tap by tap.
int BlockLowering::written_out(const Step& fold) {
  const std::vector<int> axes = axes_in(fold.over);
  Shape extents;
  for (int axis : axes) extents.push_back(slice_.extent(axis));
  const Cursor here = cursor_;
  std::map<int, int> values;
  std::swap(values, values_);
  const int place = std::exchange(place_, -1);
  int sum = -1;
  for (int64_t tap = 0; tap < element_count(extents); ++tap) {
    const std::vector<Index> at = tile::unflatten(tap, extents);
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<size_t>(axes[i]);
      cursor_.local[axis] = cursor_.global[axis] = at[i];
    }
    values_.clear();
    const int term = value(fold.args[0]);
    sum = sum < 0 ? term : builder_.sum(sum, term);
  }
  place_ = place;
  std::swap(values, values_);
  cursor_ = here;
  return sum;
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
  if (!stages() && roles_.rows >= 0 && (axes & axis_set(roles_.rows)) != 0 && slice_.rows().rows > 1)
    loops.push_back({{"row", slice_.rows().rows}, 0, slice_.rows().rows});
  for (int axis : axes_in(axes))
    if (slice_.follows_rows(axis))
      loops.push_back({{slice_.variable(axis), slice_.most(axis)}, 0, slice_.most(axis)});
  return loops;
}

std::vector<LoopVariable> BlockLowering::loops_over(const std::vector<int>& axes, const Zone& zone) const {
  std::vector<LoopVariable> loops;
  for (int axis : axes)
    if ((axis != roles_.rows && !slice_.follows_rows(axis)) || stages())
      loops.push_back({slice_.variable(axis), slice_.held(axis, zone)});
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

// Of an extreme that may lose a NaN: whether all that reads it is an exponential relative to it, which has
// the NaN.
bool BlockLowering::shows_nan(int step) const {
  if (at(step).combine != ScalarFn::max) return false;
  return std::ranges::all_of(roles_.readers[static_cast<size_t>(step)], [&](int reader) {
    return (decays(graph_, reader) && at(at(reader).args[0]).args[1] == step) ||
           at(reader).kind == Step::Kind::before;
  });
}

// In lanes along the last axis.
void BlockLowering::fold(int step, const Zone& zone) {
  const Step& s = at(step);
  const AxisSet result = local(s.axes), all = result | s.over;
  store_first(s.args[0], all, zone);
  if (is_held(s.args[0]) && !stored_[static_cast<size_t>(s.args[0])] && local(at(s.args[0]).axes) != all)
    store(s.args[0], zone);
  if (stages()) return fold_in_block(step, zone);
  const bool runs = graph_.is_running(s) && in_blocks(zone);
  if (runs && s.rescale >= 0) rescale(step, zone);
  begin(slice_.cursor(zone), all, s.place);
  ScheduledNest nest;
  nest.kind = tile::NestKind::reduce;
  nest.combine = s.combine;
  nest.loops = loops_over(axes_in(result), zone);
  nest.reduced = loops_over(axes_in(s.over), zone);
  nest.nan_wins = !shows_nan(step);
  const int operand = value(s.args[0]);
  const Held& held = storage(step, {});
  const bool apart = runs && s.combine != ScalarFn::add;
  if (apart && !here_.contains(step)) here_[step] = new_storage(step);
  nest.stores = {{apart ? here_.at(step).buffer : held.buffer, offset(held, cursor_), operand}};
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
      nest.stores.push_back({kept.buffer, offset(kept, cursor_), before});
      stored_[i] = emitted_[i] = true;
    }
  nest.stores.push_back(
      {held.buffer, place, builder_.call(s.combine, {before, builder_.load(here_.at(step).buffer, place)})});
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

// --- parts

void BlockLowering::emit(int step, const Zone& zone) {
  if (!roles_.used[static_cast<size_t>(step)] || at(step).kind != Step::Kind::fold) return;
  if (is_written_out(graph_, step)) return;  // where it is read
  const RowProduct* p = product(step);
  if (p != nullptr && stages())
    stage_product(step, *p, zone);
  else if (p != nullptr)
    multiply(step, *p, zone);
  else
    fold(step, zone);
  stored_[static_cast<size_t>(step)] = emitted_[static_cast<size_t>(step)] = true;
  if (p != nullptr && stages()) store_readers(step, zone);
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
    for (const linear::RowZone& rows : slice_.row_zones())
      for (const linear::RowZone& columns : slice_.column_zones())
        write_result(static_cast<int>(i), rows, columns);
  }
}

void BlockLowering::write_result(int result, const linear::RowZone& rows, const linear::RowZone& columns) {
  const int step = graph_.results[static_cast<size_t>(result)];
  Cursor cursor = slice_.cursor({});
  slice_.set_row(cursor, rows);
  slice_.set_column(cursor, columns);
  begin(cursor, local(at(step).axes), -1);
  const auto [buffer, place] = arguments_.place_of(result, cursor.global);
  ScheduledNest nest;
  if (roles_.rows >= 0) nest.loops.push_back({"row", rows.rows});
  const int last = last_axis(step);
  std::vector<int> axes = axes_in(local(at(step).axes));
  if (std::erase(axes, last) > 0) axes.push_back(last);
  for (int axis : axes) {
    if (axis == roles_.columns)
      nest.loops.push_back({"col", columns.rows});
    else if (axis != roles_.rows)
      nest.loops.push_back({slice_.variable(axis), slice_.most(axis)});
  }
  nest.stores = {{buffer, place, value(step)}};
  std::vector<OuterLoop> loops;
  slice_.row_blocks().loop(loops, rows.low, rows.high);
  slice_.column_blocks().loop(loops, columns.low, columns.high);
  add(std::move(nest), std::move(loops));
}

std::string BlockLowering::obstacle() const {
  if (stages() && has_windows(graph_)) return "windows, by a thread block";
  for (const Step& a : graph_.steps)
    for (const Step& b : graph_.steps)
      if (a.kind == Step::Kind::window && b.kind == Step::Kind::window && a.window.of == b.window.of &&
          a.window != b.window)
        return "two windows of one axis";
  for (int axis = 0; axis < static_cast<int>(graph_.axes.size()); ++axis) {
    if (!slice_.follows_rows(axis)) continue;
    const auto goes_over = [&](AxisSet axes) { return (axes & axis_set(axis)) != 0; };
    if (std::ranges::any_of(graph_.steps, [&](const Step& step) { return goes_over(step.over); }) ||
        std::ranges::any_of(graph_.results, [&](int result) { return goes_over(at(result).axes); }))
      return "an axis that windows read along, and others";
  }
  for (size_t i = 0; i < graph_.steps.size(); ++i) {
    if (!roles_.used[i]) continue;
    const Step& step = graph_.steps[i];
    if (step.kind == Step::Kind::before && at(step.args[0]).combine == ScalarFn::add)
      return "what a sum was before";
    const RowProduct* p = product(static_cast<int>(i));
    if (p == nullptr || stages()) continue;
    const RowProduct *left = product(p->left), *right = product(p->right);
    if ((left != nullptr && left->columns != p->terms) ||
        (!p->packed && right != nullptr && right->columns != p->columns))
      return "a product whose result would have to be transposed";
    if (!p->packed && last_axis(p->right) != p->columns)
      return "a Value whose rows and columns are those of products' right operands";
    const bool cut = std::ranges::count(graph_.loops, p->columns) != 0 && slice_.blocks(p->columns) > 1;
    if (p->packed && cut && slice_.most(p->columns) % (tile_of(*p).vectors * target_.lanes()) != 0)
      return "a block that cuts columns of a register tile";
  }
  return {};
}

std::string BlockLowering::add_phases() {
  if (std::string why = obstacle(); !why.empty()) return why;
  arguments_.add_buffers(builder_);
  pack_right_operands();
  for (const auto& [step, packed] : packed_)
    if (builder_.buffer(packed.buffer).role == tile::BufferRole::temporary)
      builder_.add_phase(linear::packing_phase(builder_, packed.operand, packed.buffer));
  for (int axis : axes_in(roles_.single))
    phase_.grid.push_back({{slice_.grid_variable(axis), slice_.extent(axis)}, 1});
  slice_.row_blocks().deal_out(phase_);
  slice_.column_blocks().deal_out(phase_);
  if (slice_.parts() > 1) slice_.loop(slice_.zones(0)[0]).deal_out(phase_);
  for (int place = 0; place <= 2 * static_cast<int>(graph_.loops.size()); ++place) {
    if (place % 2 == 0) {
      emit_part(place, {});
      continue;
    }
    for (const Zone& zone : slice_.zones(place / 2)) {
      emit_part(place, zone);
      if (stages()) keep_for_next_block(zone);
    }
    if (stages()) settle_sums(place);
  }
  write_results();
  builder_.add_phase(std::move(phase_));
  return {};
}

std::string add_phases(const BlockGraph& graph, const BlockSchedule& schedule, const Device& target,
                       Arguments& arguments, tile::TileBuilder& builder) {
  return BlockLowering(graph, schedule, target, arguments, builder).add_phases();
}

}  // namespace korch::blocks
