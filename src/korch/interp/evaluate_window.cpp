#include <limits>

#include "korch/interp/evaluate.h"
#include "korch/interp/scalar_functions.h"
#include "korch/interp/window.h"

namespace korch {
namespace {

Shape spatial(const Shape& shape) {
  return Shape(shape.begin() + 2, shape.end());
}

WindowGeometry pool_geometry(const Evaluation& e) {
  const auto& attrs = e.attrs<PoolAttrs>();
  return {spatial(e.inputs[0].shape()),
          spatial(e.output_shape()),
          attrs.kernel,
          attrs.strides,
          attrs.dilations,
          attrs.pads_before};
}

// visit(output position, input position, plane, tap) for every tap that lies inside the input, over all
// planes of [N, C, ...].
template <typename Visit>
void for_each_tap(const Evaluation& e, Visit visit) {
  const WindowGeometry geometry = pool_geometry(e);
  const int64_t planes = e.inputs[0].shape()[0] * e.inputs[0].shape()[1];
  const int64_t in_plane = geometry.input_elements(), out_plane = geometry.output_elements();
  const int64_t step = geometry.strides.back();
  for (int64_t plane = 0; plane < planes; ++plane) {
    for (int64_t tap = 0; tap < geometry.taps(); ++tap) {
      geometry.for_each_run(tap, 0, geometry.output_rows(), [&](int64_t to, int64_t from, int64_t count) {
        for (int64_t i = 0; i < count; ++i)
          visit(plane * out_plane + to + i, plane * in_plane + from + i * step, plane, tap);
      });
    }
  }
}

template <typename W>
HostTensor window_max(const Evaluation& e, const HostTensor& wide) {
  HostTensor out(TensorType{wide.dtype(), e.output_shape()});
  using Limits = std::numeric_limits<W>;
  const W lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  std::fill_n(out.mutable_data<W>(), out.elements(), lowest);
  const W* x = wide.data<W>();
  W* y = out.mutable_data<W>();
  for_each_tap(
      e, [&](int64_t to, int64_t from, int64_t, int64_t) { y[to] = ScalarMath<W>::max(y[to], x[from]); });
  return out;
}

template <typename W>
HostTensor window_max_indices(const Evaluation& e, const HostTensor& wide) {
  HostTensor out(e.types[0]);
  const W* x = wide.data<W>();
  int64_t* chosen = out.mutable_data<int64_t>();
  std::fill_n(chosen, out.elements(), -1);
  for_each_tap(e, [&](int64_t to, int64_t from, int64_t, int64_t) {
    if (chosen[to] < 0 || x[from] > x[chosen[to]]) chosen[to] = from;
  });
  return out;
}

// Of each output position of one plane: how many taps lie inside the input, or inside the padded input.
std::vector<double> tap_counts(const Evaluation& e) {
  const auto& attrs = e.attrs<PoolAttrs>();
  WindowGeometry geometry = pool_geometry(e);
  if (attrs.count_include_pad) {
    for (size_t axis = 0; axis < geometry.input.size(); ++axis) {
      geometry.input[axis] += attrs.pads_before[axis] + attrs.pads_after[axis];
      geometry.pads_before[axis] = 0;
    }
  }
  std::vector<double> counts(geometry.output_elements(), 0);
  for (int64_t tap = 0; tap < geometry.taps(); ++tap)
    geometry.for_each_run(tap, 0, geometry.output_rows(), [&](int64_t to, int64_t, int64_t count) {
      for (int64_t i = 0; i < count; ++i) counts[to + i] += 1;
    });
  return counts;
}

}  // namespace

Results evaluate_window_sum(const Evaluation& e) {
  const HostTensor input = converted(e.inputs[0], DType::f64);
  HostTensor out = doubles(e.output_shape());
  const double* x = input.data<double>();
  double* y = out.mutable_data<double>();
  for_each_tap(e, [&](int64_t to, int64_t from, int64_t, int64_t) { y[to] += x[from]; });
  return {out};
}

Results evaluate_window_dot(const Evaluation& e) {
  const HostTensor input = converted(e.inputs[0], DType::f64), weights = converted(e.inputs[1], DType::f64);
  HostTensor out = doubles(e.output_shape());
  const int64_t channels = e.output_shape()[1];
  const double *x = input.data<double>(), *w = weights.data<double>();
  double* y = out.mutable_data<double>();
  for_each_tap(e, [&](int64_t to, int64_t from, int64_t plane, int64_t tap) {
    y[to] += x[from] * w[tap * channels + plane % channels];
  });
  return {out};
}

Results evaluate_window_max(const Evaluation& e) {
  const HostTensor wide = widened(e.inputs[0]);
  if (wide.dtype() == DType::f64) return {window_max<double>(e, wide)};
  if (wide.dtype() == DType::u64) return {window_max<uint64_t>(e, wide)};
  return {window_max<int64_t>(e, wide)};
}

Results evaluate_max_pool_indices(const Evaluation& e) {
  const HostTensor wide = widened(e.inputs[0]);
  if (wide.dtype() == DType::f64) return {window_max_indices<double>(e, wide)};
  if (wide.dtype() == DType::u64) return {window_max_indices<uint64_t>(e, wide)};
  return {window_max_indices<int64_t>(e, wide)};
}

Results evaluate_average_pool(const Evaluation& e) {
  HostTensor out = evaluate_window_sum(e)[0];
  const std::vector<double> counts = tap_counts(e);
  double* y = out.mutable_data<double>();
  for (int64_t i = 0; i < out.elements(); ++i) y[i] /= counts[i % counts.size()];
  return {out};
}

}  // namespace korch
