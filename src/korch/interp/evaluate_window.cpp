#include <algorithm>
#include <limits>

#include "korch/interp/evaluate.h"
#include "korch/ir/scalar_functions.h"

namespace korch {
namespace {

Shape window_axes(const Shape& shape) {
  return Shape(shape.begin() + 2, shape.end());
}

// One tap of a window along one axis: the outputs output, output + 1, ... (`count`) find the inputs input,
// input + stride, ... under it.
struct TapRun {
  int64_t tap, output, input, count;
};

// The taps that meet the input for any output. A window may be far larger than the data.
std::vector<TapRun> tap_runs(const PoolAttrs& attrs, size_t axis, int64_t before, int64_t input,
                             int64_t output) {
  const int64_t stride = attrs.strides[axis];
  std::vector<TapRun> runs;
  for (int64_t tap = 0; tap < attrs.kernel[axis]; ++tap) {
    const int64_t shift = tap * attrs.dilations[axis] - before;
    const int64_t room = input - shift;
    if (room <= 0) break;
    const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    const int64_t end = std::min(output, (room + stride - 1) / stride);
    if (first < end) runs.push_back({tap, first, first * stride + shift, end - first});
  }
  return runs;
}

// visit(output position, input position, plane, tap) for every tap that lies inside the input, over all
// planes of [N, C, ...]; of one output position in the order of the taps.
template <typename Visit>
class TapWalk {
 public:
  TapWalk(const Evaluation& e, Visit visit)
      : attrs_(e.attrs<PoolAttrs>()),
        input_(window_axes(e.inputs[0].shape())),
        output_(window_axes(e.output_shape())),
        visit_(visit),
        stop_(e.stop) {
    for (size_t axis = 0; axis < input_.size(); ++axis)
      runs_.push_back(tap_runs(attrs_, axis, attrs_.pads_before[axis], input_[axis], output_[axis]));
  }

  void plane(int64_t number) {
    plane_ = number;
    walk(0, number, number, 0);
  }

 private:
  void walk(size_t axis, int64_t to, int64_t from, int64_t tap) {
    const int64_t stride = attrs_.strides[axis];
    for (const TapRun& run : runs_[axis]) {
      const int64_t at = tap * attrs_.kernel[axis] + run.tap;
      const int64_t first_to = to * output_[axis] + run.output, first_from = from * input_[axis] + run.input;
      if (axis + 1 == runs_.size()) {
        stop_.after(run.count);
        for (int64_t i = 0; i < run.count; ++i) visit_(first_to + i, first_from + i * stride, plane_, at);
      } else {
        for (int64_t i = 0; i < run.count; ++i) walk(axis + 1, first_to + i, first_from + i * stride, at);
      }
    }
  }

  const PoolAttrs& attrs_;
  const Shape input_, output_;
  Visit visit_;
  StopCheck& stop_;
  std::vector<std::vector<TapRun>> runs_;
  int64_t plane_ = 0;
};

template <typename Visit>
void for_each_tap(const Evaluation& e, Visit visit) {
  element_count(e.attrs<PoolAttrs>().kernel);  // throws where a tap's number would overflow
  TapWalk<Visit> taps(e, visit);
  const int64_t planes = e.inputs[0].shape()[0] * e.inputs[0].shape()[1];
  for (int64_t plane = 0; plane < planes; ++plane) taps.plane(plane);
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
  const Shape input = window_axes(e.inputs[0].shape()), output = window_axes(e.output_shape());
  std::vector<double> counts = {1};
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const int64_t before = attrs.count_include_pad ? 0 : attrs.pads_before[axis];
    const int64_t padding = attrs.count_include_pad ? attrs.pads_before[axis] + attrs.pads_after[axis] : 0;
    std::vector<double> along(output[axis], 0), product;
    for (const TapRun& run : tap_runs(attrs, axis, before, input[axis] + padding, output[axis]))
      for (int64_t i = 0; i < run.count; ++i) along[run.output + i] += 1;
    for (double outer : counts)
      for (double count : along) product.push_back(outer * count);
    counts = std::move(product);
  }
  return counts;
}

}  // namespace

Results evaluate_window_sum(const Evaluation& e) {
  const HostTensor wide = widened(e.inputs[0]);
  return {with_wide_type(wide.dtype(), [&](auto zero) {
    using W = decltype(zero);
    HostTensor out(TensorType{wide.dtype(), e.output_shape()});
    const W* x = wide.data<W>();
    W* y = out.mutable_data<W>();
    for_each_tap(
        e, [&](int64_t to, int64_t from, int64_t, int64_t) { y[to] = ScalarMath<W>::add(y[to], x[from]); });
    return out;
  })};
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
  return {with_wide_type(wide.dtype(), [&](auto zero) { return window_max<decltype(zero)>(e, wide); })};
}

Results evaluate_max_pool_indices(const Evaluation& e) {
  const HostTensor wide = widened(e.inputs[0]);
  return {
      with_wide_type(wide.dtype(), [&](auto zero) { return window_max_indices<decltype(zero)>(e, wide); })};
}

Results evaluate_average_pool(const Evaluation& e) {
  HostTensor out = evaluate_window_sum(e)[0];
  const std::vector<double> counts = tap_counts(e);
  double* y = out.mutable_data<double>();
  for (int64_t i = 0; i < out.elements(); ++i) y[i] /= counts[i % counts.size()];
  return {out};
}

}  // namespace korch
