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

// Of each position of the result, in positions of the operand (ONNX Resize-13 and -18).
std::vector<double> source_coordinates(const ResizeAttrs& attrs, size_t axis, int64_t extent) {
  const std::string& mode = attrs.coordinate_mode;
  const double in = static_cast<double>(extent), out = static_cast<double>(attrs.sizes[axis]),
               scale = attrs.scales[axis];
  std::vector<double> result;
  for (double o = 0; o < out; ++o) {
    double x = (o + 0.5) / scale - 0.5;  // half_pixel
    if (mode == "asymmetric") {
      x = o / scale;
    } else if (mode == "tf_half_pixel_for_nn") {
      x = (o + 0.5) / scale;
    } else if (mode == "align_corners") {
      x = out == 1 ? 0 : o * (in - 1) / (resized_length(scale, extent, attrs.sizes[axis]) - 1);
    } else if (mode == "pytorch_half_pixel" && out == 1) {
      x = 0;
    } else if (mode == "half_pixel_symmetric") {
      x += in / 2 * (1 - out / (scale * in));
    }
    result.push_back(x);
  }
  return result;
}

double rounded(const std::string& nearest_mode, double x) {
  if (nearest_mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (nearest_mode == "round_prefer_ceil") return std::floor(x + 0.5);
  return nearest_mode == "floor" ? std::floor(x) : std::ceil(x);
}

int64_t clamped(double position, int64_t extent) {
  return static_cast<int64_t>(std::clamp(position, 0.0, static_cast<double>(extent - 1)));
}

// Keys, Cubic convolution interpolation for digital image processing.
double cubic_weight(double a, double distance) {
  const double t = std::abs(distance);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
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
    weight = cubic ? cubic_weight(attrs.cubic_coeff_a, x - position) : 1 - std::abs(x - position);
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

std::vector<ResizeTap> resize_taps(const ResizeAttrs& attrs, size_t axis, int64_t in) {
  std::vector<ResizeTap> taps(attrs.mode == "nearest" ? 1 : attrs.mode == "cubic" ? 4 : 2);
  for (double x : source_coordinates(attrs, axis, in)) {
    if (attrs.mode != "nearest") {
      add_position(attrs, in, x, taps);
      continue;
    }
    taps[0].index.push_back(clamped(rounded(attrs.nearest_mode, x), in));
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
