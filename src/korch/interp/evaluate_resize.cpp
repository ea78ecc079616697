// Resize, axis after axis: every mode is a weighted sum of a few source positions per axis.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "korch/interp/evaluate.h"
#include "korch/interp/index_tables.h"

namespace korch {
namespace {

// The length that an axis is resized to. ONNX's own cases have it fractional where the scale leaves a
// fraction, although the tensor's extent is then rounded down; a scale that was computed from an extent must
// give back that extent.
double resized_length(double scale, int64_t input, int64_t output) {
  constexpr double kScaleRounding = 1e-6;  // scales are float32 or quotients
  const double length = scale * static_cast<double>(input);
  return std::fabs(length - static_cast<double>(output)) < kScaleRounding ? static_cast<double>(output)
                                                                          : length;
}

// Where output position i of an axis lies in the input, in input positions (ONNX Resize-13 and -18).
double source_coordinate(const ResizeAttrs& attrs, double i, double scale, int64_t input, int64_t output) {
  const std::string& mode = attrs.coordinate_mode;
  const auto in = static_cast<double>(input), out = static_cast<double>(output);
  if (mode == "half_pixel") return (i + 0.5) / scale - 0.5;
  if (mode == "pytorch_half_pixel") return output > 1 ? (i + 0.5) / scale - 0.5 : 0;
  if (mode == "align_corners")
    return output > 1 ? i * (in - 1) / (resized_length(scale, input, output) - 1) : 0;
  if (mode == "asymmetric") return i / scale;
  if (mode == "tf_half_pixel_for_nn") return (i + 0.5) / scale;
  if (mode == "half_pixel_symmetric") return in / 2 * (1 - out / (scale * in)) + (i + 0.5) / scale - 0.5;
  throw Error(ErrorKind::unsupported, fmt::format("Resize coordinate mode '{}' is not supported", mode));
}

double nearest(const std::string& mode, double x) {
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  throw Error(ErrorKind::unsupported, fmt::format("Resize nearest mode '{}' is not supported", mode));
}

// Weights of the source positions floor(x) + first, floor(x) + first + 1, ...
struct Weights {
  int64_t first;
  std::vector<double> weights;
};

Weights interpolation_weights(const ResizeAttrs& attrs, double x) {
  const double t = x - std::floor(x);
  if (attrs.mode == "linear") return {0, {1 - t, t}};
  if (attrs.mode != "cubic")
    throw Error(ErrorKind::unsupported, fmt::format("Resize mode '{}' is not supported", attrs.mode));
  const double a = attrs.cubic_coeff_a;  // Keys, Cubic convolution interpolation for digital image processing
  const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {-1, {far(1 + t), near(t), near(1 - t), far(2 - t)}};
}

// For each output position of an axis the source positions, already clamped, and their weights.
struct AxisTaps {
  size_t taps;
  std::vector<int64_t> positions;
  std::vector<double> weights;
};

AxisTaps axis_taps(const ResizeAttrs& attrs, double scale, int64_t input, int64_t output) {
  AxisTaps result{0, {}, {}};
  for (int64_t i = 0; i < output; ++i) {
    const double x = source_coordinate(attrs, static_cast<double>(i), scale, input, output);
    Weights w = interpolation_weights(attrs, x);
    const int64_t base = static_cast<int64_t>(std::floor(x)) + w.first;
    result.taps = w.weights.size();
    double total = 0;
    for (size_t k = 0; k < result.taps; ++k) {
      const int64_t position = base + static_cast<int64_t>(k);
      if (attrs.exclude_outside && (position < 0 || position >= input)) w.weights[k] = 0;
      total += w.weights[k];
      result.positions.push_back(std::clamp<int64_t>(position, 0, input - 1));
    }
    for (double weight : w.weights) result.weights.push_back(attrs.exclude_outside ? weight / total : weight);
  }
  return result;
}

HostTensor resized_axis(const HostTensor& x, size_t axis, int64_t extent, const AxisTaps& taps,
                        StopCheck& stop) {
  Shape shape = x.shape();
  const int64_t inner = element_count(Shape(shape.begin() + axis + 1, shape.end()));
  const int64_t outer = element_count(Shape(shape.begin(), shape.begin() + axis));
  const int64_t input = shape[axis];
  shape[axis] = extent;
  HostTensor out = doubles(shape);
  for (int64_t row = 0; row < outer * extent; ++row) {
    const size_t first = row % extent * taps.taps;
    double* to = out.mutable_data<double>() + row * inner;
    for (size_t k = first; k < first + taps.taps; ++k) {
      stop.after(inner);
      const double* from = x.data<double>() + (row / extent * input + taps.positions[k]) * inner;
      for (int64_t i = 0; i < inner; ++i) to[i] += taps.weights[k] * from[i];
    }
  }
  return out;
}

HostTensor resized_to_nearest(const HostTensor& input, const ResizeAttrs& attrs, StopCheck& stop) {
  const Shape& from = input.shape();
  const Shape strides = row_major_strides(from);
  IndexTables tables(from.size());
  for (size_t axis = 0; axis < from.size(); ++axis) {
    const bool unchanged = from[axis] == attrs.sizes[axis] && attrs.scales[axis] == 1;
    for (int64_t i = 0; i < attrs.sizes[axis]; ++i) {
      const double x =
          source_coordinate(attrs, static_cast<double>(i), attrs.scales[axis], from[axis], attrs.sizes[axis]);
      const auto position = static_cast<int64_t>(nearest(attrs.nearest_mode, x));
      tables[axis].push_back((unchanged ? i : std::clamp<int64_t>(position, 0, from[axis] - 1)) *
                             strides[axis]);
    }
  }
  return read_through(input, tables, stop);
}

}  // namespace

Results evaluate_resize(const Evaluation& e) {
  const auto& attrs = e.attrs<ResizeAttrs>();
  if (e.inputs[0].elements() == 0) {
    if (element_count(attrs.sizes) != 0)
      throw Error(ErrorKind::invalid, "an empty tensor has nothing to resize");
    return {HostTensor(TensorType{e.inputs[0].dtype(), attrs.sizes})};
  }
  if (attrs.mode == "nearest") return {resized_to_nearest(e.inputs[0], attrs, e.stop)};
  HostTensor x = converted(e.inputs[0], DType::f64);
  for (size_t axis = 0; axis < attrs.sizes.size(); ++axis) {
    const int64_t input = x.shape()[axis];
    if (input == attrs.sizes[axis] && attrs.scales[axis] == 1) continue;
    x = resized_axis(x, axis, attrs.sizes[axis],
                     axis_taps(attrs, attrs.scales[axis], input, attrs.sizes[axis]), e.stop);
  }
  return {x};
}

}  // namespace korch
