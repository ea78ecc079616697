// Resize and its older forms.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"

namespace korch::onnx {
namespace {

using Results = std::vector<Operand>;

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

void read_modes(NodeImport& n, ResizeAttrs& attrs) {
  const auto one_of = [&](const char* attribute, const std::string& fallback,
                          std::initializer_list<const char*> known) {
    const std::string value = n.string_attr(attribute, fallback);
    if (std::find(known.begin(), known.end(), value) == known.end())
      n.unsupported(fmt::format("{} {}", attribute, quoted_name(value)));
    return value;
  };
  attrs.mode = one_of("mode", "nearest", {"nearest", "linear", "cubic"});
  attrs.coordinate_mode =
      one_of("coordinate_transformation_mode", "half_pixel",
             {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"});
  attrs.nearest_mode = one_of("nearest_mode", "round_prefer_floor",
                              {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  attrs.cubic_coeff_a = n.float_attr("cubic_coeff_a", -0.75);
  attrs.exclude_outside = n.flag("exclude_outside", false);
  attrs.extrapolation_value = n.float_attr("extrapolation_value", 0);
  if (n.flag("antialias", false)) n.unsupported("antialias");
  one_of("keep_aspect_ratio_policy", "stretch", {"stretch"});
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

Results resize(NodeImport& n) {
  if (n.opset() < 11) return upsample(n);
  ResizeAttrs attrs;
  read_modes(n, attrs);
  const Shape& in = n.input(0)->shape();
  n.ignore_input(1);  // the region of interest, of a coordinate mode that is not known
  n.ignore_input(2);  // scales, where sizes are given too
  // An empty tensor stands for a missing one.
  const auto given = [&](size_t i) { return n.has_input(i) && n.input(i)->type.elements() > 0; };
  if (given(3)) {
    apply_sizes(n, spread(n, n.ints_input(3, "sizes"), in), attrs);
  } else if (given(2)) {
    apply_scales(n, spread(n, scales_input(n, 2), std::vector<double>(in.size(), 1)), attrs);
  } else {
    n.invalid("neither scales nor sizes are given");
  }
  return resized(n, attrs);
}

}  // namespace

const std::vector<RuleRow>& resize_rules() {
  static const std::vector<RuleRow> rows = {{"Resize", resize, 10}, {"Upsample", upsample, 7, 9}};
  return rows;
}

}  // namespace korch::onnx
