// Resize and its older forms.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "korch/ir/resize_taps.h"
#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// Output extents from scales: rounded down in float, as the product of a float scale is meant.
void apply_scales(NodeImport& n, const std::vector<double>& scales, ResizeAttrs& attrs) {
  const Shape& in = n.input(0)->shape();
  if (scales.size() != in.size()) n.invalid(fmt::format("{} scales for rank {}", scales.size(), in.size()));
  attrs.scales = scales;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!(scales[i] > 0 && scales[i] <= static_cast<double>(kMaxStep)))
      n.invalid(fmt::format("scale {} is outside of (0, {}]", scales[i], kMaxStep));
    const float extent = static_cast<float>(in[i]) * static_cast<float>(scales[i]);
    attrs.sizes.push_back(static_cast<int64_t>(std::floor(extent)));
  }
}

void apply_sizes(NodeImport& n, const Shape& sizes, ResizeAttrs& attrs) {
  const Shape& in = n.input(0)->shape();
  if (sizes.size() != in.size()) n.invalid(fmt::format("{} sizes for rank {}", sizes.size(), in.size()));
  attrs.sizes = sizes;
  for (size_t i = 0; i < in.size(); ++i)
    attrs.scales.push_back(static_cast<double>(sizes[i]) / static_cast<double>(std::max<int64_t>(in[i], 1)));
}

std::vector<double> scales_input(NodeImport& n, size_t i) {
  const HostTensor& tensor = n.constant_input(i, "scales");
  if (!is_float(tensor.dtype()) || tensor.shape().size() != 1) n.invalid("scales must be floats of rank 1");
  std::vector<double> scales;
  for (int64_t k = 0; k < tensor.elements(); ++k) scales.push_back(element_as_double(tensor, k));
  return scales;
}

Results resized(NodeImport& n, const ResizeAttrs& attrs) {
  const Operand& x = n.input(0);
  n.bounded("size", attrs.sizes, 1, kMaxOffset);
  const bool unchanged =
      std::all_of(attrs.scales.begin(), attrs.scales.end(), [](double scale) { return scale == 1; });
  if (unchanged && attrs.sizes == x->shape()) return {x};
  if (x->type.elements() == 0) n.invalid("data " + to_string(x->type) + " are empty");
  return {n.emit(Op::Resize, attrs, {x})};
}

// Upsample, and Resize of opset 10: x * scale -> x; nearest rounds down when enlarging, up when shrinking.
Results upsample(NodeImport& n) {
  ResizeAttrs attrs;
  attrs.coordinate_mode = "asymmetric";
  attrs.mode = n.string_attr("mode", "nearest");
  if (attrs.mode == "bilinear") attrs.mode = "linear";
  if (attrs.mode != "nearest" && attrs.mode != "linear") n.invalid("mode " + quoted_name(attrs.mode));
  const bool by_attribute = n.op_type() == "Upsample" && n.opset() < 9;
  apply_scales(n, by_attribute ? n.floats_attr("scales") : scales_input(n, 1), attrs);
  const auto below_one = [](double scale) { return scale < 1; };
  const auto above_one = [](double scale) { return scale > 1; };
  const bool shrinks = std::any_of(attrs.scales.begin(), attrs.scales.end(), below_one);
  if (shrinks && attrs.mode == "nearest" && std::any_of(attrs.scales.begin(), attrs.scales.end(), above_one))
    n.unsupported("nearest with scales below and above 1");
  attrs.nearest_mode = shrinks ? "ceil" : "floor";
  return resized(n, attrs);
}

// What the primitive does not know, as a matrix per axis.
struct Filter {
  bool antialias = false;
  std::string coordinate_mode;      // "half_pixel_symmetric", "tf_crop_and_resize", or one of the primitive's
  std::vector<double> first, last;  // the region of interest, per axis
};

// Where element i of a result's axis lies among `in` ones.
double source_of(int64_t i, int64_t in, const ResizeAttrs& attrs, size_t axis, const Filter& filter) {
  const auto at = static_cast<double>(i), size = static_cast<double>(in);
  if (filter.coordinate_mode != "tf_crop_and_resize") return resize_source(attrs, axis, in, at);
  const double first = filter.first[axis] * (size - 1), last = filter.last[axis] * (size - 1);
  const int64_t out = attrs.sizes[axis];
  return out > 1 ? first + at * (last - first) / (static_cast<double>(out) - 1) : (first + last) / 2;
}

// Row after row of the axis's elements: the weights of those around `source`, whose sum is 1.
void add_weights(double source, double scale, int64_t in, const Filter& filter, const ResizeAttrs& attrs,
                 double* row, int64_t stride) {
  if (attrs.mode == "nearest") {
    row[resize_nearest(attrs, in, source) * stride] = 1;
    return;
  }
  const double narrow = filter.antialias ? std::min(scale, 1.0) : 1,
               reach = (attrs.mode == "linear" ? 1 : 2) / narrow;
  double sum = 0;
  std::vector<std::pair<int64_t, double>> taps;
  for (auto tap = static_cast<int64_t>(std::ceil(source - reach)); static_cast<double>(tap) <= source + reach;
       ++tap) {
    if (attrs.exclude_outside && (tap < 0 || tap >= in)) continue;
    taps.emplace_back(std::clamp(tap, int64_t{0}, in - 1),
                      resize_weight(attrs, (static_cast<double>(tap) - source) * narrow));
    sum += taps.back().second;
  }
  for (const auto& [tap, weight] : taps) row[tap * stride] += weight / sum;
}

// Axis after axis a product with a constant matrix [in, out].
Term filtered(const Term& x, const ResizeAttrs& attrs, const Filter& filter) {
  NodeImport& n = x.node();
  Term y = x;
  const bool crops = filter.coordinate_mode == "tf_crop_and_resize";
  for (size_t axis = 0; axis < attrs.sizes.size(); ++axis) {
    const int64_t in = x.shape()[axis], out = attrs.sizes[axis];
    const bool whole = !crops || (filter.first[axis] == 0 && filter.last[axis] == 1);
    if (in == out && attrs.scales[axis] == 1 && whole) continue;
    if (in * out * 8 > n.max_constant_bytes()) n.unsupported("a matrix of weights that would be too large");
    std::vector<double> matrix(static_cast<size_t>(in * out), 0.0), outside(static_cast<size_t>(out), 0.0);
    for (int64_t i = 0; i < out; ++i) {
      const double source = source_of(i, in, attrs, axis, filter);
      if (crops && (source < 0 || source > static_cast<double>(in - 1)))
        outside[i] = attrs.extrapolation_value;
      else
        add_weights(source, attrs.scales[axis], in, filter, attrs, matrix.data() + i, out);
    }
    std::vector<int64_t> to_last(x.shape().size());
    std::iota(to_last.begin(), to_last.end(), 0);
    std::swap(to_last[axis], to_last.back());
    const Term moved = transpose(y, to_last);
    Shape flat = {moved.operand()->type.elements() / in, in}, shape = moved.shape();
    shape.back() = out;
    const Term product = matmul(reshape(moved, flat), constant(n, y.dtype(), {in, out}, matrix));
    y = transpose(reshape(product + constant(n, y.dtype(), {out}, outside), shape), to_last);
  }
  return y;
}

void read_modes(NodeImport& n, ResizeAttrs& attrs, Filter& filter) {
  const auto one_of = [&](const char* attribute, const std::string& fallback,
                          std::initializer_list<const char*> known) {
    const std::string value = n.string_attr(attribute, fallback);
    if (std::find(known.begin(), known.end(), value) == known.end())
      n.unsupported(fmt::format("{} {}", attribute, quoted_name(value)));
    return value;
  };
  attrs.mode = one_of("mode", "nearest", {"nearest", "linear", "cubic"});
  attrs.coordinate_mode = one_of("coordinate_transformation_mode", "half_pixel",
                                 {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                  "tf_half_pixel_for_nn", "half_pixel_symmetric", "tf_crop_and_resize"});
  attrs.nearest_mode = one_of("nearest_mode", "round_prefer_floor",
                              {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  attrs.cubic_coeff_a = n.float_attr("cubic_coeff_a", -0.75);
  attrs.exclude_outside = n.flag("exclude_outside", false);
  attrs.extrapolation_value = n.element_attr("extrapolation_value", 0);
  filter.antialias = n.flag("antialias", false) && attrs.mode != "nearest";
  filter.coordinate_mode = attrs.coordinate_mode;
}

size_t named_axes(NodeImport& n) {
  const size_t rank = n.input(0)->shape().size();
  return n.has("axes") ? n.ints_attr("axes", {}).size() : rank;
}

// Values for the axes that the attribute `axes` (opset 18) names, `rest` for all others.
template <typename T>
std::vector<T> spread(NodeImport& n, const std::vector<T>& values, std::vector<T> rest) {
  std::vector<int64_t> axes(rest.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = n.ints_attr("axes", axes);
  n.axes(axes, static_cast<int64_t>(rest.size()));  // each once
  if (values.size() != axes.size())
    n.invalid(fmt::format("{} scales or sizes for {} axes", values.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i)
    rest[n.axis(axes[i], static_cast<int64_t>(rest.size()))] = values[i];
  return rest;
}

// Starts and ends of the axes, in parts of the whole.
void read_region(NodeImport& n, Filter& filter) {
  const HostTensor& region = n.constant_input(1, "region of interest");
  if (region.elements() % 2 != 0) n.invalid("the region of interest needs a start and an end per axis");
  std::vector<double> first, last;
  for (int64_t i = 0; i < region.elements(); ++i)
    (2 * i < region.elements() ? first : last).push_back(element_as_double(region, i));
  const std::vector<double> zeros(n.input(0)->shape().size(), 0), ones(zeros.size(), 1);
  filter.first = spread(n, first, zeros);
  filter.last = spread(n, last, ones);
}

// One scale for all axes that are named: the largest whose results are no larger than the sizes, or the
// smallest whose are no smaller.
void keep_aspect_ratio(NodeImport& n, ResizeAttrs& attrs) {
  const std::string policy = n.string_attr("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return;
  if (policy != "not_larger" && policy != "not_smaller")
    n.invalid("keep_aspect_ratio_policy " + quoted_name(policy));
  const Shape& in = n.input(0)->shape();
  const std::vector<int64_t> named =
      spread(n, std::vector<int64_t>(named_axes(n), 1), std::vector<int64_t>(in.size(), 0));
  std::optional<double> scale;
  for (size_t i = 0; i < in.size(); ++i)
    if (named[i] != 0)
      scale = !scale                   ? attrs.scales[i]
              : policy == "not_larger" ? std::min(*scale, attrs.scales[i])
                                       : std::max(*scale, attrs.scales[i]);
  for (size_t i = 0; i < in.size() && scale; ++i) {
    if (named[i] == 0) continue;
    attrs.scales[i] = *scale;
    attrs.sizes[i] = static_cast<int64_t>(std::floor(*scale * static_cast<double>(in[i]) + 0.5));
  }
}

// An axis of `in` elements that becomes `out`, i64 of rank 0, one of which depends on the data.
struct OpenAxis {
  int64_t axis, bound;  // of the result
  Term in, out;
  Term length;  // `out` in float64 before it was rounded
};

// Where each element of the result lies among those of the axis, as source_of says: float64, as there, since
// the nearest one is another where a rounding decides; along the axis.
Term sources(const OpenAxis& a, int64_t rank, const std::string& mode) {
  NodeImport& n = a.in.node();
  const Term at = positions(n, DType::f64, a.bound, a.axis, rank);
  const Term in = cast(a.in, DType::f64), out = cast(a.out, DType::f64), scale = a.length / in;
  if (mode == "align_corners") return at * (in - 1) / max(a.length - 1, number_like(out, 1));
  if (mode == "asymmetric") return at / scale;
  if (mode == "tf_half_pixel_for_nn") return select(in == out, at, (at + 0.5) / scale);
  const Term source = (at + 0.5) / scale - 0.5;
  return mode == "pytorch_half_pixel" ? select(out <= number_like(out, 1), 0, source) : source;
}

Term nearest_of(const Term& source, const std::string& mode) {
  const Term below = floor(source), half = source - below - 0.5;
  if (mode == "floor") return below;
  const Term up = mode == "ceil"                ? below < source
                  : mode == "round_prefer_ceil" ? 0 <= half
                                                : number_like(half, 0) < half;
  return select(up, below + 1, below);
}

// The weights of the elements around a source that lies `beyond` the one before it, from the first on.
std::vector<Term> weights_of(const Term& beyond, const ResizeAttrs& attrs) {
  if (attrs.mode == "linear") return {1 - beyond, beyond};
  const double a = attrs.cubic_coeff_a;
  const auto near = [&](const Term& d) { return ((d * (a + 2) - (a + 3)) * d * d) + 1; };
  const auto far = [&](const Term& d) { return ((d * a - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(beyond + 1), near(beyond), near(1 - beyond), far(2 - beyond)};
}

Term resized_along(const Term& x, const OpenAxis& a, const ResizeAttrs& attrs) {
  Term last = a.in - 1;
  if (x.node().range(a.in).low < 1) last = max(last, number_like(last, 0));
  // Elements at these places of the axis, the nearest ones of those that there are.
  const auto at = [&](const Term& places) {
    const Term index = min(max(cast(places, DType::i64), number_like(last, 0)), last);
    return apply(Op::Gather, {x, reshape(index, {a.bound})}, AxisAttrs{a.axis});
  };
  Term source = sources(a, x.rank(), attrs.coordinate_mode);
  if (attrs.mode == "nearest") return at(nearest_of(source, attrs.nearest_mode));
  if (attrs.mode == "linear") source = min(max(source, number_like(source, 0)), cast(last, DType::f64));
  const Term below = floor(source);
  const int first = attrs.mode == "linear" ? 0 : -1;
  std::vector<Term> weights = weights_of(source - below, attrs);
  std::optional<Term> result, sum;
  for (size_t tap = 0; tap < weights.size(); ++tap) {
    const Term places = below + static_cast<double>(first + static_cast<int>(tap));
    Term weight = weights[tap];
    if (attrs.exclude_outside && attrs.mode == "cubic") {
      weight = select(0 <= places && places <= cast(last, DType::f64), weight, 0);
      sum = sum ? *sum + weight : weight;
    }
    const Term part = at(places) * cast(weight, x.dtype());
    result = result ? *result + part : part;
  }
  return sum ? *result / cast(*sum, x.dtype()) : *result;
}

// Extents times scales, rounded down in float.
std::vector<Extent> scaled_extents(NodeImport& n, const std::vector<double>& scales) {
  const Operand& x = n.input(0);
  std::vector<Extent> sizes;
  for (int64_t axis = 0; axis < x->rank(); ++axis) {
    const auto factor = static_cast<float>(scales[static_cast<size_t>(axis)]);
    const int64_t bound = x->shape()[static_cast<size_t>(axis)];
    sizes.push_back(
        {static_cast<int64_t>(std::floor(static_cast<float>(bound) * factor)), extent_of(x, axis)});
    if (factor == 1 || sizes.back().counted == nullptr) continue;
    const Term extent(n, sizes.back().counted);
    sizes.back().counted = cast(floor(cast(extent, DType::f32) * factor), DType::i64).operand();
    sizes.back().counted->upper = sizes.back().bound;
  }
  return sizes;
}

// To sizes that depend on the data, or from extents that do.
Results resize_open(NodeImport& n, const ResizeAttrs& attrs, const Filter& filter,
                    const std::vector<Extent>& sizes) {
  const Operand& x = n.input(0);
  if (n.string_attr("keep_aspect_ratio_policy", "stretch") != "stretch" || filter.antialias ||
      filter.coordinate_mode == "tf_crop_and_resize" || filter.coordinate_mode == "half_pixel_symmetric")
    n.unsupported("this mode with sizes or extents that depend on the data");
  if (x->type.elements() == 0) n.invalid("data " + to_string(x->type) + " are empty");
  if (!is_float(x->dtype()) && attrs.mode != "nearest") n.unsupported("integers with this mode");
  Term y = at_bounds(attrs.mode == "nearest" ? Term(n, x) : widened({n, x}));
  Results extents;
  for (int64_t axis = 0; axis < x->rank(); ++axis) {
    const auto [bound, counted] = sizes[static_cast<size_t>(axis)];
    const Operand from = extent_of(x, axis);
    extents.push_back(counted);
    if (counted == from && bound == x->shape()[axis]) continue;
    n.bounded("size", {bound}, 1, kMaxOffset);
    const auto count = [&](int64_t constant, const Operand& open) {
      return Term(n, open != nullptr ? open : n.integer(constant));
    };
    const Term in = count(x->shape()[axis], from), out = count(bound, counted);
    const Term length = attrs.scales.empty() ? cast(out, DType::f64)
                                             : cast(in, DType::f64) * attrs.scales[static_cast<size_t>(axis)];
    y = resized_along(y, {axis, bound, in, out, length}, attrs);
  }
  return {n.bounded(cast(y, x->dtype()), extents)};
}

Results resize(NodeImport& n) {
  if (n.opset() < 11) return upsample(n);
  ResizeAttrs attrs;
  Filter filter;
  read_modes(n, attrs, filter);
  const Shape& in = n.input(0)->shape();
  if (filter.coordinate_mode == "tf_crop_and_resize") read_region(n, filter);
  n.ignore_input(1);  // the region of interest, of one coordinate mode alone
  n.ignore_input(2);  // scales, where sizes are given too
  // An empty tensor stands for a missing one.
  const auto given = [&](size_t i) { return n.has_input(i) && n.input(i)->type.elements() > 0; };
  if (given(3)) {
    if (is_bounded(n.input(0)) || !n.input(3)->constant)
      return resize_open(
          n, attrs, filter,
          spread(n, n.extents_input(3, "sizes"), scaled_extents(n, std::vector<double>(in.size(), 1))));
    apply_sizes(n, spread(n, n.ints_input(3, "sizes"), in), attrs);
    keep_aspect_ratio(n, attrs);
  } else if (given(2)) {
    apply_scales(n, spread(n, scales_input(n, 2), std::vector<double>(in.size(), 1)), attrs);
    bool follows_extent = false;
    for (size_t i = 0; i < in.size(); ++i)
      follows_extent = follows_extent ||
                       (attrs.scales[i] != 1 && extent_of(n.input(0), static_cast<int64_t>(i)) != nullptr);
    if (follows_extent && attrs.coordinate_mode == "align_corners")
      return resize_open(n, attrs, filter, scaled_extents(n, attrs.scales));
    n.ignore("keep_aspect_ratio_policy");  // of sizes
  } else {
    n.invalid("neither scales nor sizes are given");
  }
  const bool needs_filter =
      filter.coordinate_mode == "tf_crop_and_resize" || filter.coordinate_mode == "half_pixel_symmetric" ||
      (filter.antialias &&
       std::any_of(attrs.scales.begin(), attrs.scales.end(), [](double scale) { return scale < 1; }));
  if (!needs_filter) return resized(n, attrs);
  // Axes that stay as they are, are by themselves.
  for (size_t i = 0; i < in.size(); ++i)
    if (attrs.scales[i] != 1 || filter.coordinate_mode == "tf_crop_and_resize")
      n.require_known(n.input(0), static_cast<int64_t>(i), "an axis that is resized in this mode");
  n.bounded("size", attrs.sizes, 1, kMaxOffset);
  if (n.input(0)->type.elements() == 0) n.invalid("data " + to_string(n.input(0)->type) + " are empty");
  const Term x = widened(at_bounds({n, n.input(0)}));
  if (!is_float(x.dtype())) n.unsupported("integers with this mode");
  return {n.bounded(cast(filtered(x, attrs, filter), n.input(0)->dtype()), extents_of(n.input(0)))};
}

}  // namespace

std::vector<RuleRow> resize_rules() {
  return {{"Resize", resize, 10, 19}, {"Upsample", upsample, 7, 9, 9}};
}

}  // namespace korch::onnx
