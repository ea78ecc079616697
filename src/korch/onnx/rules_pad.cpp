// Pad: by constants, by numbers that depend on the data, and on open axes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/regrouped.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// Pads per axis, from the attribute or the input; begins first, then ends.
struct Pads {
  Shape before, after;
  // Per axis null, or how many where that is no constant: at most as many as above.
  Results open, open_before;

  bool is_open(size_t axis) const { return open[axis] != nullptr || open_before[axis] != nullptr; }
};
int64_t most_of(NodeImport& n, const Operand& pad) {
  constexpr double kMost = 0x1p31;
  const double most = n.range(pad).high;
  if (!(most <= kMost))
    n.unsupported("its pads depend on the data, and no bound is known" + n.bound_advice(1));
  return std::max(static_cast<int64_t>(most), int64_t{0});
}

// Of an axis with all its pads.
Term padded_length(NodeImport& n, const Pads& pads, size_t axis) {
  const Operand extent = n.length(n.input(0), static_cast<int64_t>(axis)), &open = pads.open[axis],
                &open_before = pads.open_before[axis];
  const Operand whole = open != nullptr ? n.whole(extent, open) : nullptr;  // a multiple of something, say
  Term length(n, whole != nullptr ? whole : extent);
  if (whole == nullptr) length = length + (open != nullptr ? Term(n, open) : integer(n, pads.after[axis]));
  if (open_before != nullptr) length = length + Term(n, open_before);
  if (open_before == nullptr && pads.before[axis] != 0)
    length = length + static_cast<double>(pads.before[axis]);
  return n.range(length).low < 0 ? max(length, number_like(length, 0)) : length;
}

// One axis, by numbers of which one is no constant: with the last element again, or those before it
// backwards.
Operand mirrored(NodeImport& n, const Operand& x, size_t axis, const Pads& pads, PadMode mode) {
  const auto count = [&](const Operand& open, int64_t known) {
    return open != nullptr ? Term(n, open) : integer(n, std::max<int64_t>(known, 0));  // else it was cut
  };
  const Term before = count(pads.open_before[axis], pads.before[axis]),
             behind = count(pads.open[axis], pads.after[axis]),
             extent(n, n.length(x, static_cast<int64_t>(axis))), last = extent - 1;
  const int64_t bound =
      x->shape()[axis] + std::max<int64_t>(pads.before[axis], 0) + std::max<int64_t>(pads.after[axis], 0);
  Term at = positions(n, DType::i64, bound, 0, 1) - before;
  if (mode == PadMode::reflect) at = last - abs(last - abs(at));
  at = min(max(at, number_like(at, 0)), last);
  const Term moved = apply(Op::Gather, {at_bounds({n, x}), at}, AxisAttrs{static_cast<int64_t>(axis)});
  Results extents = extents_of(x);
  extents[axis] = std::make_shared<OperandState>(*padded_length(n, pads, axis).operand());
  extents[axis]->upper = bound;
  const Operand result = n.bounded(moved, extents);
  const Term least = mode == PadMode::reflect ? max(before, behind) + 1 : integer(n, 1);
  n.builder().note_meeting(least, extent, n.origin(), {result}, ExtentRelation::at_most);
  return result;
}

// What is behind counts as far as the pads say.
Operand padded_so_far(NodeImport& n, const Operand& padded, const Pads& pads) {
  Results extents = extents_of(padded);
  SliceAttrs most{Shape(extents.size(), 0), padded->shape(), Shape(extents.size(), 1)};
  for (int64_t axis = 0; axis < padded->rank(); ++axis) {
    const auto a = static_cast<size_t>(axis);
    if (pads.open[a] == nullptr || pads.open_before[a] != nullptr) continue;
    const Term length = padded_length(n, pads, a);
    extents[a] = std::make_shared<OperandState>(*length.operand());
    most.sizes[a] = std::min(most.sizes[a], static_cast<int64_t>(std::max(n.range(length).high, 0.0)));
    extents[a]->upper = most.sizes[a];
  }
  Operand result = n.bounded(sliced(n, n.bounded(padded, {}), most), extents);
  for (int64_t axis = 0; axis < padded->rank(); ++axis) {
    const auto a = static_cast<size_t>(axis);
    if (pads.open_before[a] == nullptr) continue;
    result = moved_in_front(n, result, axis, pads.open_before[a], padded_length(n, pads, a));
  }
  return result;
}

Pads read_pads(NodeImport& n) {
  const auto rank = n.input(0)->shape().size();
  Pads pads{Shape(rank, 0), Shape(rank, 0), Results(rank), Results(rank)};
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  Results elements;
  std::vector<int64_t> values = n.opset() < 11 ? n.ints_attr("pads", {}) : std::vector<int64_t>{};
  if (n.opset() >= 11) elements = n.elements_input(1, "pads");
  for (const Operand& element : elements)
    values.push_back(element->constant ? element_as_int(*element->constant, 0) : most_of(n, element));
  if (n.opset() >= 18 && n.has_input(3)) axes = n.ints_input(3, "axes");
  n.axes(axes, n.input(0)->rank());  // each once
  n.bounded("pad", values, -kMaxOffset, kMaxOffset);
  if (values.size() != 2 * axes.size())
    n.invalid(fmt::format("{} pads, expected {}", values.size(), 2 * axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = n.axis(axes[i], n.input(0)->rank());
    pads.before[axis] = values[i];
    pads.after[axis] = values[i + axes.size()];
    if (elements.empty()) continue;
    if (!elements[i]->constant) pads.open_before[axis] = elements[i];
    const Operand& behind = elements[i + axes.size()];
    if (!behind->constant) pads.open[axis] = behind;
  }
  return pads;
}

PadMode pad_mode(NodeImport& n) {
  const std::string mode = n.string_attr("mode", "constant");
  const auto* const known = std::find(std::begin(kPadModes), std::end(kPadModes), mode);
  if (known == std::end(kPadModes)) n.unsupported("mode " + quoted_name(mode));
  return static_cast<PadMode>(known - std::begin(kPadModes));
}

// Without the elements that negative pads cut off an axis of an open extent.
Operand without_ends(NodeImport& n, const Operand& x, int64_t axis, int64_t in_front, int64_t behind) {
  const int64_t least = n.least(x, axis), needed = in_front + behind;
  const std::string what =
      fmt::format("the extent of axis {}, of which its negative pads cut {},", axis, needed);
  if (least < needed && depends_on_data(n.builder(), extent_of(x, axis)))
    n.unsupported(fmt::format("{} may be less", what));
  if (least < needed)
    throw Error(ErrorKind::usage,
                fmt::format("{} can be {}: give a range of extents that begins higher", what, least));
  return between(n, x, axis, n.integer(in_front), Term(n, n.length(x, axis)) - static_cast<double>(behind));
}

Results pad(NodeImport& n) {
  Pads pads = read_pads(n);
  PadAttrs attrs;
  attrs.mode = pad_mode(n);
  if (n.opset() < 11) attrs.value = n.element_attr("value", 0);
  std::optional<HostTensor> inexact;  // a padding value that double does not hold
  if (n.opset() >= 11 && n.has_input(2)) {
    const HostTensor& given = n.constant_input(2, "padding value");
    if (given.elements() != 1) n.invalid("the padding value must be a scalar");
    const HostTensor value = converted(given, n.input(0)->dtype()).reshaped({});
    attrs.value = element_as_double(value, 0);
    const HostTensor back = converted(HostTensor::of<double>(DType::f64, {}, {attrs.value}), value.dtype());
    if (is_integer(value.dtype()) && std::memcmp(back.raw(), value.raw(), size_bytes(value.dtype())) != 0)
      inexact = value;
  }
  // A negative pad cuts.
  Operand x = n.input(0);
  SliceAttrs cut{Shape(x->shape().size(), 0), x->shape(), Shape(x->shape().size(), 1)};
  bool pads_any = false;
  for (size_t i = 0; i < pads.before.size(); ++i) {
    cut.starts[i] = std::max<int64_t>(-pads.before[i], 0);
    cut.sizes[i] -= cut.starts[i] + std::max<int64_t>(-pads.after[i], 0);
    if (cut.sizes[i] < 0) n.invalid(fmt::format("the negative pads of axis {} exceed its extent", i));
    if (cut.sizes[i] != x->shape()[i] && extent_of(x, static_cast<int64_t>(i)) != nullptr) {
      x = without_ends(n, x, static_cast<int64_t>(i), cut.starts[i], std::max<int64_t>(-pads.after[i], 0));
      cut.starts[i] = 0;
      cut.sizes[i] = x->shape()[i];
    }
    if (cut.sizes[i] == 0) cut.starts[i] = 0;
    attrs.before.push_back(std::max<int64_t>(pads.before[i], 0));
    attrs.after.push_back(std::max<int64_t>(pads.after[i], 0));
    if (pads.is_open(i) && attrs.mode != PadMode::constant) attrs.before[i] = attrs.after[i] = 0;
    if (pads.open_before[i] != nullptr) attrs.after[i] += std::exchange(attrs.before[i], 0);
    pads_any = pads_any || attrs.before[i] > 0 || attrs.after[i] > 0;
  }
  x = sliced(n, x, cut);
  bool is_open = false;
  for (size_t i = 0; i < pads.before.size(); ++i) is_open = is_open || pads.is_open(i);
  if (!pads_any && !is_open) return {x};
  if (is_open && attrs.mode != PadMode::constant) {
    Operand result = pads_any ? n.emit(Op::Pad, attrs, {x}) : x;
    for (size_t i = 0; i < pads.before.size(); ++i)
      if (pads.is_open(i)) result = mirrored(n, result, i, pads, attrs.mode);
    return {result};
  }
  if (is_open && inexact) n.unsupported("pads that depend on the data or extents, by such a number");
  const Operand padded = padded_so_far(n, pads_any ? n.emit(Op::Pad, attrs, {x}) : x, pads);
  if (!inexact || attrs.mode != PadMode::constant) return {padded};
  const HostTensor yes = converted(HostTensor::of<uint8_t>(DType::u8, {}, {1}), DType::bool_);
  const Operand inside = n.emit(Op::Expand, ShapeAttrs{x->shape()}, {n.constant(yes)});
  attrs.value = 0;
  return {n.emit(Op::Where, {n.emit(Op::Pad, attrs, {inside}), padded, n.constant(*inexact)})};
}

}  // namespace

Operand moved_in_front(NodeImport& n, const Operand& padded, int64_t axis, const Operand& before,
                       const Term& length) {
  const int64_t bound = padded->shape()[static_cast<size_t>(axis)];
  const Term place = positions(n, DType::i64, bound, 0, 1), wanted(n, before);
  const Term last = integer(n, bound - 1);
  const Term from = select(place < wanted, last, min(place - wanted, last));
  const Term moved = apply(Op::Gather, {at_bounds({n, padded}), from}, AxisAttrs{axis});
  Results extents = extents_of(padded);
  extents[static_cast<size_t>(axis)] = std::make_shared<OperandState>(*length.operand());
  extents[static_cast<size_t>(axis)]->upper = bound;
  return n.bounded(moved, extents);
}

std::vector<RuleRow> pad_rules() {
  return {
      {"Pad", pad, 1, 25},
  };
}

}  // namespace korch::onnx
