#include <algorithm>
#include <limits>

#include "korch/interp/evaluate.h"
#include "korch/interp/window.h"
#include "korch/ir/scalar_functions.h"

namespace korch {
namespace {

// The runs of one axis whose taps meet the input for any output. A window may be far larger than the data.
std::vector<std::pair<int64_t, TapRun>> tap_runs(const Coordinate& place, int64_t kernel, int64_t input,
                                                 int64_t output) {
  std::vector<std::pair<int64_t, TapRun>> runs;
  for (int64_t tap = 0; tap < kernel && tap * place.step + place.offset < input; ++tap)
    if (const TapRun run = tap_run(place, tap, input, output); run.count > 0) runs.emplace_back(tap, run);
  return runs;
}

IndexMaps maps_of(const Evaluation& e) {
  return index_maps(e.node.op, e.node.attrs, {e.inputs[0].type()}, e.output_shape());
}

// visit(output position, input position, plane, tap) for every tap that lies inside the input, over all
// planes of [N, C, ...]; of one output position in the order of the taps.
template <typename Visit>
class TapWalk {
 public:
  TapWalk(const Evaluation& e, Visit visit) : geometry_(maps_of(e)), visit_(visit), stop_(e.stop) {
    const auto& [input, output, kernel, places] = geometry_;
    for (size_t axis = 0; axis < input.size(); ++axis)
      runs_.push_back(tap_runs(places[axis], kernel[axis], input[axis], output[axis]));
  }

  void plane(int64_t number) {
    plane_ = number;
    walk(0, number, number, 0);
  }

 private:
  void walk(size_t axis, int64_t to, int64_t from, int64_t tap) {
    const int64_t stride = geometry_.places[axis].scale;
    for (const auto& [number, run] : runs_[axis]) {
      const int64_t at = tap * geometry_.kernel[axis] + number;
      const int64_t first_to = to * geometry_.output[axis] + run.first,
                    first_from = from * geometry_.input[axis] + run.from;
      if (axis + 1 == runs_.size()) {
        stop_.after(run.count);
        for (int64_t i = 0; i < run.count; ++i) visit_(first_to + i, first_from + i * stride, plane_, at);
      } else {
        for (int64_t i = 0; i < run.count; ++i) walk(axis + 1, first_to + i, first_from + i * stride, at);
      }
    }
  }

  const WindowGeometry geometry_;
  Visit visit_;
  StopCheck& stop_;
  std::vector<std::vector<std::pair<int64_t, TapRun>>> runs_;  // per axis, with the tap's number
  int64_t plane_ = 0;
};

template <typename Visit>
void for_each_tap(const Evaluation& e, Visit visit) {
  element_count(e.attrs<PoolAttrs>().kernel);  // throws where a tap's number would overflow
  TapWalk<Visit> taps(e, visit);
  const int64_t planes = e.inputs[0].shape()[0] * e.inputs[0].shape()[1];
  for (int64_t plane = 0; plane < planes; ++plane) taps.plane(plane);
}

// Of the elements under each window, in the wide type, from `start(W{})` on: combine(held, value).
template <typename Start, typename Combine>
Results pooled(const Evaluation& e, Start start, Combine combine) {
  const HostTensor wide = widened(e.inputs[0]);
  return {with_wide_type(wide.dtype(), [&](auto zero) {
    using W = decltype(zero);
    HostTensor out(TensorType{wide.dtype(), e.output_shape()});
    const W* x = wide.data<W>();
    W* y = out.mutable_data<W>();
    std::fill_n(y, out.elements(), start(zero));
    for_each_tap(e, [&](int64_t to, int64_t from, int64_t, int64_t) { y[to] = combine(y[to], x[from]); });
    return out;
  })};
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
  const WindowGeometry geometry(maps_of(e));
  std::vector<double> counts = {1};
  for (size_t axis = 0; axis < geometry.kernel.size(); ++axis) {
    Coordinate place = geometry.places[axis];
    int64_t input = geometry.input[axis];
    if (attrs.count_include_pad) place.offset = 0, input += attrs.pads_before[axis] + attrs.pads_after[axis];
    std::vector<double> product;
    for (double outer : counts)
      for (int64_t count : taps_inside(place, geometry.kernel[axis], input, geometry.output[axis]))
        product.push_back(outer * static_cast<double>(count));
    counts = std::move(product);
  }
  return counts;
}

}  // namespace

Results evaluate_window_sum(const Evaluation& e) {
  return pooled(
      e, [](auto zero) { return zero; }, [](auto a, auto b) { return ScalarMath<decltype(a)>::add(a, b); });
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
  const auto lowest = [](auto zero) {
    using Limits = std::numeric_limits<decltype(zero)>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  };
  return pooled(e, lowest, [](auto a, auto b) { return ScalarMath<decltype(a)>::max(a, b); });
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
