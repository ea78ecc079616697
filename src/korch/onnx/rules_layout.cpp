// Operators that move elements: reshapes, transposes, concatenation, repetition.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/narrow.h"
#include "korch/onnx/regrouped.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// Operators whose axes were an attribute and became the second input with opset 13.
std::optional<std::vector<int64_t>> squeeze_axes(NodeImport& n) {
  if (n.opset() >= 13) return n.has_input(1) ? std::optional(n.ints_input(1, "axes")) : std::nullopt;
  return n.has("axes") ? std::optional(n.ints_attr("axes", {})) : std::nullopt;
}

// An axis that would go if its extent were 1 in a run, and the result have another rank.
void stays_there(NodeImport& n, int64_t axis, const Operand& result) {
  const Operand extent = extent_of(n.input(0), axis);
  if (depends_on_data(n.builder(), extent))
    n.builder().warn(fmt::format("node {} (Squeeze, without axes): axis {} may be 1 in a run, and stays then",
                                 quoted_name(n.origin()), axis));
  else
    n.builder().note_meeting(extent, n.integer(1), n.origin(), {result}, ExtentRelation::different);
}

// The first input with other axes of 1 element; `extents` are of the axes of `out`. A reshape could take an
// open axis of 1 element at most for one of these.
Operand with_axes(NodeImport& n, const Shape& out, const Results& extents) {
  const Operand& x = n.input(0);
  return is_bounded(x) ? n.bounded(reshape(at_bounds({n, x}), out), extents) : n.reshape(x, out);
}

Results squeeze(NodeImport& n) {
  const Shape& in = n.input(0)->shape();
  std::vector<int64_t> axes, may_be_one;
  if (const auto given = squeeze_axes(n)) {
    axes = n.axes(*given, n.input(0)->rank());
  } else {
    for (size_t i = 0; i < in.size(); ++i) {
      const auto axis = static_cast<int64_t>(i);
      if (in[i] == 1 && extent_of(n.input(0), axis) == nullptr)
        axes.push_back(axis);
      else if (n.least(n.input(0), axis) <= 1)
        may_be_one.push_back(axis);
    }
  }
  Shape out;
  Results extents;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool squeezed = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
    if (squeezed && in[i] != 1) n.invalid(fmt::format("axis {} has extent {}, not 1", i, in[i]));
    if (squeezed) continue;
    out.push_back(in[i]);
    extents.push_back(extent_of(n.input(0), static_cast<int64_t>(i)));
  }
  const Operand result = with_axes(n, out, extents);
  for (const int64_t axis : may_be_one) stays_there(n, axis, result);
  return {result};
}

Results unsqueeze(NodeImport& n) {
  const auto given = squeeze_axes(n);
  if (!given) n.invalid("axes are missing");
  Shape out = n.input(0)->shape();
  Results extents = extents_of(n.input(0));
  for (int64_t axis : n.axes(*given, n.input(0)->rank() + static_cast<int64_t>(given->size()))) {
    out.insert(out.begin() + axis, 1);
    extents.insert(extents.begin() + axis, nullptr);
  }
  return {with_axes(n, out, extents)};
}

// Null where that is no reshape of what counts, to these extents.
Operand reshaped_at_bounds(NodeImport& n, const Operand& x, const Shape& target,
                           const std::vector<Extent>& wanted) {
  if (element_count(target) != x->type.elements()) return nullptr;
  try {
    const Operand result = n.reshape(x, target);
    return has_extents(result, wanted, n.builder()) ? result : nullptr;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return nullptr;
  }
}

constexpr const char* kBesideExtents =
    "a target extent of -1, beside extents that depend on the data or are a range";

// The extent of the axis of -1, or nothing. A target extent that is computed in another way than the data's
// of the same axis is taken to be equal where it is known only then; a run in which it is not is an error.
std::optional<Extent> unknown_extent(NodeImport& n, const Operand& x, std::vector<Extent>& wanted) {
  if (const std::optional<Extent> left = left_extent({n, x}, wanted)) return left;
  std::vector<Extent> own = wanted;
  std::vector<std::pair<Operand, Operand>> meeting;
  for (size_t i = 0; i < std::min(own.size(), x->shape().size()); ++i)
    if (const Operand extent = extent_of(x, static_cast<int64_t>(i));
        extent && own[i].counted && own[i].bound == x->shape()[i]) {
      meeting.emplace_back(extent, own[i].counted);
      own[i] = {x->shape()[i], extent};
    }
  const std::optional<Extent> left = meeting.empty() ? std::nullopt : left_extent({n, x}, own);
  if (!left) return std::nullopt;
  for (const auto& [extent, target] : meeting) n.builder().note_meeting(extent, target, n.origin());
  wanted = std::move(own);
  return left;
}

Results reshape(NodeImport& n) {
  const Operand& x = n.input(0);
  const bool zero_is_zero = n.flag("allowzero", false);
  std::vector<Extent> wanted = n.extents_input(1, "target extents");
  Shape target;
  bool from_data = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    Extent& extent = wanted[i];
    from_data = from_data || (extent.counted != nullptr && extent.counted->from_data);
    if (extent.bound == 0 && extent.counted == nullptr && !zero_is_zero) {
      if (i >= x->shape().size())
        n.invalid(fmt::format("target extent 0 at axis {}, but the data have rank {}", i, x->rank()));
      extent = {x->shape()[i], extent_of(x, static_cast<int64_t>(i))};
    }
    target.push_back(extent.bound);
  }
  n.bounded("target extent", target, -1, kMaxOffset);
  if (std::count(target.begin(), target.end(), -1) > 1) n.invalid("two target extents are -1");
  const auto unknown = std::find(target.begin(), target.end(), -1);
  const bool is_open = is_bounded(x) || std::any_of(wanted.begin(), wanted.end(), [](const Extent& extent) {
                         return extent.counted != nullptr;
                       });
  const auto left = unknown != target.end() && is_open ? unknown_extent(n, x, wanted) : std::nullopt;
  if (left) {
    wanted[static_cast<size_t>(unknown - target.begin())] = *left;
    *unknown = left->bound;
  } else if (unknown != target.end()) {
    *unknown = 1;
    const int64_t rest = element_count(target), all = x->type.elements();
    const bool divides = rest != 0 && all % rest == 0;
    if (!divides && is_open) n.unsupported(kBesideExtents);
    if (!divides) n.invalid(fmt::format("{} elements do not divide into {}", all, rest));
    *unknown = all / rest;
  }
  if (!is_open) return {n.reshape(x, target)};
  if (const Operand result = reshaped_at_bounds(n, x, target, wanted)) return {result};
  if (from_data && !has_as_many_elements({n, x}, wanted))
    n.constant_input(1, "target extents");  // which of the elements count would depend on them
  if (unknown != target.end() && !left) n.unsupported(kBesideExtents);
  return {regrouped({n, x}, wanted)};
}

// Of these axes together.
Extent product_of_extents(const Term& x, int64_t first, int64_t end) {
  Extent result{1, nullptr};
  Term product = integer(x.node(), 1);
  for (int64_t axis = first; axis < end; ++axis) {
    result.bound *= x.extent(axis);
    product = product * length(x, axis);
    if (extent_of(x, axis) != nullptr) result.counted = product;
  }
  if (result.counted == nullptr) return result;
  result.counted = product;
  result.counted->upper = result.bound;
  return result;
}

Results flatten(NodeImport& n) {
  const Operand& x = n.input(0);
  int64_t axis = n.int_attr("axis", 1);
  if (axis != x->rank()) axis = n.axis(axis, x->rank());
  const std::vector<Extent> wanted = {product_of_extents({n, x}, 0, axis),
                                      product_of_extents({n, x}, axis, x->rank())};
  const Shape target = {wanted[0].bound, wanted[1].bound};
  if (!is_bounded(x)) return {n.reshape(x, target)};
  if (const Operand result = reshaped_at_bounds(n, x, target, wanted)) return {result};
  return {regrouped({n, x}, wanted)};
}

Results transpose(NodeImport& n) {
  std::vector<int64_t> identity(n.input(0)->shape().size());
  std::iota(identity.begin(), identity.end(), 0);
  std::vector<int64_t> perm = n.ints_attr("perm", {identity.rbegin(), identity.rend()});
  for (int64_t& axis : perm) axis = n.axis(axis, n.input(0)->rank());
  if (perm == identity) return {n.input(0)};
  if (n.input(0)->narrow && perm.size() == 2) return {transposed_narrow(n, *n.input(0)->narrow)};
  return {n.emit(Op::Transpose, PermAttrs{perm}, {n.input(0)})};
}

Results concat(NodeImport& n) {
  const std::vector<Operand> operands = n.all_inputs();
  const int64_t axis = n.axis(n.int_attr("axis"), operands[0]->rank());
  return {operands.size() == 1 ? operands[0] : n.emit(Op::Concat, AxisAttrs{axis}, operands)};
}

// The elements from `start` on, no more than `count`, of which `length` are there.
Operand cut_at(NodeImport& n, const Operand& x, int64_t axis, const Term& start, int64_t count,
               const Term& length) {
  const Term last = integer(n, std::max<int64_t>(x->shape()[static_cast<size_t>(axis)] - 1, 0));
  const Term place = min(start + positions(n, DType::i64, count, 0, 1), last);
  const Term part = apply(Op::Gather, {at_bounds({n, x}), place}, AxisAttrs{axis});
  Results extents = extents_of(x);
  extents[static_cast<size_t>(axis)] = std::make_shared<OperandState>(*length.operand());
  extents[static_cast<size_t>(axis)]->upper = count;
  return n.bounded(part, extents);
}

// Of an open axis: as long as each other, but the last.
Results equal_parts(NodeImport& n, const Operand& x, int64_t axis) {
  const auto parts = static_cast<int64_t>(n.output_count());
  const int64_t named = n.int_attr("num_outputs", parts);
  if (named != parts) n.invalid(fmt::format("num_outputs is {}, but it has {} outputs", named, parts));
  if (n.opset() < 13 && n.has("split"))
    n.require_known(x, axis, "an axis that is split into parts of given extents");
  const int64_t each = (x->shape()[static_cast<size_t>(axis)] + parts - 1) / parts;
  const Term extent = length({n, x}, axis);
  const Term size = (extent + static_cast<double>(parts - 1)) / static_cast<double>(parts);
  Results results;
  for (int64_t i = 0; i < parts; ++i) {
    const Term start = size * static_cast<double>(i);
    results.push_back(cut_at(n, x, axis, start, each, min(max(extent - start, integer(n, 0)), size)));
  }
  if (n.opset() < 18)
    n.builder().note_meeting(size * static_cast<double>(parts), extent, n.origin(), results);
  return results;
}

// As long as the second input says, one after the other, as far as there are elements.
Results parts_of_data(NodeImport& n, const Operand& x, int64_t axis) {
  const auto parts = static_cast<int64_t>(n.output_count());
  const Term sizes = cast({n, n.input(1)}, DType::i64);
  if (!is_integer(n.input(1)->dtype()) || sizes.shape() != Shape{parts} || is_bounded(sizes))
    n.invalid(fmt::format("its sizes must be {} integers", parts));
  const int64_t bound = x->shape()[static_cast<size_t>(axis)];
  const Term extent = length({n, x}, axis), zero = integer(n, 0);
  const Term all = reduce(Op::ReduceSum, sizes, {0}, false);
  Term start = zero;
  Results results;
  for (int64_t i = 0; i < parts; ++i) {
    const Term left = max(extent - start, zero);
    const Term size = min(max(reshape(slice(sizes, 0, i, 1), {}), zero), left);
    const double most = n.range(size).high;
    const int64_t count = most < static_cast<double>(bound) ? static_cast<int64_t>(most) : bound;
    results.push_back(cut_at(n, x, axis, start, count, size));
    start = start + size;
  }
  n.builder().note_meeting(extent, all, n.origin(), results);
  return results;
}

Results split(NodeImport& n) {
  const Operand& x = n.input(0);
  const int64_t axis = n.axis(n.int_attr("axis", 0), x->rank());
  if (n.opset() >= 13 && n.has_input(1) && (!n.input(1)->constant || extent_of(x, axis) != nullptr))
    return parts_of_data(n, x, axis);
  if (extent_of(x, axis) != nullptr) return equal_parts(n, x, axis);
  const int64_t extent = x->shape()[axis];
  const auto parts = static_cast<int64_t>(n.output_count());
  const int64_t named = n.int_attr("num_outputs", parts);
  if (named != parts) n.invalid(fmt::format("num_outputs is {}, but it has {} outputs", named, parts));
  std::vector<int64_t> sizes = n.opset() < 13 ? n.ints_attr("split", {}) : std::vector<int64_t>{};
  if (n.opset() >= 13 && n.has_input(1)) sizes = n.ints_input(1, "sizes");
  if (sizes.empty()) {
    const int64_t each = (extent + parts - 1) / parts;
    if (extent % parts != 0 && n.opset() < 18)
      n.invalid(fmt::format("{} elements do not split into {} equal parts", extent, parts));
    for (int64_t i = 0; i < parts; ++i) sizes.push_back(std::clamp<int64_t>(extent - i * each, 0, each));
  }
  n.bounded("size", sizes, 0, extent);
  if (static_cast<int64_t>(sizes.size()) != parts ||
      std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != extent)
    n.invalid(fmt::format("its sizes must be {} numbers with the sum {}", parts, extent));
  return onnx::parts(n, x, axis, sizes);
}

// An open axis beside a target that is no 1: it has that extent, or has one element, which is repeated.
Operand repeated_to(NodeImport& n, const Operand& x, int64_t axis, const Extent& target) {
  const Operand extent = extent_of(x, axis);
  const Term wanted(n, target.counted != nullptr ? target.counted : n.integer(target.bound)),
      there(n, extent);
  if (n.difference(extent, wanted) == 0) return x;
  const int64_t bound = x->shape()[static_cast<size_t>(axis)],
                most = std::max(target.bound, target.counted != nullptr ? bound : 0);
  const Term place = positions(n, DType::i64, most, 0, 1), is_one = there == 1;
  const Term from = select(is_one, 0, min(place, integer(n, std::max<int64_t>(bound - 1, 0))));
  Results extents = extents_of(x);
  extents[static_cast<size_t>(axis)] = nullptr;
  if (target.counted != nullptr) {
    extents[static_cast<size_t>(axis)] = select(is_one, wanted, there).operand();
    extents[static_cast<size_t>(axis)]->upper = most;
  }
  const Operand result = n.bounded(apply(Op::Gather, {at_bounds({n, x}), from}, AxisAttrs{axis}), extents);
  n.builder().note_meeting(extent, wanted, n.origin(), {result}, ExtentRelation::equal_or_one);
  return result;
}

Results expand(NodeImport& n) {
  Operand x = n.input(0);
  const std::vector<Extent> given = n.extents_input(1, "target extents");
  for (size_t i = 1; i <= std::min(given.size(), x->shape().size()); ++i) {
    const Extent& target = given[given.size() - i];
    const auto axis = static_cast<int64_t>(x->shape().size() - i);
    if (extent_of(x, axis) != nullptr && (target.counted != nullptr || target.bound != 1))
      x = repeated_to(n, x, axis, target);
  }
  Shape bounds;
  for (const Extent& extent : given) bounds.push_back(extent.bound);
  n.bounded("target extent", bounds, 0, kMaxOffset);
  const Shape target = broadcast(x->shape(), bounds);
  const Operand expanded = target == x->shape() ? x : n.emit(Op::Expand, ShapeAttrs{target}, {x});
  Results extents = extents_of(expanded);
  const auto extent_before = [&](size_t axis) {  // 1 where there was no such axis
    const size_t added = target.size() - x->shape().size();
    return axis < added ? 1 : x->shape()[axis - added];
  };
  for (size_t i = 0; i < given.size(); ++i) {
    const size_t axis = extents.size() - given.size() + i;
    if (extents[axis] == nullptr && extent_before(axis) == 1) extents[axis] = given[i].counted;
  }
  return {n.bounded(expanded, extents)};
}

// Along one axis, where its extent or the repeats may be known in a run alone.
Term repeated(const Term& x, int64_t axis, const Extent& repeats) {
  if (repeats.counted == nullptr && repeats.bound == 1) return x;
  NodeImport& n = x.node();
  const int64_t bound = x.extent(axis) * repeats.bound;
  const Operand counted = extent_of(x, axis);
  const Term extent = length(x, axis);
  Term result = at_bounds(x);
  if (counted != nullptr) {
    const Term place =
        apply(Op::Mod, {positions(n, DType::i64, bound, 0, 1), max(extent, number_like(extent, 1))});
    result = apply(Op::Gather, {result, place}, AxisAttrs{axis});
  } else {
    Shape times(x.shape().size(), 1);
    times[static_cast<size_t>(axis)] = repeats.bound;
    result = apply(Op::Tile, {result}, ShapeAttrs{times});
  }
  Results extents = extents_of(x);
  if (counted != nullptr || repeats.counted != nullptr) {
    const Operand times = repeats.counted != nullptr ? repeats.counted : n.integer(repeats.bound);
    extents[axis] = (extent * Term(n, times)).operand();
    if (!extents[axis]->upper) extents[axis]->upper = bound;
  }
  return {n, n.bounded(result, extents)};
}

Results tile(NodeImport& n) {
  const Operand& x = n.input(0);
  const std::vector<Extent> given = n.extents_input(1, "repeats");
  Shape repeats;
  for (const Extent& repeat : given) repeats.push_back(repeat.bound);
  n.bounded("repeat", repeats, 0, kMaxStep);
  if (repeats.size() != x->shape().size()) n.invalid("repeats need one entry per axis");
  const bool is_open =
      std::any_of(given.begin(), given.end(), [](const Extent& repeat) { return repeat.counted != nullptr; });
  if (is_open || is_bounded(x)) {
    Term result(n, x);
    for (size_t axis = 0; axis < given.size(); ++axis)
      result = repeated(result, static_cast<int64_t>(axis), given[axis]);
    return {result};
  }
  const bool once = std::all_of(repeats.begin(), repeats.end(), [](int64_t count) { return count == 1; });
  return {once ? x : n.emit(Op::Tile, ShapeAttrs{repeats}, {x})};
}

int64_t block_size(NodeImport& n) {
  const int64_t block = n.int_attr("blocksize");
  n.bounded("blocksize", {block}, 1, 1024);  // its square times an extent stays inside int64
  return block;
}

Results depth_to_space(NodeImport& n) {
  const std::string mode = n.word_attr("mode", {"DCR", "CRD"});
  return {
      n.emit(mode == "DCR" ? Op::DepthToSpace : Op::DepthToSpaceCRD, AxisAttrs{block_size(n)}, {n.input(0)})};
}

// [N, b, b, C] in the order of depth, or [N, C, b, b].
Results space_to_depth(NodeImport& n) {
  const int64_t block = block_size(n);
  const std::string mode = n.opset() < 28 ? "DCR" : n.word_attr("mode", {"DCR", "CRD"});
  const Term by_block(n, n.emit(Op::SpaceToDepth, AxisAttrs{block}, {n.input(0)}));
  if (mode == "DCR") return {by_block};
  const Shape shape = by_block.shape();
  const Term split = reshape(by_block, {shape[0], block * block, n.input(0)->shape()[1], shape[2], shape[3]});
  return {reshape(transpose(split, {0, 2, 1, 3, 4}), shape)};
}

// So many elements from the middle of an open axis, or all of them between zeros.
Term centred(const Term& x, int64_t axis, int64_t target) {
  NodeImport& n = x.node();
  const Term extent = length(x, axis), surplus = extent - static_cast<double>(target);
  const Term first = surplus / 2.0;  // towards 0
  const Term place = first + positions(n, DType::i64, target, 0, 1);
  const Term inside = 0.0 <= place && place < extent;
  const Term taken = apply(Op::Gather, {x, select(inside, place, 0)}, AxisAttrs{axis});
  Shape along(x.shape().size(), 1);
  along[static_cast<size_t>(axis)] = target;
  return select(reshape(inside, along), taken, 0);
}

// In the middle of each axis; of an odd difference the smaller half before.
Results center_crop_pad(NodeImport& n) {
  Term x(n, n.input(0));
  std::vector<int64_t> axes(x.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = n.ints_attr("axes", axes);
  const Shape target = n.ints_input(1, "target extents");
  n.bounded("target extent", target, 0, kMaxOffset);
  n.axes(axes, x.rank());  // each once
  if (target.size() != axes.size()) n.invalid("target extents and axes differ in length");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = n.axis(axes[i], x.rank()), surplus = x.extent(axis) - target[i];
    if (extent_of(x, axis) != nullptr) {
      x = centred(x, axis, target[i]);
      continue;
    }
    if (surplus >= 0)
      x = slice(x, axis, surplus / 2, target[i]);
    else
      x = pad(x, axis, -surplus / 2, -surplus - -surplus / 2, 0);
  }
  return {x};
}

// The parts of an axis, [..., k, n, ...]: element (i, j) is added at i * dilation + j * stride - pad.
Term fold_axis(const Term& x, int64_t axis, const Term& zeros, int64_t stride, int64_t dilation,
               int64_t before) {
  const int64_t taps = x.extent(axis), count = x.extent(axis + 1), extent = zeros.extent(axis);
  Shape spread = x.shape(), kept = x.shape();
  spread.erase(spread.begin() + axis);
  kept.erase(kept.begin() + axis);
  spread.insert(spread.begin() + axis + 1, 1);
  kept[axis] = count * stride;
  std::optional<Term> sum;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const Term places =
        reshape(pad(reshape(slice(x, axis, tap, 1), spread), axis + 1, 0, stride - 1, 0), kept);
    const int64_t first = tap * dilation - before, last = first + (count - 1) * stride;
    // Of the places first .. last those that exist.
    const int64_t low = std::max<int64_t>(first, 0), high = std::min(last, extent - 1);
    if (low > high) continue;
    const Term inside = slice(places, axis, low - first, high - low + 1);
    const Term placed = pad(inside, axis, low, extent - 1 - high, 0);
    sum = sum ? *sum + placed : placed;
  }
  return sum ? *sum : zeros;
}

// Axis after axis: what overlaps is added.
Results col2im(NodeImport& n) {
  const Shape image = n.ints_input(1, "image extents"), block = n.ints_input(2, "block extents");
  const size_t spatial = image.size();
  const std::vector<int64_t> ones(spatial, 1);
  const std::vector<int64_t> dilations = n.ints_attr("dilations", ones),
                             strides = n.ints_attr("strides", ones);
  const std::vector<int64_t> pads = n.ints_attr("pads", std::vector<int64_t>(2 * spatial, 0));
  const Term columns(n, n.input(0));
  if (block.size() != spatial || dilations.size() != spatial || strides.size() != spatial ||
      pads.size() != 2 * spatial || columns.rank() != 3)
    n.invalid("image, block, dilations, strides, pads and data differ in rank");
  n.bounded("extent", image, 1, kMaxOffset);
  for (const auto* values : {&block, &dilations, &strides}) n.bounded("step", *values, 1, kMaxStep);
  n.bounded("pad", pads, 0, kMaxStep);
  Shape counts;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t room = image[i] + pads[i] + pads[spatial + i] - (block[i] - 1) * dilations[i] - 1;
    if (room < 0) n.invalid(fmt::format("no block of axis {} fits into the image", i));
    counts.push_back(room / strides[i] + 1);
  }
  const int64_t taps = element_count(block), batch = columns.extent(0), channels = columns.extent(1) / taps;
  if (channels * taps != columns.extent(1) || columns.extent(2) != element_count(counts))
    n.invalid(fmt::format("{} columns of {} do not make the image", columns.extent(2), columns.extent(1)));
  // [N, C, k0, k1, ..., n0, n1, ...] to [N, C, k0, n0, k1, n1, ...], folded from the first axis on.
  Shape all = {batch, channels};
  all.insert(all.end(), block.begin(), block.end());
  all.insert(all.end(), counts.begin(), counts.end());
  std::vector<int64_t> perm = {0, 1};
  for (size_t i = 0; i < spatial; ++i) {
    perm.push_back(static_cast<int64_t>(2 + i));
    perm.push_back(static_cast<int64_t>(2 + spatial + i));
  }
  Term x = transpose(reshape(columns, all), perm);
  for (size_t i = 0; i < spatial; ++i) {
    const auto axis = static_cast<int64_t>(2 + i);
    Shape folded = x.shape();
    folded.erase(folded.begin() + axis);
    folded[axis] = image[i];
    x = fold_axis(x, axis, expand(number_like(x, 0), folded), strides[i], dilations[i], pads[i]);
  }
  return {x};
}

Results trilu(NodeImport& n) {
  ScanAttrs attrs;
  attrs.reverse = n.flag("upper", true);
  attrs.axis = n.has_input(1) ? n.int_input(1, "diagonal") : 0;
  n.bounded("diagonal", {attrs.axis}, -kMaxOffset, kMaxOffset);
  return {n.emit(Op::Trilu, attrs, {n.input(0)})};
}

}  // namespace

Operand sliced(NodeImport& n, const Operand& x, const SliceAttrs& slice) {
  const bool forward =
      std::all_of(slice.steps.begin(), slice.steps.end(), [](int64_t step) { return step == 1; });
  return forward && slice.sizes == x->shape() ? x : n.emit(Op::Slice, slice, {x});
}

std::vector<Operand> parts(NodeImport& n, const Operand& x, int64_t axis, const std::vector<int64_t>& sizes) {
  SliceAttrs slice{Shape(x->shape().size(), 0), x->shape(), Shape(x->shape().size(), 1)};
  std::vector<Operand> result;
  for (int64_t size : sizes) {
    slice.sizes[axis] = size;
    result.push_back(sliced(n, x, slice));
    slice.starts[axis] += size;
  }
  return result;
}

std::vector<RuleRow> layout_rules() {
  return {
      {"Squeeze", squeeze, 1, 25},
      {"Unsqueeze", unsqueeze, 1, 25},
      {"Flatten", flatten, 1, 25},
      {"Reshape", reshape, 1, 25},
      {"Transpose", transpose, 1, 25},
      {"Concat", concat, 1, 13},
      {"Split", split, 1, 18},
      {"Expand", expand, 8, 13},
      {"Tile", tile, 1, 13},
      {"Trilu", trilu, 14, 14},
      {"DepthToSpace", depth_to_space, 1, 28},
      {"SpaceToDepth", space_to_depth, 1, 28},
      {"CenterCropPad", center_crop_pad, 18, 18},
      {"Col2Im", col2im, 18, 18},
  };
}

}  // namespace korch::onnx
