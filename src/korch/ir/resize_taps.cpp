#include "korch/ir/resize_taps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace korch {
namespace {

// ONNX's cases align the corners of the unrounded length where the scale leaves a fraction; a scale that was
// computed from an extent gives back that extent.
double resized_length(double scale, int64_t in, int64_t out) {
  constexpr double kScaleRounding = 1e-6;  // scales are float32 or quotients
  const double length = scale * static_cast<double>(in);
  return std::abs(length - static_cast<double>(out)) < kScaleRounding ? static_cast<double>(out) : length;
}

int64_t clamped(double position, int64_t extent) {
  return static_cast<int64_t>(std::clamp(position, 0.0, static_cast<double>(extent - 1)));
}

// At floor(x) + first ... floor(x) + last; positions outside are clamped, or excluded and the rest
// renormalized.
void add_position(const ResizeAttrs& attrs, int64_t in, double x, std::vector<ResizeTap>& taps) {
  const bool cubic = attrs.mode == "cubic";
  const int first = cubic ? -1 : 0, last = cubic ? 2 : 1;
  std::array<double, 4> weights{};
  double total = 0;
  for (int k = first; k <= last; ++k) {
    const double position = std::floor(x) + k;
    const bool outside = position < 0 || position > static_cast<double>(in - 1);
    double& weight = weights[static_cast<size_t>(k - first)];
    weight = resize_weight(attrs, x - position);
    if (attrs.exclude_outside && outside) weight = 0;
    total += weight;
  }
  for (int k = first; k <= last; ++k) {
    const double weight = weights[static_cast<size_t>(k - first)];
    taps[static_cast<size_t>(k - first)].index.push_back(clamped(std::floor(x) + k, in));
    taps[static_cast<size_t>(k - first)].weight.push_back(attrs.exclude_outside ? weight / total : weight);
  }
}

}  // namespace

double resize_source(const ResizeAttrs& attrs, size_t axis, int64_t in, double at) {
  const std::string& mode = attrs.coordinate_mode;
  const double from = static_cast<double>(in), to = static_cast<double>(attrs.sizes[axis]),
               scale = attrs.scales[axis];
  if (mode == "asymmetric") return at / scale;
  if (mode == "tf_half_pixel_for_nn") return (at + 0.5) / scale;
  if (mode == "align_corners")
    return to == 1 ? 0 : at * (from - 1) / (resized_length(scale, in, attrs.sizes[axis]) - 1);
  if (mode == "pytorch_half_pixel" && to == 1) return 0;
  const double half_pixel = (at + 0.5) / scale - 0.5;
  return mode == "half_pixel_symmetric" ? half_pixel + from / 2 * (1 - to / (scale * from)) : half_pixel;
}

int64_t resize_nearest(const ResizeAttrs& attrs, int64_t in, double source) {
  const std::string& mode = attrs.nearest_mode;
  if (mode == "round_prefer_floor") return clamped(std::ceil(source - 0.5), in);
  if (mode == "round_prefer_ceil") return clamped(std::floor(source + 0.5), in);
  return clamped(mode == "floor" ? std::floor(source) : std::ceil(source), in);
}

// Cubic: Keys, Cubic convolution interpolation for digital image processing.
double resize_weight(const ResizeAttrs& attrs, double distance) {
  const double t = std::abs(distance), a = attrs.cubic_coeff_a;
  if (attrs.mode == "linear") return std::max(1 - t, 0.0);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

std::vector<ResizeTap> resize_taps(const ResizeAttrs& attrs, size_t axis, int64_t in) {
  std::vector<ResizeTap> taps(attrs.mode == "nearest" ? 1 : attrs.mode == "cubic" ? 4 : 2);
  for (int64_t at = 0; at < attrs.sizes[axis]; ++at) {
    const double source = resize_source(attrs, axis, in, static_cast<double>(at));
    if (attrs.mode != "nearest") {
      add_position(attrs, in, source, taps);
      continue;
    }
    taps[0].index.push_back(resize_nearest(attrs, in, source));
    taps[0].weight.push_back(1);
  }
  return taps;
}

std::string unknown_resize_attribute(const ResizeAttrs& attrs) {
  static const std::set<std::string> modes = {"nearest", "linear", "cubic"},
                                     coordinates = {"half_pixel",           "pytorch_half_pixel",
                                                    "asymmetric",           "align_corners",
                                                    "half_pixel_symmetric", "tf_half_pixel_for_nn"},
                                     nearest = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  if (!modes.contains(attrs.mode)) return "mode '" + attrs.mode + "'";
  if (!coordinates.contains(attrs.coordinate_mode)) return "coordinate mode '" + attrs.coordinate_mode + "'";
  if (!nearest.contains(attrs.nearest_mode)) return "nearest mode '" + attrs.nearest_mode + "'";
  return "";
}

}  // namespace korch
