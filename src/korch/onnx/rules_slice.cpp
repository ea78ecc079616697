// Slice: by constants, and between positions that depend on the data.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "korch/onnx/bounded.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// A step below -2^63 + 1 has no magnitude in int64; any step beyond the extent takes one element.
int64_t magnitude_of(int64_t step) {
  return step == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : std::abs(step);
}

// One axis of ONNX's (and numpy's) slice as first element, count and step.
struct Cut {
  int64_t start, size, step;
};
Cut normalized(int64_t extent, int64_t start, int64_t end, int64_t step) {
  const auto from_front = [&](int64_t position) { return position < 0 ? position + extent : position; };
  // Down to -1, the position before the first element, when walking backwards.
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  start = std::clamp(from_front(start), std::min(low + (step < 0), high), high);
  end = std::clamp(from_front(end), low, std::max(high, low));
  const int64_t distance = step > 0 ? end - start : start - end;
  const int64_t size = distance <= 0 ? 0 : (distance - 1) / magnitude_of(step) + 1;
  return {size == 0 ? 0 : start, size, size <= 1 ? 1 : step};
}

std::optional<int64_t> known(const Term& x) {
  return x.operand()->constant ? std::optional(element_as_int(*x.operand()->constant, 0)) : std::nullopt;
}

// Where it is known which one is, that one.
Term lesser(const Term& a, const Term& b) {
  const Range less = a.node().builder().distance(a, b);
  return less.high <= 0 ? a : less.low >= 0 ? b : min(a, b);
}
Term greater(const Term& a, const Term& b) {
  const Range less = a.node().builder().distance(a, b);
  return less.low >= 0 ? a : less.high <= 0 ? b : max(a, b);
}

// A position on an axis of `there` elements, as counted from the front and within it.
Term from_front(const Term& position, const Term& there) {
  NodeImport& n = position.node();
  const Range range = n.range(position);
  if (range.low >= 0) return lesser(position, there);
  const Term counted = select(position < 0, position + there, position);
  return lesser(greater(counted, integer(n, 0)), there);
}

// No more elements than this lie between the two.
int64_t longest(const Term& start, const Term& end, int64_t bound) {
  NodeImport& n = start.node();
  const Range from = n.range(start), to = n.range(end);
  int64_t most = bound;
  const auto at_most = [&](double count) {
    if (count < static_cast<double>(most)) most = std::max(static_cast<int64_t>(count), int64_t{0});
  };
  at_most(static_cast<double>(bound) - std::max(from.low, 0.0));
  if (to.low >= 0) at_most(to.high - std::max(from.low, 0.0));
  if (to.high < 0) at_most(static_cast<double>(bound) + to.high - std::max(from.low, 0.0));
  if (from.high < 0) at_most(-from.low);
  if (const auto apart = n.difference(end, start); apart && *apart >= 0) at_most(static_cast<double>(*apart));
  return most;
}

// Between two positions, of which one or the axis's extent depends on the data.
Term between(const Term& x, int64_t axis, const Term& start, const Term& end) {
  NodeImport& n = x.node();
  const int64_t bound = x.extent(axis);
  const Operand counted = extent_of(x, axis);
  const Term there = length(x, axis);
  const Term first = from_front(start, there), last = from_front(end, there);
  const double apart_at_most = std::max(n.builder().distance(last, first).high, 0.0);
  int64_t most = longest(start, end, bound);
  if (apart_at_most < static_cast<double>(most)) most = static_cast<int64_t>(apart_at_most);
  Term result = at_bounds(x);
  if (known(start) && *known(start) >= 0)
    result = slice(result, axis, std::min(*known(start), bound - most), most);
  else
    result =
        apply(Op::Gather, {result, min(first + positions(n, DType::i64, most, 0, 1), integer(n, bound - 1))},
              AxisAttrs{axis});
  const auto apart = n.difference(end, start);
  const Range range = n.range(start);
  Results extents = extents_of(x);
  const bool always_fits = counted == nullptr && apart && *apart == most && range.low >= 0 &&
                           range.high <= static_cast<double>(bound - most);
  extents[axis] = nullptr;
  if (!always_fits) {
    const Term length = known(first) == 0 ? last : last - first;
    const Term within = lesser(greater(length, integer(n, 0)), integer(n, most));
    extents[axis] = known(within) == most ? nullptr : n.builder().simplified(within, n.origin());
    if (extents[axis] != nullptr && !extents[axis]->upper) extents[axis]->upper = most;
  }
  return {n, n.bounded(result, extents)};
}

// From a position back to the one behind another: the elements between them, flipped.
Term backwards(const Term& x, int64_t axis, const Term& start, const Term& end) {
  NodeImport& n = x.node();
  const Term there = length(x, axis);
  const auto behind = [&](const Term& position) -> Term {
    const Range range = n.range(position);
    const auto bound = static_cast<double>(x.extent(axis));
    if (range.high < -bound) return integer(n, 0);
    if (range.low >= bound || known(position) == -1) return there;
    const Term counted = range.low >= 0   ? lesser(position, there)
                         : range.high < 0 ? position + there
                                          : select(position < 0, position + there, lesser(position, there));
    return greater(counted + 1.0, integer(n, 0));
  };
  return flipped(between(x, axis, behind(end), behind(start)), axis);
}

// The first element and those that follow at steps of this magnitude.
Term every(const Term& x, int64_t axis, int64_t step) {
  const Cut cut = normalized(x.extent(axis), 0, x.extent(axis), magnitude_of(step));
  SliceAttrs attrs{Shape(x.shape().size(), 0), x.shape(), Shape(x.shape().size(), 1)};
  attrs.sizes[static_cast<size_t>(axis)] = cut.size;
  attrs.steps[static_cast<size_t>(axis)] = cut.step;
  return {x.node(), sliced(x.node(), x, attrs)};
}

struct Arguments {
  Results starts, ends;  // i64 of rank 0
  std::vector<int64_t> axes, steps;
};

Arguments read_arguments(NodeImport& n, int64_t rank) {
  Arguments given;
  const auto constants = [&](const std::vector<int64_t>& values) {
    Results result;
    for (int64_t value : values) result.push_back(integer(n, value));
    return result;
  };
  const bool by_attributes = n.opset() < 10;
  given.starts = by_attributes ? constants(n.ints_attr("starts", {})) : n.elements_input(1, "starts");
  given.ends = by_attributes ? constants(n.ints_attr("ends", {})) : n.elements_input(2, "ends");
  given.axes.resize(given.starts.size());
  std::iota(given.axes.begin(), given.axes.end(), 0);
  if (by_attributes) given.axes = n.ints_attr("axes", given.axes);
  if (!by_attributes && n.has_input(3)) given.axes = n.ints_input(3, "axes");
  given.steps.assign(given.starts.size(), 1);
  if (!by_attributes && n.has_input(4)) given.steps = n.ints_input(4, "steps");
  if (given.ends.size() != given.starts.size() || given.axes.size() != given.starts.size() ||
      given.steps.size() != given.starts.size())
    n.invalid("starts, ends, axes and steps differ in length");
  n.axes(given.axes, rank);  // each once
  for (int64_t& axis : given.axes) axis = n.axis(axis, rank);
  return given;
}

Results slice(NodeImport& n) {
  const Operand& x = n.input(0);
  const Arguments given = read_arguments(n, x->rank());
  SliceAttrs attrs{Shape(x->shape().size(), 0), x->shape(), Shape(x->shape().size(), 1)};
  std::vector<size_t> open;  // that constants do not say
  for (size_t i = 0; i < given.axes.size(); ++i) {
    const int64_t axis = given.axes[i];
    if (given.steps[i] == 0) n.invalid("a step is 0");
    const auto start = known({n, given.starts[i]}), end = known({n, given.ends[i]});
    if (!start || !end || (extent_of(x, axis) != nullptr && (*start < 0 || *end < 0))) {
      open.push_back(i);
      continue;
    }
    if (extent_of(x, axis) != nullptr && given.steps[i] < 1) {
      open.push_back(i);
      continue;
    }
    const Cut cut = normalized(x->shape()[axis], *start, *end, given.steps[i]);
    attrs.starts[axis] = cut.start;
    attrs.sizes[axis] = cut.size;
    attrs.steps[axis] = cut.step;
  }
  Term result(n, sliced(n, x, attrs));
  for (size_t i : open) {
    const int64_t axis = given.axes[i], step = given.steps[i];
    const Term start(n, given.starts[i]), end(n, given.ends[i]);
    result = step > 0 ? between(result, axis, start, end) : backwards(result, axis, start, end);
    if (step != 1 && step != -1) result = every(result, axis, step);
  }
  return {result};
}

}  // namespace

Operand between(NodeImport& n, const Operand& x, int64_t axis, const Operand& start, const Operand& end) {
  return between(Term(n, x), axis, Term(n, start), Term(n, end));
}

std::vector<RuleRow> slice_rules() {
  return {{"Slice", slice, 1, 13}};
}

}  // namespace korch::onnx
