#include "korch/interp/evaluate.h"
#include "korch/interp/gemm.h"
#include "korch/interp/strided.h"
#include "korch/ir/narrow.h"
#include "korch/ir/scalar_functions.h"

namespace korch {
namespace {

struct MatMulShape {
  int64_t m, n, k;
  bool transpose_a, transpose_b, in_float32;
};

// c = a * b for one matrix; row-major, integers modulo 2^64.
template <typename W>
void multiply(const MatMulShape& s, const W* a, const W* b, W* c, StopCheck& stop) {
  using M = ScalarMath<W>;
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      W sum = 0;
      stop.after(s.k);
      for (int64_t k = 0; k < s.k; ++k) {
        const W x = a[s.transpose_a ? k * s.m + i : i * s.k + k];
        const W y = b[s.transpose_b ? j * s.k + k : k * s.n + j];
        sum = M::add(sum, M::mul(x, y));
      }
      c[i * s.n + j] = sum;
    }
  }
}

template <>
void multiply<double>(const MatMulShape& s, const double* a, const double* b, double* c, StopCheck& stop) {
  if (s.m == 0 || s.n == 0 || s.k == 0) return;  // c is zero-filled
  const Gemm g{
      s.transpose_a, s.transpose_b, s.in_float32, s.m, s.n, s.k, s.transpose_b ? s.k : s.n, s.n, 0.0};
  gemm(g, a, b, c, stop);
}

Shape batch_axes(const Shape& shape) {
  return Shape(shape.begin(), shape.end() - 2);
}

template <typename W>
HostTensor batched(const MatMulShape& s, const HostTensor& a, const HostTensor& b, const Shape& shape,
                   StopCheck& stop) {
  HostTensor out(TensorType{a.dtype(), shape});
  const Shape batch = batch_axes(shape);
  const StridedSpace space_a(batch, broadcast_strides(batch_axes(a.shape()), batch));
  const StridedSpace space_b(batch, broadcast_strides(batch_axes(b.shape()), batch));
  for (int64_t i = 0; i < element_count(batch); ++i) {
    int64_t at_a = 0, at_b = 0;
    space_a.for_each_run(i, 1, [&](int64_t offset, int64_t, int64_t, int64_t) { at_a = offset; });
    space_b.for_each_run(i, 1, [&](int64_t offset, int64_t, int64_t, int64_t) { at_b = offset; });
    multiply<W>(s, a.data<W>() + at_a * s.m * s.k, b.data<W>() + at_b * s.k * s.n,
                out.mutable_data<W>() + i * s.m * s.n, stop);
  }
  return out;
}

// Sums of so many products of them are exact in float64, whose products are the fastest.
constexpr int64_t kMostExactTerms = int64_t{1} << 22;
bool are_small_integers(const HostTensor& a, const HostTensor& b) {
  return is_integer(a.dtype()) && is_integer(b.dtype()) && size_bytes(a.dtype()) <= 2 &&
         size_bytes(b.dtype()) <= 2;
}

HostTensor product(const HostTensor& a, const HostTensor& b, bool transpose_a, bool transpose_b,
                   bool in_float32, const Shape& shape, StopCheck& stop) {
  const Shape& x = a.shape();
  const MatMulShape s{shape[shape.size() - 2],
                      shape.back(),
                      x[x.size() - (transpose_a ? 2 : 1)],
                      transpose_a,
                      transpose_b,
                      in_float32};
  if (are_small_integers(a, b) && s.k <= kMostExactTerms) {
    MatMulShape exact = s;
    exact.in_float32 = false;
    return converted(batched<double>(exact, converted(a, DType::f64), converted(b, DType::f64), shape, stop),
                     DType::i64);
  }
  if (a.dtype() != b.dtype())
    return batched<int64_t>(s, converted(a, DType::i64), converted(b, DType::i64), shape, stop);
  const HostTensor wide_a = widened(a), wide_b = widened(b);
  if (wide_a.dtype() == DType::f64) return batched<double>(s, wide_a, wide_b, shape, stop);
  if (wide_a.dtype() == DType::u64) return batched<uint64_t>(s, wide_a, wide_b, shape, stop);
  return batched<int64_t>(s, wide_a, wide_b, shape, stop);
}

}  // namespace

Results evaluate_matmul(const Evaluation& e) {
  const auto& attrs = e.attrs<MatMulAttrs>();
  return {product(e.inputs[0], e.inputs[1], attrs.transpose_a, attrs.transpose_b, e.sums_in_float32(),
                  e.output_shape(), e.stop)};
}

Results evaluate_narrow_matmul(const Evaluation& e) {
  const DType type = e.types[0].dtype;
  std::vector<HostTensor> operands = e.inputs;
  operands[2] = converted(operands[2], type);
  return {product(converted(e.inputs[0], type), widened_weights(e.attrs<NarrowAttrs>(), operands), false,
                  false, e.sums_in_float32(), e.output_shape(), e.stop)};
}

Results evaluate_gemm(const Evaluation& e) {
  const auto& attrs = e.attrs<GemmAttrs>();
  HostTensor out = product(e.inputs[0], e.inputs[1], attrs.transpose_a, attrs.transpose_b,
                           e.sums_in_float32(), e.output_shape(), e.stop);
  with_wide_type(out.dtype(), [&](auto zero) {
    using W = decltype(zero);  // integers have whole factors (the shape rule)
    using M = ScalarMath<W>;
    const auto factor = [](double value) {
      return std::is_integral_v<W> ? static_cast<W>(static_cast<int64_t>(value)) : static_cast<W>(value);
    };
    W* y = out.mutable_data<W>();
    for (int64_t i = 0; i < out.elements(); ++i) y[i] = M::mul(factor(attrs.alpha), y[i]);
    if (e.inputs.size() < 3) return;
    const HostTensor c = broadcast_to(widened(e.inputs[2]), e.output_shape(), e.stop);
    for (int64_t i = 0; i < out.elements(); ++i)
      y[i] = M::add(y[i], M::mul(factor(attrs.beta), c.data<W>()[i]));
  });
  return {out};
}

}  // namespace korch
