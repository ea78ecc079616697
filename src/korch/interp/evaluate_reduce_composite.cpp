// Reductions that are compositions, and normalization over arbitrary axes: floats in double, integers
// exactly.
#include <algorithm>
#include <cmath>
#include <limits>

#include "korch/interp/evaluate.h"
#include "korch/interp/reduce_rows.h"
#include "korch/ir/scalar_functions.h"

namespace korch {
namespace {

// finish(sum over the reduced elements of term(x)), integers modulo 2^64.
template <typename Term, typename Finish>
Results sum_of(const Evaluation& e, Term term, Finish finish) {
  const HostTensor wide = widened(e.inputs[0]);
  return {with_wide_type(wide.dtype(), [&](auto zero) {
    using W = decltype(zero);
    HostTensor out(TensorType{wide.dtype(), e.output_shape()});
    W* sums = out.mutable_data<W>();
    reduce_into(wide.data<W>(), wide.shape(), e.attrs<ReduceAttrs>().axes, sums, e.stop,
                [&](W& sum, W value) { sum = ScalarMath<W>::add(sum, term(value)); });
    for (int64_t i = 0; i < out.elements(); ++i) sums[i] = finish(sums[i]);
    return out;
  })};
}

constexpr auto identity = [](auto x) { return x; };
constexpr auto square = [](auto x) { return ScalarMath<decltype(x)>::mul(x, x); };
constexpr auto magnitude = [](auto x) { return ScalarMath<decltype(x)>::abs(x); };

// f(x, its reduced value) for every element of the input, in place.
template <typename F>
void combine_with_reduced(HostTensor& input, const std::vector<int64_t>& axes,
                          const std::vector<double>& reduced, StopCheck& stop, F f) {
  double* x = input.mutable_data<double>();
  for_each_reduction_run(input.shape(), axes, stop,
                         [&](int64_t from, int64_t to, int64_t stride, int64_t count) {
                           for (int64_t i = 0; i < count; ++i)
                             x[from + i] = f(x[from + i], reduced[to + i * stride]);
                         });
}

}  // namespace

Results evaluate_reduce_mean(const Evaluation& e) {
  const int64_t count = reduced_elements(e.inputs[0].shape(), e.attrs<ReduceAttrs>().axes);
  return sum_of(e, identity, [count](auto sum) {
    using W = decltype(sum);
    return ScalarMath<W>::div(sum, static_cast<W>(count));
  });
}

Results evaluate_reduce_l1(const Evaluation& e) {
  return sum_of(e, magnitude, identity);
}

Results evaluate_reduce_l2(const Evaluation& e) {
  return sum_of(e, square, [](auto sum) { return static_cast<decltype(sum)>(std::sqrt(sum)); });
}

Results evaluate_reduce_log_sum(const Evaluation& e) {
  return sum_of(e, identity, [](auto sum) { return static_cast<decltype(sum)>(std::log(sum)); });
}

Results evaluate_reduce_sum_square(const Evaluation& e) {
  return sum_of(e, square, identity);
}

// log(sum exp(x)) = m + log(sum exp(x - m)) with m the maximum, so that exp cannot overflow.
Results evaluate_reduce_log_sum_exp(const Evaluation& e) {
  const auto& axes = e.attrs<ReduceAttrs>().axes;
  HostTensor x = HostTensor(TensorType{DType::f64, e.inputs[0].shape()});
  const HostTensor input = converted(e.inputs[0], DType::f64);
  std::copy_n(input.data<double>(), input.elements(), x.mutable_data<double>());
  HostTensor out = doubles(e.output_shape());
  std::vector<double> shift(out.elements(), -std::numeric_limits<double>::infinity());
  reduce_into(x.data<double>(), x.shape(), axes, shift.data(), e.stop,
              [](double& held, double value) { held = value > held ? value : held; });
  for (double& m : shift) m = std::isfinite(m) ? m : 0;
  combine_with_reduced(x, axes, shift, e.stop, [](double value, double m) { return std::exp(value - m); });
  double* sums = out.mutable_data<double>();
  reduce_into(x.data<double>(), x.shape(), axes, sums, e.stop,
              [](double& sum, double value) { sum += value; });
  for (int64_t i = 0; i < out.elements(); ++i) sums[i] = std::log(sums[i]) + shift[i];
  return {out};
}

Results evaluate_mean_variance_normalization(const Evaluation& e) {
  constexpr double kEpsilon = 1e-9;  // added to the deviation by the operator's definition
  const auto& axes = e.attrs<ReduceAttrs>().axes;
  const auto count = static_cast<double>(reduced_elements(e.inputs[0].shape(), axes));
  HostTensor x = doubles(e.inputs[0].shape());
  const HostTensor input = converted(e.inputs[0], DType::f64);
  std::copy_n(input.data<double>(), input.elements(), x.mutable_data<double>());
  const auto means = static_cast<size_t>(count == 0 ? 0 : static_cast<double>(x.elements()) / count);
  std::vector<double> mean(means), variance(means);
  reduce_into(x.data<double>(), x.shape(), axes, mean.data(), e.stop,
              [&](double& sum, double v) { sum += v / count; });
  combine_with_reduced(x, axes, mean, e.stop, [](double value, double m) { return value - m; });
  reduce_into(x.data<double>(), x.shape(), axes, variance.data(), e.stop,
              [&](double& sum, double v) { sum += v * v / count; });
  combine_with_reduced(x, axes, variance, e.stop,
                       [](double value, double v) { return value / (std::sqrt(v) + kEpsilon); });
  return {x};
}

}  // namespace korch
