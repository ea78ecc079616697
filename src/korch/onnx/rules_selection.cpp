// Operators whose results are as long as the data say: their shapes state bounds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "korch/onnx/bounded.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// Columns that Unique compares rows by.
constexpr int64_t kMaxColumns = 64;

Term flat(const Term& x) {
  return reshape(x, {x.operand()->type.elements()});
}

// The positions of what a mask selects, in order: [elements], of which `count` count; 0 behind.
struct Selected {
  Term positions, count;
};
Selected select_positions(const Term& mask) {
  NodeImport& n = mask.node();
  const int64_t all = mask.extent(0);
  const Term ones = cast(mask, DType::i64);
  const Term ends = apply(Op::CumSum, {ones}, ScanAttrs{});
  const Term places = select(mask, ends - 1, static_cast<double>(all));  // one place behind for the others
  const Term zeros = expand(integer(n, 0), {all + 1});
  const Term placed =
      apply(Op::ScatterElements, {zeros, places, positions(n, DType::i64, all, 0, 1)}, AxisAttrs{0});
  Selected result{slice(placed, 0, 0, all), reduce(Op::ReduceSum, ones, {0}, false)};
  if (!result.count.operand()->constant) result.count.operand()->upper = all;
  return result;
}

// Known data have a known number: no bound then.
Operand without_bound(NodeImport& n, const Operand& x, int64_t axis, const Term& count) {
  if (!x->constant || !count.operand()->constant) return nullptr;
  return slice({n, x}, axis, 0, element_as_int(*count.operand()->constant, 0));
}

Operand counted_along(const Term& x, int64_t axis, const Term& count) {
  NodeImport& n = x.node();
  if (const Operand known = without_bound(n, x, axis, count)) return known;
  Results extents = extents_of(x);
  extents[axis] = count.operand();
  return n.bounded(x, extents);
}

// [rank, count]
Results non_zero(NodeImport& n) {
  const Term x(n, n.input(0));
  if (x.rank() == 0) n.unsupported("a scalar");
  const Term bounds = at_bounds(x);
  Term mask = x.dtype() == DType::bool_ ? bounds : !(bounds == number_like(bounds, 0));
  if (const auto inside = within(x)) mask = mask && *inside;
  const Selected found = select_positions(flat(mask));
  const Shape strides = row_major_strides(x.shape());
  std::vector<Term> rows;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const Term along = found.positions / integer(n, std::max<int64_t>(strides[axis], 1));
    const Term index =
        axis == 0 ? along : apply(Op::Mod, {along, integer(n, std::max<int64_t>(x.extent(axis), 1))});
    rows.push_back(insert_axis(index, 0));
  }
  return {counted_along(rows.size() == 1 ? rows[0] : concat(rows, 0), 1, found.count)};
}

// Elements, or slices along an axis, where the condition holds; it may be shorter than they are.
Results compress(NodeImport& n) {
  Term x(n, n.input(0)), condition(n, n.input(1));
  if (condition.rank() != 1 || condition.dtype() != DType::bool_)
    n.invalid("the condition must be bool of rank 1");
  std::optional<Term> inside;
  int64_t axis = 0;
  if (n.has("axis")) {
    axis = n.axis(n.int_attr("axis"), x.rank());
    if (const Operand extent = extent_of(x, axis))
      inside = positions(n, DType::i64, x.extent(axis), 0, 1) < Term(n, extent);
  } else {
    x = flat(x);  // as many as count, one after the other
    if (const Operand extent = extent_of(x, 0))
      inside = positions(n, DType::i64, x.extent(0), 0, 1) < Term(n, extent);
    x = at_bounds(x);
  }
  const int64_t missing = x.extent(axis) - condition.extent(0);
  if (const auto known = within(condition)) condition = at_bounds(condition) && *known;
  if (missing < 0) condition = slice(condition, 0, 0, x.extent(axis));
  if (missing > 0) condition = cast(pad(cast(condition, DType::u8), 0, 0, missing, 0), DType::bool_);
  if (inside) condition = condition && *inside;
  const Selected found = select_positions(condition);
  const Term taken = apply(Op::Gather, {at_bounds(x), found.positions}, AxisAttrs{axis});
  return {counted_along({n, n.bounded(taken, extents_of(x))}, axis, found.count)};
}

// Where the keys are in ascending order; equal ones in their order.
Term order_of(const Term& keys) {
  const TopKAttrs all{0, keys.extent(0), false, true};
  return {keys.node(), keys.node().emit_all(Op::TopK, all, {keys})[1]};
}
Term gathered(const Term& x, const Term& indices, int64_t axis = 0) {
  return apply(Op::Gather, {x, indices}, AxisAttrs{axis});
}
// result[places[i]] = values[i], where places are a permutation.
Term scattered(const Term& places, const Term& values) {
  return apply(Op::ScatterElements, {values, places, values}, AxisAttrs{0});
}

// Rows [count, columns] in ascending order, by the last column first: sorting is stable.
Term order_of_rows(NodeImport& n, const Term& rows) {
  Term order = positions(n, DType::i64, rows.extent(0), 0, 1);
  for (int64_t column = rows.extent(1); column-- > 0;) {
    const Term keys = gathered(reshape(slice(rows, 1, column, 1), {rows.extent(0)}), order);
    order = gathered(order, order_of(keys));
  }
  return order;
}

Results unique(NodeImport& n) {
  const Term x(n, n.input(0));
  const bool has_axis = n.has("axis"), in_order = n.flag("sorted", true);
  const int64_t axis = has_axis ? n.axis(n.int_attr("axis"), x.rank()) : 0;
  std::vector<int64_t> perm(x.shape().size());
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin(), perm.begin() + axis, perm.begin() + axis + (has_axis ? 1 : 0));
  for (int64_t i = 0; i < x.rank(); ++i)
    if (has_axis && i != axis) n.require_known(x, i, "an axis beside the one whose slices are compared");
  const Term all_rows = has_axis ? transpose(x, perm) : flat(x), front = at_bounds(all_rows);
  const int64_t count = front.extent(0), all = front.operand()->type.elements();
  if (all == 0) n.unsupported("data without elements");
  const int64_t columns = all / count;
  if (columns > kMaxColumns)
    n.unsupported(fmt::format("rows of {} elements, more than {}", columns, kMaxColumns));
  Term rows = reshape(front, {count, columns});
  if (rows.dtype() == DType::bool_) rows = cast(rows, DType::u8);
  // Rows beyond an extent come last, and begin no group.
  const Operand extent = extent_of(all_rows, 0);
  const Term place = positions(n, DType::i64, count, 0, 1), rows_there = length(all_rows, 0);
  Term order = order_of_rows(n, rows);
  if (extent != nullptr) order = gathered(order, order_of(cast(rows_there <= order, DType::i64)));
  const Term ordered = gathered(rows, order);
  // A group begins where a row differs from the one before it.
  Term begins = expand(constant(n, DType::u8, {1}, {1}), {1});
  if (count > 1) {
    const Term differs = !(slice(ordered, 0, 1, count - 1) == slice(ordered, 0, 0, count - 1));
    begins = concat({begins, reduce(Op::ReduceMax, cast(differs, DType::u8), {1}, false)}, 0);
  }
  if (extent != nullptr) begins = select(place < rows_there, begins, 0);
  const Term group = apply(Op::CumSum, {cast(begins, DType::i64)}, ScanAttrs{}) - 1;
  const Selected starts = select_positions(cast(begins, DType::bool_));
  const Term first = gathered(order, starts.positions);  // of equal rows
  const Term next =
      concat({slice(starts.positions, 0, 1, count - 1), constant(n, DType::i64, {1}, {double(count)})}, 0);
  const Term end = select(place + 1 < starts.count, next, rows_there);
  Term taken = first, times = end - starts.positions, inverse = scattered(order, group);
  if (!in_order) {
    const Term by_first = order_of(select(place < starts.count, first, static_cast<double>(count)));
    taken = gathered(first, by_first);
    times = gathered(times, by_first);
    inverse = gathered(scattered(by_first, place), inverse);
  }
  return {counted_along(gathered(at_bounds(has_axis ? x : all_rows), taken, axis), axis, starts.count),
          counted_along(taken, 0, starts.count), n.bounded(inverse, {extent}),
          counted_along(times, 0, starts.count)};
}

// Least and greatest coordinates: [..., 4] of [y1, x1, y2, x2] in any order, or [x, y, width, height] of the
// centre.
Term corners(const Term& boxes, bool centred) {
  const Term first = slice(boxes, 2, 0, 2), second = slice(boxes, 2, 2, 2);
  if (centred) return concat({first - second / 2, first + second / 2}, 2);
  return concat({min(first, second), max(first, second)}, 2);
}

double threshold(NodeImport& n, size_t i, double fallback) {
  if (!n.has_input(i)) return fallback;
  const HostTensor& value = n.constant_input(i, "thresholds");
  if (value.elements() != 1) n.invalid("a threshold is no scalar");
  const double number = element_as_double(value, 0);
  if (std::isnan(number)) n.invalid("a threshold is no number");
  return number;
}

// Rows [batch, class, box], of as many as the boxes that stay.
Results non_max_suppression(NodeImport& n) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Term boxes = cast({n, n.input(0)}, DType::f32), scores = cast({n, n.input(1)}, DType::f32);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.extent(2) != 4)
    n.invalid("boxes [N, B, 4] and scores [N, C, B]");
  const auto most =
      n.has_input(2) ? n.extents_input(2, "number of boxes") : std::vector<Extent>{{0, nullptr}};
  if (most.size() != 1) n.invalid("the number of boxes is no scalar");
  SuppressionAttrs attrs{std::clamp<int64_t>(most[0].bound, 0, scores.extent(2)), threshold(n, 3, 0)};
  if (!(attrs.threshold >= 0 && attrs.threshold <= 1))
    n.invalid(fmt::format("iou_threshold {}", attrs.threshold));
  const bool centred = n.flag("center_point_box", false);
  const double least = threshold(n, 4, -kInfinity);
  // No box is taken with -inf.
  if (const auto there = within(scores)) scores = select(*there, at_bounds(scores), -kInfinity);
  if (least > -kInfinity) scores = select(number_like(scores, least) < scores, scores, -kInfinity);
  const Term taken = apply(Op::NonMaxSuppression, {corners(at_bounds(boxes), centred), scores}, attrs);
  // The number of boxes that are wanted may be known at run time alone.
  const Term place = positions(n, DType::i64, attrs.k, 2, 3);
  Term mask = number_like(taken, -1) < taken;
  if (most[0].counted != nullptr) mask = mask && place < Term(n, most[0].counted);
  const Selected found = select_positions(flat(mask));
  const int64_t classes = scores.extent(1);
  const Term row = found.positions / integer(n, std::max<int64_t>(attrs.k, 1));
  const Term box = gathered(flat(taken), found.positions);
  std::vector<Term> columns;
  for (const Term& column : {row / integer(n, classes), apply(Op::Mod, {row, integer(n, classes)}), box})
    columns.push_back(insert_axis(column, 1));
  return {counted_along(concat(columns, 1), 0, found.count)};
}

}  // namespace

std::vector<RuleRow> selection_rules() {
  return {
      {"NonZero", non_zero, 9, 13},
      {"Compress", compress, 9, 28},
      {"Unique", unique, 11, 28},
      {"NonMaxSuppression", non_max_suppression, 10, 11},
  };
}

}  // namespace korch::onnx
