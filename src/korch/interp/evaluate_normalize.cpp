// Normalizations, in double and in two passes (the mean first), so that a large mean costs no accuracy.
#include <algorithm>
#include <cmath>

#include "korch/interp/evaluate.h"

namespace korch {
namespace {

struct Moments {
  double mean, variance;
};

Moments moments(const double* x, int64_t count) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) sum += x[i];
  const double mean = sum / static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {mean, squares / static_cast<double>(count)};
}

// Normalizes consecutive rows of `count` elements.
HostTensor normalized_rows(const HostTensor& input, int64_t count, double epsilon, StopCheck& stop) {
  const HostTensor x = converted(input, DType::f64);
  HostTensor out = doubles(input.shape());
  for (int64_t row = 0; row < out.elements(); row += count) {
    stop.after(count);
    const double* from = x.data<double>() + row;
    double* to = out.mutable_data<double>() + row;
    const auto [mean, variance] = moments(from, count);
    const double scale = 1 / std::sqrt(variance + epsilon);
    for (int64_t i = 0; i < count; ++i) to[i] = (from[i] - mean) * scale;
  }
  return out;
}

// y = y * scale[c] + bias[c] over [N, C, ...]; the parameters have one element per channel or per group of
// channels.
void scale_channels(HostTensor& y, const HostTensor& scale, const HostTensor& bias) {
  const int64_t channels = y.shape()[1];
  const int64_t plane = element_count(Shape(y.shape().begin() + 2, y.shape().end()));
  const int64_t per_parameter = channels / std::max<int64_t>(1, scale.elements());
  for (int64_t i = 0; i < y.shape()[0] * channels; ++i) {
    const int64_t parameter = i % channels / per_parameter;
    const double a = element_as_double(scale, parameter), b = element_as_double(bias, parameter);
    double* values = y.mutable_data<double>() + i * plane;
    for (int64_t k = 0; k < plane; ++k) values[k] = values[k] * a + b;
  }
}

}  // namespace

Results evaluate_layer_normalization(const Evaluation& e) {
  const auto& attrs = e.attrs<NormAttrs>();
  const Shape& shape = e.inputs[0].shape();
  const Shape normalized(shape.begin() + attrs.axis, shape.end());
  const int64_t count = element_count(normalized);
  HostTensor out = normalized_rows(e.inputs[0], count, attrs.epsilon, e.stop);
  const HostTensor scale = broadcast_to(converted(e.inputs[1], DType::f64), normalized, e.stop);
  const HostTensor bias = e.inputs.size() > 2
                              ? broadcast_to(converted(e.inputs[2], DType::f64), normalized, e.stop)
                              : doubles(normalized);
  double* y = out.mutable_data<double>();
  for (int64_t row = 0; row < out.elements(); row += count)
    for (int64_t i = 0; i < count; ++i)
      y[row + i] = y[row + i] * scale.data<double>()[i] + bias.data<double>()[i];
  return {out};
}

Results evaluate_instance_normalization(const Evaluation& e) {
  const Shape& shape = e.inputs[0].shape();
  const int64_t plane = element_count(Shape(shape.begin() + 2, shape.end()));
  HostTensor out = normalized_rows(e.inputs[0], plane, e.attrs<NormAttrs>().epsilon, e.stop);
  scale_channels(out, e.inputs[1], e.inputs[2]);
  return {out};
}

Results evaluate_group_normalization(const Evaluation& e) {
  const auto& attrs = e.attrs<NormAttrs>();
  const Shape& shape = e.inputs[0].shape();
  const int64_t group = element_count(Shape(shape.begin() + 1, shape.end())) / attrs.groups;
  HostTensor out = normalized_rows(e.inputs[0], group, attrs.epsilon, e.stop);
  scale_channels(out, e.inputs[1], e.inputs[2]);
  return {out};
}

Results evaluate_batch_normalization(const Evaluation& e) {
  const Shape& shape = e.inputs[0].shape();
  const int64_t channels = shape[1];
  const int64_t plane = element_count(Shape(shape.begin() + 2, shape.end()));
  const HostTensor x = converted(e.inputs[0], DType::f64);
  HostTensor out = doubles(shape);
  for (int64_t i = 0; i < shape[0] * channels; ++i) {
    const int64_t c = i % channels;
    const double mean = element_as_double(e.inputs[3], c), variance = element_as_double(e.inputs[4], c);
    const double scale =
        element_as_double(e.inputs[1], c) / std::sqrt(variance + e.attrs<NormAttrs>().epsilon);
    const double bias = element_as_double(e.inputs[2], c);
    e.stop.after(plane);
    const double* from = x.data<double>() + i * plane;
    double* to = out.mutable_data<double>() + i * plane;
    for (int64_t k = 0; k < plane; ++k) to[k] = (from[k] - mean) * scale + bias;
  }
  return {out};
}

Results evaluate_lp_normalization(const Evaluation& e) {
  const auto& attrs = e.attrs<NormAttrs>();  // groups: p
  const Shape& shape = e.inputs[0].shape();
  const int64_t extent = shape[attrs.axis];
  const int64_t lanes = element_count(Shape(shape.begin() + attrs.axis + 1, shape.end()));
  const HostTensor input = converted(e.inputs[0], DType::f64);
  HostTensor out = doubles(shape);
  const int64_t rows = extent == 0 ? 0 : out.elements() / extent;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = row / lanes * extent * lanes + row % lanes;
    e.stop.after(extent);
    const double* x = input.data<double>() + first;
    double norm = 0;
    for (int64_t i = 0; i < extent; ++i)
      norm += attrs.groups == 1 ? std::fabs(x[i * lanes]) : x[i * lanes] * x[i * lanes];
    if (attrs.groups == 2) norm = std::sqrt(norm);
    if (norm == 0) norm = 1;  // ONNX defines the result of a zero norm as zero, and all elements are
    for (int64_t i = 0; i < extent; ++i) out.mutable_data<double>()[first + i * lanes] = x[i * lanes] / norm;
  }
  return {out};
}

Results evaluate_lrn(const Evaluation& e) {
  const auto& attrs = e.attrs<LrnAttrs>();
  const Shape& shape = e.inputs[0].shape();
  const int64_t channels = shape[1];
  const int64_t plane = element_count(Shape(shape.begin() + 2, shape.end()));
  const HostTensor input = converted(e.inputs[0], DType::f64);
  HostTensor out = doubles(shape);
  std::vector<double> squares(plane);
  for (int64_t i = 0; i < shape[0] * channels; ++i) {
    const int64_t c = i % channels;
    const double* image = input.data<double>() + (i - c) * plane;
    std::fill(squares.begin(), squares.end(), 0);
    const int64_t first = std::max<int64_t>(0, c - (attrs.size - 1) / 2);
    const int64_t last = std::min(channels - 1, c + attrs.size / 2);
    e.stop.after((last + 1 - first) * plane);
    for (int64_t k = first * plane; k < (last + 1) * plane; ++k) squares[k % plane] += image[k] * image[k];
    double* y = out.mutable_data<double>() + i * plane;
    const double alpha = attrs.alpha / static_cast<double>(attrs.size);
    for (int64_t p = 0; p < plane; ++p)
      y[p] = image[c * plane + p] / std::pow(attrs.bias + alpha * squares[p], attrs.beta);
  }
  return {out};
}

}  // namespace korch
