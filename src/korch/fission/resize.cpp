// Resize, axis by axis. Every mode is a weighted sum of taps: a tap reads, for each output position of the
// axis, one input position. Nearest has one tap of weight 1, linear two, cubic four.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "korch/fission/rules.h"

namespace korch::rules {
namespace {

struct Tap {
  std::vector<int64_t> index;  // input position per output position
  std::vector<double> weight;
};

struct ResizedAxis {
  int64_t axis, in, out;
  double scale;
};

// ONNX's cases align the corners of the unrounded length where the scale leaves a fraction; a scale that was
// computed from an extent gives back that extent.
double resized_length(const ResizedAxis& a) {
  constexpr double kScaleRounding = 1e-6;  // scales are float32 or quotients
  const double length = a.scale * static_cast<double>(a.in);
  return std::abs(length - static_cast<double>(a.out)) < kScaleRounding ? static_cast<double>(a.out) : length;
}

std::vector<double> source_coordinates(const std::string& mode, const ResizedAxis& a) {
  const double in = static_cast<double>(a.in), out = static_cast<double>(a.out);
  std::vector<double> result;
  for (double o = 0; o < out; ++o) {
    double x = (o + 0.5) / a.scale - 0.5;  // half_pixel
    if (mode == "asymmetric") {
      x = o / a.scale;
    } else if (mode == "tf_half_pixel_for_nn") {
      x = (o + 0.5) / a.scale;
    } else if (mode == "align_corners") {
      x = a.out == 1 ? 0 : o * (in - 1) / (resized_length(a) - 1);
    } else if (mode == "pytorch_half_pixel" && a.out == 1) {
      x = 0;
    } else if (mode == "half_pixel_symmetric") {
      x += in / 2 * (1 - out / (a.scale * in));
    }
    result.push_back(x);
  }
  return result;
}

bool knows_coordinates(const std::string& mode) {
  static const std::set<std::string> known = {"half_pixel",           "pytorch_half_pixel",
                                              "asymmetric",           "align_corners",
                                              "half_pixel_symmetric", "tf_half_pixel_for_nn"};
  return known.contains(mode);
}

double rounded(const std::string& nearest_mode, double x) {
  if (nearest_mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (nearest_mode == "round_prefer_ceil") return std::floor(x + 0.5);
  return nearest_mode == "floor" ? std::floor(x) : std::ceil(x);
}

int64_t clamped(double position, int64_t extent) {
  return static_cast<int64_t>(std::clamp(position, 0.0, static_cast<double>(extent - 1)));
}

std::vector<int64_t> nearest_index(const ResizeAttrs& attrs, const ResizedAxis& a) {
  std::vector<int64_t> index;
  for (double x : source_coordinates(attrs.coordinate_mode, a)) {
    index.push_back(clamped(rounded(attrs.nearest_mode, x), a.in));
  }
  return index;
}

double cubic_weight(double a, double distance) {
  const double t = std::abs(distance);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

// Taps at floor(x) + first ... floor(x) + last; positions outside are clamped, or excluded and the rest
// renormalized.
std::vector<Tap> interpolation_taps(const ResizeAttrs& attrs, const ResizedAxis& a) {
  const bool cubic = attrs.mode == "cubic";
  const int first = cubic ? -1 : 0, last = cubic ? 2 : 1;
  std::vector<Tap> taps(static_cast<size_t>(last - first + 1));
  for (double x : source_coordinates(attrs.coordinate_mode, a)) {
    std::array<double, 4> weights{};
    double total = 0;
    for (int k = first; k <= last; ++k) {
      const double position = std::floor(x) + k;
      const bool outside = position < 0 || position > static_cast<double>(a.in - 1);
      double& weight = weights[static_cast<size_t>(k - first)];
      weight = cubic ? cubic_weight(attrs.cubic_coeff_a, x - position) : 1 - std::abs(x - position);
      if (attrs.exclude_outside && outside) weight = 0;
      total += weight;
    }
    for (int k = first; k <= last; ++k) {
      Tap& tap = taps[static_cast<size_t>(k - first)];
      const double weight = weights[static_cast<size_t>(k - first)];
      tap.index.push_back(clamped(std::floor(x) + k, a.in));
      tap.weight.push_back(attrs.exclude_outside ? weight / total : weight);
    }
  }
  return taps;
}

bool all_equal(const std::vector<double>& weights, double value) {
  return std::all_of(weights.begin(), weights.end(), [&](double w) { return w == value; });
}

// The step between successive positions when it is constant and not 0, else 0.
int64_t constant_step(const std::vector<int64_t>& index) {
  if (index.size() < 2) return 1;
  for (size_t i = 2; i < index.size(); ++i) {
    if (index[i] - index[i - 1] != index[1] - index[0]) return 0;
  }
  return index[1] - index[0];
}

// Reads the given positions of one axis: nothing, a strided slice or a gather.
ValueId read_positions(Emitter& e, ValueId x, int64_t axis, const std::vector<int64_t>& index) {
  const Shape shape = e.shape(x);
  const size_t a = static_cast<size_t>(axis);
  const int64_t step = constant_step(index);
  if (step == 0)
    return e.emit(Op::Gather, AxisAttrs{axis},
                  {x, e.int_constant({static_cast<int64_t>(index.size())}, index)});
  SliceAttrs slice{Shape(shape.size(), 0), shape, Shape(shape.size(), 1)};
  slice.starts[a] = index[0];
  slice.sizes[a] = static_cast<int64_t>(index.size());
  slice.steps[a] = step;
  const bool whole = slice.sizes == shape && slice.starts[a] == 0 && step == 1;
  return whole ? x : e.emit(Op::Slice, slice, {x});
}

bool repeats_each(const std::vector<int64_t>& index, int64_t in) {
  const int64_t out = static_cast<int64_t>(index.size());
  if (in == 0 || out % in != 0) return false;
  for (int64_t o = 0; o < out; ++o) {
    if (index[static_cast<size_t>(o)] != o / (out / in)) return false;
  }
  return true;
}

ValueId nearest(Emitter& e, const ResizeAttrs& attrs, const std::vector<ResizedAxis>& axes, ValueId x) {
  std::vector<int64_t> repeat(e.shape(x).size(), 1);
  for (const ResizedAxis& a : axes) {
    const std::vector<int64_t> index = nearest_index(attrs, a);
    if (repeats_each(index, a.in)) {
      repeat[static_cast<size_t>(a.axis)] = a.out / a.in;
    } else {
      x = read_positions(e, x, a.axis, index);
    }
  }
  // Whole repetitions, all axes at once: [n] -> [n, 1] -> [n, k] -> [n * k]; then the index map is h / k.
  const Shape shape = e.shape(x);
  Shape split, expanded, result;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    split.push_back(shape[axis]);
    expanded.push_back(shape[axis]);
    if (repeat[axis] != 1) {
      split.push_back(1);
      expanded.push_back(repeat[axis]);
    }
    result.push_back(shape[axis] * repeat[axis]);
  }
  return e.reshape(e.expand(e.reshape(x, split), expanded), result);
}

ValueId interpolate_axis(Emitter& e, const ResizeAttrs& attrs, const ResizedAxis& a, ValueId x) {
  const int64_t rank = e.rank(x);
  ValueId total = kNoId;
  for (const Tap& tap : interpolation_taps(attrs, a)) {
    if (all_equal(tap.weight, 0)) continue;
    ValueId term = read_positions(e, x, a.axis, tap.index);
    if (!all_equal(tap.weight, 1)) {
      term = e.mul(term, e.along_axis(e.constant_like(term, {a.out}, tap.weight), a.axis, rank));
    }
    total = total == kNoId ? term : e.add(total, term);
  }
  return total;
}

}  // namespace

ValueId resize(Emitter& e, const Node& node, const Inputs& in) {
  const ResizeAttrs& attrs = std::get<ResizeAttrs>(node.attrs);
  const Shape shape = e.shape(in[0]);
  if (!knows_coordinates(attrs.coordinate_mode))
    e.refuse("coordinate mode '" + attrs.coordinate_mode + "'", in);
  std::vector<ResizedAxis> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (attrs.sizes[i] == shape[i] && attrs.scales[i] == 1) continue;
    axes.push_back({static_cast<int64_t>(i), shape[i], attrs.sizes[i], attrs.scales[i]});
  }
  if (attrs.mode == "nearest") return nearest(e, attrs, axes, in[0]);
  if (attrs.mode != "linear" && attrs.mode != "cubic") e.refuse("mode '" + attrs.mode + "'", in);
  if (!is_float(e.dtype(in[0]))) e.refuse("interpolation of integers", in);
  ValueId x = in[0];
  for (const ResizedAxis& a : axes) x = interpolate_axis(e, attrs, a, x);
  return x;
}

}  // namespace korch::rules
