// Pooling over windows of the spatial axes, over all of them, and over regions.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "korch/ir/idle_taps.h"
#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/tensor_data.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// With ceil_mode a last, partial window counts as long as it begins inside the data or the padding before
// them. The elements it lacks are extra padding behind. Of an extent that is not known, as many as it may
// lack: so that a window more fits whenever it begins early enough.
std::vector<int64_t> ceil_extra(NodeImport& n, const Operand& x, const Shape& kernel,
                                const Windows& windows) {
  const Shape in(x->shape().begin() + 2, x->shape().end());
  std::vector<int64_t> extra(in.size(), 0);
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t stride = windows.strides[i], before = windows.pads_before[i];
    const int64_t span = (kernel[i] - 1) * windows.dilations[i] + 1;
    const int64_t padded = in[i] + before + windows.pads_after[i];
    if (const Operand extent = extent_of(x, static_cast<int64_t>(i) + 2); extent != nullptr) {
      const auto least = static_cast<int64_t>(std::max(n.range(extent).low, 0.0));
      if (least + before + windows.pads_after[i] < span)  // as the shape rule says of one that is known
        throw Error(ErrorKind::usage,
                    fmt::format("axis {} of its data, where a window of {} must fit, can be as short "
                                "as {}, not {} at least: give a range of extents that begins higher",
                                i + 2, span, least, span - before - windows.pads_after[i]));
      extra[i] = std::max<int64_t>(std::min(stride - 1, span - 1 - windows.pads_after[i]), 0);
      continue;
    }
    if (padded < span) continue;  // refused by the shape rule
    int64_t count = (padded - span + stride - 1) / stride + 1;
    if ((count - 1) * stride >= in[i] + before) --count;
    extra[i] = std::max<int64_t>((count - 1) * stride + span - padded, 0);
  }
  return extra;
}

struct Pooling {
  Windows windows;
  PoolAttrs attrs;                  // pads as the node states them
  std::vector<int64_t> ceil_extra;  // padding behind, added by ceil_mode
  bool has_extra() const {
    return std::any_of(ceil_extra.begin(), ceil_extra.end(), [](int64_t pad) { return pad > 0; });
  }
  PoolAttrs with_extra() const {
    PoolAttrs result = attrs;
    for (size_t i = 0; i < ceil_extra.size(); ++i) result.pads_after[i] += ceil_extra[i];
    return result;
  }
};

Pooling read_pooling(NodeImport& n) {
  const Operand& x = n.input(0);
  if (x->rank() < 3) n.invalid(fmt::format("data {} have no spatial axes", to_string(x->type)));
  const Shape in(x->shape().begin() + 2, x->shape().end());
  Pooling result;
  result.attrs.kernel = n.ints_attr("kernel_shape", {});
  if (result.attrs.kernel.size() != in.size()) n.invalid("kernel_shape needs one entry per spatial axis");
  n.bounded("kernel extent", result.attrs.kernel, 1, kMaxStep);
  const Windows windows = result.windows = read_windows(n, x, result.attrs.kernel);
  result.attrs.strides = windows.strides;
  result.attrs.dilations = windows.dilations;
  result.attrs.pads_before = windows.pads_before;
  result.attrs.pads_after = windows.pads_after;
  result.ceil_extra.assign(in.size(), 0);
  if (n.flag("ceil_mode", false)) result.ceil_extra = ceil_extra(n, x, result.attrs.kernel, windows);
  return result;
}

// Places in a tensor of this shape, where the first spatial axis, not the last, changes fastest.
Term counted_by_columns(const Term& places, const Shape& shape) {
  double image = 1;
  for (size_t axis = 2; axis < shape.size(); ++axis) image *= static_cast<double>(shape[axis]);
  Term result = places / image * image, left = places - result;
  double stride = image;
  for (size_t axis = shape.size(); axis-- > 2;) {
    const auto extent = static_cast<double>(shape[axis]);
    stride /= extent;
    const Term outer = left / extent;
    result = result + (left - outer * extent) * stride;
    left = outer;
  }
  return result;
}

Results max_pool(NodeImport& n) {
  const Pooling pooling = read_pooling(n);
  const double least = element_as_double(extreme(n.input(0)->dtype(), true), 0);
  const Operand x = with_open_pads(n, n.input(0), pooling.windows, least);
  const Shape& shape = x->shape();
  const PoolAttrs attrs = without_idle_taps(pooling.with_extra(), Shape(shape.begin() + 2, shape.end()));
  Results outputs = {n.emit(Op::WindowMax, attrs, {x})};
  const bool by_columns = n.flag("storage_order", false);
  if (!n.output_used(1)) return outputs;
  if (pooling.windows.are_open()) n.unsupported("places in an image, with pads that depend on its extents");
  const Term indices(n, n.emit(Op::MaxPoolIndices, attrs, {n.input(0)}));
  outputs.push_back(by_columns ? counted_by_columns(indices, n.input(0)->shape()).operand()
                               : indices.operand());
  return outputs;
}

// Counted padding becomes real zeros when ceil_mode adds padding that is not to be counted.
Results average_pool(NodeImport& n) {
  Pooling pooling = read_pooling(n);
  pooling.attrs.count_include_pad = n.flag("count_include_pad", false);
  Operand x = with_open_pads(n, n.input(0), pooling.windows, 0);
  if (pooling.windows.are_open() && !pooling.attrs.count_include_pad) {
    // Of the elements alone: their sum by their number.
    const Term data = widened({n, n.input(0)}), ones = expand_like(number_like(data, 1), data);
    const PoolAttrs attrs = pooling.with_extra();
    const auto sum = [&](const Term& of) {
      return apply(Op::WindowSum, {Term(n, with_open_pads(n, of, pooling.windows, 0))}, attrs);
    };
    return {cast(sum(data) / sum(ones), x->dtype())};
  }
  if (pooling.attrs.count_include_pad && pooling.has_extra()) {
    PadAttrs pad;
    pad.before = {0, 0};
    pad.after = {0, 0};
    pad.before.insert(pad.before.end(), pooling.attrs.pads_before.begin(), pooling.attrs.pads_before.end());
    pad.after.insert(pad.after.end(), pooling.attrs.pads_after.begin(), pooling.attrs.pads_after.end());
    x = n.emit(Op::Pad, pad, {x});
    pooling.attrs.count_include_pad = false;
    std::fill(pooling.attrs.pads_before.begin(), pooling.attrs.pads_before.end(), 0);
    std::fill(pooling.attrs.pads_after.begin(), pooling.attrs.pads_after.end(), 0);
  }
  return {n.emit(Op::AveragePool, pooling.with_extra(), {x})};
}

int64_t lp_exponent(NodeImport& n) {
  const int64_t p = n.int_attr("p", 2);
  n.bounded("p", {p}, 1, 64);
  return p;
}

// (sum |x|^p)^(1/p) over each window.
Results lp_pool(NodeImport& n) {
  const auto p = static_cast<double>(lp_exponent(n));
  const Operand powers = power(n, p == 2 ? n.input(0) : n.emit(Op::Abs, {n.input(0)}), p);
  const Pooling pooling = read_pooling(n);
  const Operand padded = with_open_pads(n, powers, pooling.windows, 0);
  return {power(n, n.emit(Op::WindowSum, pooling.with_extra(), {padded}), 1 / p)};
}

Operand reduce_spatial(NodeImport& n, Op op, const Operand& x) {
  if (x->rank() < 3) n.invalid(fmt::format("data {} have no spatial axes", to_string(x->type)));
  return n.emit(op, ReduceAttrs{spatial_axes(x), true}, {x});
}

Results global_average_pool(NodeImport& n) {
  return {reduce_spatial(n, Op::ReduceMean, n.input(0))};
}
Results global_max_pool(NodeImport& n) {
  return {reduce_spatial(n, Op::ReduceMax, n.input(0))};
}

Results global_lp_pool(NodeImport& n) {
  const auto p = static_cast<double>(lp_exponent(n));
  if (p == 2) return {reduce_spatial(n, Op::ReduceL2, n.input(0))};
  const Operand powers = power(n, n.emit(Op::Abs, {n.input(0)}), p);
  return {power(n, reduce_spatial(n, Op::ReduceSum, powers), 1 / p)};
}

// Every element goes where the pooling found it; what it found nothing at is 0. Beyond the extents that
// pooling had the result may be larger.
Results max_unpool(NodeImport& n) {
  const Term x(n, n.input(0)), indices(n, n.input(1));
  const Shape kernel = n.ints_attr("kernel_shape", {});
  const size_t spatial = kernel.size();
  const std::vector<int64_t> strides = n.ints_attr("strides", std::vector<int64_t>(spatial, 1));
  const std::vector<int64_t> pads = n.ints_attr("pads", std::vector<int64_t>(2 * spatial, 0));
  if (x.shape().size() != spatial + 2 || strides.size() != spatial || pads.size() != 2 * spatial)
    n.invalid("kernel_shape, strides and pads do not fit the data");
  n.bounded("kernel extent", kernel, 1, kMaxStep);
  n.bounded("stride", strides, 1, kMaxStep);
  n.bounded("pad", pads, 0, kMaxStep);
  if (indices.shape() != x.shape()) n.invalid("data and indices differ in shape");
  Shape shape = {x.extent(0), x.extent(1)};
  for (size_t i = 0; i < spatial; ++i)
    shape.push_back((x.shape()[i + 2] - 1) * strides[i] - pads[i] - pads[spatial + i] + kernel[i]);
  n.bounded("extent", shape, 0, kMaxOffset);
  const Term zeros = expand(number_like(x, 0), {element_count(shape)});
  const Shape flat = {x.operand()->type.elements()};
  Term y = reshape(
      apply(Op::ScatterElements, {zeros, reshape(indices, flat), reshape(x, flat)}, AxisAttrs{0}), shape);
  if (!n.has_input(2)) return {y};
  const Shape wanted = n.ints_input(2, "output extents");
  if (wanted.size() != shape.size()) n.invalid("output extents need one entry per axis");
  for (size_t i = 0; i < shape.size(); ++i) {
    if (wanted[i] < shape[i])
      n.invalid(fmt::format("output extent {} on axis {} is less than {}", wanted[i], i, shape[i]));
    y = pad(y, static_cast<int64_t>(i), 0, wanted[i] - shape[i], 0);
  }
  return {y};
}

// Halves go away from zero.
Term rounded_away(const Term& x) {
  const Term low = floor(x), rest = x - low;
  const Term up = (x < 0 && !(rest <= number_like(rest, 0.5))) || (0.0 <= x && 0.5 <= rest);
  return select(up, low + 1.0, low);
}

// Which elements of an axis lie in each part of each region, [regions, parts, size].
Term region_parts(const Term& first, const Term& last, int64_t parts, int64_t size) {
  NodeImport& n = first.node();
  const Term extent = max(last - first + 1.0, number_like(first, 1));
  const Term part = positions(n, first.dtype(), parts, 1, 2), length = extent / static_cast<double>(parts);
  const Term begin = floor(part * length) + first, end = first - floor(-((part + 1.0) * length));
  const Term at = positions(n, first.dtype(), size, 2, 3);
  return insert_axis(begin, 2) <= at && at < insert_axis(end, 2);
}

// The greatest elements of the parts, columns first and then rows; 0 where a part has none. Images are
// numbered by floats, which nothing says the bounds of: the nearest image.
Results max_roi_pool(NodeImport& n) {
  if (is_bounded(n.input(0))) n.unsupported("images with an extent that depends on the data");
  const Term image(n, n.input(0)), rois = widened({n, n.input(1)});
  const std::vector<int64_t> pooled = n.ints_attr("pooled_shape", {});
  if (image.rank() != 4 || rois.rank() != 2 || rois.extent(1) != 5 || pooled.size() != 2)
    n.invalid("data need rank 4, regions [count, 5], and pooled_shape two extents");
  n.bounded("pooled_shape", pooled, 1, kMaxStep);
  n.bounded("extent", {image.extent(0), image.extent(2), image.extent(3)}, 1, kMaxOffset);
  const double scale = n.float_attr("spatial_scale", 1);
  const auto edge = [&](int64_t column) { return rounded_away(slice(rois, 1, column, 1) * scale); };
  const int64_t count = rois.extent(0), channels = image.extent(1), height = image.extent(2);
  const Term rows = region_parts(edge(2), edge(4), pooled[0], height),
             columns = region_parts(edge(1), edge(3), pooled[1], image.extent(3));
  const Term image_of = clamp(slice(rois, 1, 0, 1), 0, static_cast<double>(image.extent(0) - 1));
  const Term batch = reshape(cast(image_of, DType::i64), {count});
  const Term images = widened(apply(Op::Gather, {image, batch}, AxisAttrs{0}));
  const Term least(n, n.constant(extreme(images.dtype(), true)));
  const auto greatest = [&](const Term& among, const Term& elements, int64_t axis) {
    return reduce(Op::ReduceMax, select(among, elements, least), {axis}, false);
  };
  const Term among_columns = insert_axis(insert_axis(columns, 1), 1);  // [count, 1, 1, parts, width]
  const Term of_columns = greatest(among_columns, insert_axis(images, 3), 4);
  const Term among_rows = insert_axis(insert_axis(rows, 3), 1);  // [count, 1, parts, height, 1]
  const Term of_rows = greatest(among_rows, insert_axis(of_columns, 2), 3);
  const auto any = [&](const Term& within) {
    return reduce(Op::ReduceMax, cast(within, DType::i32), {2}, false);
  };
  const Term elements =
      reshape(any(rows), {count, 1, pooled[0], 1}) * reshape(any(columns), {count, 1, 1, pooled[1]});
  const Shape shape{count, channels, pooled[0], pooled[1]};
  return {cast(select(expand(elements == 0.0, shape), 0, of_rows), image.dtype())};
}

// As many windows as the extent has steps, padding on both sides.
struct SamePads {
  int64_t before, after;
};
SamePads same_pads(int64_t in, int64_t span, int64_t stride, bool lower) {
  const int64_t count = (in + stride - 1) / stride;
  const int64_t total = std::max<int64_t>((count - 1) * stride + span - in, 0);
  const int64_t before = lower ? total - total / 2 : total / 2;
  return {before, total - before};
}

// For every extent from the least to `most`: the same before all of them, and behind as much as one needs.
// Nothing where it differs.
std::optional<SamePads> common_same_pads(int64_t least, int64_t most, int64_t span, int64_t stride,
                                         bool lower) {
  SamePads common = same_pads(most, span, stride, lower);
  for (int64_t in = most; in >= least && most - in < stride; --in) {
    const SamePads pads = same_pads(in, span, stride, lower);
    if (pads.before != common.before) return std::nullopt;
    common.after = std::max(common.after, pads.after);
  }
  return common;
}

// As same_pads, of an extent that a run tells.
void read_open_pads(const Term& extent, size_t axis, int64_t span, bool lower, Windows* windows) {
  NodeImport& n = extent.node();
  const int64_t stride = windows->strides[axis];
  const Term count = (extent + static_cast<double>(stride - 1)) / static_cast<double>(stride);
  const Term reach = (count - 1) * static_cast<double>(stride) + static_cast<double>(span);
  const Term total = max(reach - extent, integer(n, 0));
  windows->open_before[axis] = ((lower ? total + 1 : total) / 2.0).operand();
  windows->open_pads[axis] = total.operand();
  windows->most_pads[axis] = std::max<int64_t>(span - 1, 0);
}

}  // namespace

std::vector<int64_t> spatial_axes(const Operand& x) {
  std::vector<int64_t> axes(static_cast<size_t>(std::max<int64_t>(x->rank() - 2, 0)));
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

bool Windows::are_open() const {
  return std::any_of(open_pads.begin(), open_pads.end(), [](const Operand& pads) { return pads != nullptr; });
}

Operand with_open_pads(NodeImport& n, const Operand& x, const Windows& windows, double value) {
  Term padded(n, x);
  for (size_t i = 0; i < windows.open_pads.size(); ++i) {
    if (windows.open_pads[i] == nullptr) continue;
    const auto axis = static_cast<int64_t>(i) + 2;
    // With its pads an axis is a window long at least, whatever the extent.
    const Term padding(n, windows.open_pads[i]);
    const Term length = max(onnx::length(padded, axis) + padding, integer(n, windows.most_pads[i] + 1));
    // One more, which is a pad whatever the extent.
    const Term behind = pad(padded, axis, 0, windows.most_pads[i] + 1, value);
    padded = Term(n, moved_in_front(n, behind, axis, windows.open_before[i], length));
    padded =
        Term(n, n.bounded(slice(at_bounds(padded), axis, 0, padded.extent(axis) - 1), extents_of(padded)));
  }
  return padded;
}

Windows read_windows(NodeImport& n, const Operand& x, const Shape& kernel) {
  const size_t spatial = kernel.size();
  const std::vector<int64_t> ones(spatial, 1);
  Windows windows;
  windows.strides = n.ints_attr("strides", ones);
  windows.dilations = n.ints_attr("dilations", ones);
  const std::vector<int64_t> pads = n.ints_attr("pads", std::vector<int64_t>(2 * spatial, 0));
  const std::string auto_pad = n.string_attr("auto_pad", "NOTSET");
  if (windows.strides.size() != spatial || windows.dilations.size() != spatial || pads.size() != 2 * spatial)
    n.invalid("strides and dilations need one entry per spatial axis, pads two");
  n.bounded("stride", windows.strides, 1, kMaxStep);
  n.bounded("dilation", windows.dilations, 1, kMaxStep);
  n.bounded("pad", pads, 0, kMaxStep);
  windows.pads_before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
  windows.pads_after.assign(pads.begin() + static_cast<std::ptrdiff_t>(spatial), pads.end());
  windows.open_before = windows.open_pads = Results(spatial);
  windows.most_pads.assign(spatial, 0);
  if (auto_pad == "NOTSET" || auto_pad.empty()) return windows;
  if (auto_pad != "VALID" && auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER")
    n.invalid("auto_pad " + quoted_name(auto_pad));
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t stride = windows.strides[i], in = x->shape()[i + 2];
    const int64_t span = (kernel[i] - 1) * windows.dilations[i] + 1;
    windows.pads_before[i] = windows.pads_after[i] = 0;
    if (auto_pad == "VALID") continue;
    const bool lower = auto_pad == "SAME_LOWER";
    const SamePads pads = same_pads(in, span, stride, lower);
    windows.pads_before[i] = pads.before;
    windows.pads_after[i] = pads.after;
    const Operand extent = extent_of(x, static_cast<int64_t>(i) + 2);
    if (extent == nullptr) continue;
    const auto least = static_cast<int64_t>(std::max(n.range(extent).low, 1.0));
    if (const auto common = common_same_pads(least, in, span, stride, lower)) {
      windows.pads_after[i] = common->after;
    } else {
      windows.pads_before[i] = windows.pads_after[i] = 0;
      read_open_pads({n, extent}, i, span, lower, &windows);
    }
  }
  return windows;
}

std::vector<RuleRow> pooling_rules() {
  return {
      {"MaxPool", max_pool, 1, 22},
      {"AveragePool", average_pool, 1, 22},
      {"MaxUnpool", max_unpool, 9, 22},
      {"LpPool", lp_pool, 1, 22},
      {"GlobalAveragePool", global_average_pool, 1, 22},
      {"GlobalMaxPool", global_max_pool, 1, 22},
      {"GlobalLpPool", global_lp_pool, 1, 22},
      {"MaxRoiPool", max_roi_pool, 1, 22},
  };
}

}  // namespace korch::onnx
