#include <cmath>
#include <limits>

#include "korch/interp/evaluate.h"

namespace korch {
namespace {

// Rows along the axis: `lanes` neighbouring ones are handled together so that memory is walked in order.
struct Rows {
  int64_t outer, extent, lanes;
};

Rows rows_along(const Shape& shape, int64_t axis) {
  return {element_count(Shape(shape.begin(), shape.begin() + axis)), shape[axis],
          element_count(Shape(shape.begin() + axis + 1, shape.end()))};
}

// f(position in the slice, lane) in memory order.
template <typename F>
void for_each_in_slice(const Rows& rows, F f) {
  for (int64_t i = 0; i < rows.extent; ++i)
    for (int64_t lane = 0; lane < rows.lanes; ++lane) f(i * rows.lanes + lane, lane);
}

// finish(x - max, sum of exp(x - max)) per element.
template <typename Finish>
Results normalized_exponentials(const Evaluation& e, Finish finish) {
  const HostTensor input = converted(e.inputs[0], DType::f64);
  const Rows rows = rows_along(input.shape(), e.attrs<AxisAttrs>().axis);
  HostTensor out = doubles(input.shape());
  const int64_t slice = rows.extent * rows.lanes;
  std::vector<double> maxima, sums;
  for (int64_t o = 0; slice > 0 && o < rows.outer; ++o) {
    e.stop.after(slice);
    const double* x = input.data<double>() + o * slice;
    double* y = out.mutable_data<double>() + o * slice;
    maxima.assign(rows.lanes, -std::numeric_limits<double>::infinity());
    sums.assign(rows.lanes, 0);
    for_each_in_slice(rows, [&](int64_t i, int64_t lane) {
      if (x[i] > maxima[lane] || std::isnan(x[i])) maxima[lane] = x[i];
    });
    for_each_in_slice(rows, [&](int64_t i, int64_t lane) { sums[lane] += std::exp(x[i] - maxima[lane]); });
    for_each_in_slice(rows, [&](int64_t i, int64_t lane) { y[i] = finish(x[i] - maxima[lane], sums[lane]); });
  }
  return {out};
}

}  // namespace

Results evaluate_softmax(const Evaluation& e) {
  return normalized_exponentials(e, [](double x, double sum) { return std::exp(x) / sum; });
}

Results evaluate_log_softmax(const Evaluation& e) {
  return normalized_exponentials(e, [](double x, double sum) { return x - std::log(sum); });
}

// One at the first maximum along the axis, or the first NaN, zero elsewhere.
Results evaluate_hardmax(const Evaluation& e) {
  const HostTensor input = converted(e.inputs[0], DType::f64);
  const Rows rows = rows_along(input.shape(), e.attrs<AxisAttrs>().axis);
  HostTensor out = doubles(input.shape());
  const int64_t slice = rows.extent * rows.lanes;
  for (int64_t row = 0; slice > 0 && row < rows.outer * rows.lanes; ++row) {
    const int64_t first = row / rows.lanes * slice + row % rows.lanes;
    const double* x = input.data<double>() + first;
    int64_t best = 0;
    for (int64_t i = 1; i < rows.extent; ++i)
      if (!std::isnan(x[best * rows.lanes]) && !(x[i * rows.lanes] <= x[best * rows.lanes])) best = i;
    out.mutable_data<double>()[first + best * rows.lanes] = 1;
  }
  return {out};
}

}  // namespace korch
