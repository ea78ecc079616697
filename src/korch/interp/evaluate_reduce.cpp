#include <algorithm>
#include <limits>

#include "korch/interp/evaluate.h"
#include "korch/interp/reduce_rows.h"
#include "korch/ir/scalar_functions.h"

namespace korch {
namespace {

// Of all that is reduced, in the wide type, from `start(W{})` on: combine(held, value).
template <typename Start, typename Combine>
Results reduced(const Evaluation& e, Start start, Combine combine) {
  const HostTensor wide = widened(e.inputs[0]);
  return {with_wide_type(wide.dtype(), [&](auto zero) {
    using W = decltype(zero);
    HostTensor out(TensorType{wide.dtype(), e.output_shape()});
    W* results = out.mutable_data<W>();
    std::fill_n(results, out.elements(), start(zero));
    reduce_into(wide.data<W>(), wide.shape(), e.attrs<ReduceAttrs>().axes, results, e.stop,
                [&](W& held, W value) { held = combine(held, value); });
    return out;
  })};
}

// The neutral elements of max and min: infinities where the type has them, else its extremes. For narrow
// integers the extreme of the declared type, as that is what an empty reduction stores.
template <typename W>
W extreme(DType declared, bool largest) {
  using Limits = std::numeric_limits<W>;
  if (Limits::has_infinity) return largest ? Limits::infinity() : -Limits::infinity();
  if (declared == DType::bool_) return largest ? 1 : 0;
  const auto bits = static_cast<int>(size_bytes(declared)) * 8;
  if (!is_signed(declared)) return largest ? static_cast<W>(~uint64_t{0} >> (64 - bits)) : W{0};
  const auto top = static_cast<W>(~uint64_t{0} >> (65 - bits));
  return largest ? top : static_cast<W>(-top - 1);
}

// The position along the axis of the extreme element; among equals the first, or the last if asked. NaN wins.
HostTensor arg_extreme(const Evaluation& e, bool largest) {
  const auto& attrs = e.attrs<ArgReduceAttrs>();
  const HostTensor wide = widened(e.inputs[0]);
  const Shape& shape = wide.shape();
  const int64_t extent = shape[attrs.axis];
  const int64_t inner = element_count(Shape(shape.begin() + attrs.axis + 1, shape.end()));
  HostTensor out(e.types[0]);
  if (out.elements() > 0 && extent == 0)
    throw Error(ErrorKind::invalid, "an empty axis has no extreme element");
  return with_wide_type(wide.dtype(), [&](auto zero) {
    using M = ScalarMath<decltype(zero)>;
    const auto* values = wide.data<decltype(zero)>();
    for (int64_t p = 0; p < out.elements(); ++p) {
      e.stop.after(extent);
      const auto* lane = values + p / inner * extent * inner + p % inner;
      int64_t best = 0;
      for (int64_t i = 1; i < extent; ++i) {
        const auto value = lane[i * inner], held = lane[best * inner];
        const bool better = largest ? value > held : value < held;
        const bool ties = value == held && attrs.select_last;
        if (better || ties || (M::is_nan(value) && !M::is_nan(held))) best = i;
      }
      out.mutable_data<int64_t>()[p] = best;
    }
    return out;
  });
}

}  // namespace

Results evaluate_reduce_sum(const Evaluation& e) {
  return reduced(
      e, [](auto zero) { return zero; }, [](auto a, auto b) { return ScalarMath<decltype(a)>::add(a, b); });
}

Results evaluate_reduce_prod(const Evaluation& e) {
  return reduced(
      e, [](auto zero) { return zero + 1; },
      [](auto a, auto b) { return ScalarMath<decltype(a)>::mul(a, b); });
}

Results evaluate_reduce_max(const Evaluation& e) {
  return reduced(
      e, [&](auto zero) { return extreme<decltype(zero)>(e.inputs[0].dtype(), false); },
      [](auto a, auto b) { return ScalarMath<decltype(a)>::max(a, b); });
}

Results evaluate_reduce_min(const Evaluation& e) {
  return reduced(
      e, [&](auto zero) { return extreme<decltype(zero)>(e.inputs[0].dtype(), true); },
      [](auto a, auto b) { return ScalarMath<decltype(a)>::min(a, b); });
}

Results evaluate_arg_max(const Evaluation& e) {
  return {arg_extreme(e, true)};
}
Results evaluate_arg_min(const Evaluation& e) {
  return {arg_extreme(e, false)};
}

Results evaluate_cum_sum(const Evaluation& e) {
  const auto& attrs = e.attrs<ScanAttrs>();
  const HostTensor wide = widened(e.inputs[0]);
  const Shape& shape = wide.shape();
  const int64_t extent = shape[attrs.axis];
  const int64_t inner = element_count(Shape(shape.begin() + attrs.axis + 1, shape.end()));
  HostTensor out(wide.type());
  const int64_t lanes = extent == 0 ? 0 : wide.elements() / extent;
  return {with_wide_type(wide.dtype(), [&](auto zero) -> HostTensor {
    using W = decltype(zero);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t first = lane / inner * extent * inner + lane % inner;
      W sum = 0;
      e.stop.after(extent);
      for (int64_t i = 0; i < extent; ++i) {
        const int64_t at = first + (attrs.reverse ? extent - 1 - i : i) * inner;
        const W with_this = ScalarMath<W>::add(sum, wide.data<W>()[at]);
        out.mutable_data<W>()[at] = attrs.exclusive ? sum : with_this;
        sum = with_this;
      }
    }
    return out;
  })};
}

}  // namespace korch
