// Matrix product through BLAS; operands and result are doubles in row-major order.
#pragma once

#include <cstdint>

#include "korch/base/stop_check.h"

namespace korch {

// c[m, n] = beta * c + a * b, with a[m, k] (or its transpose a[k, m]), b[k, n] (or b[n, k]), and row strides
// in elements. With `in_float32` operands are rounded to float32 and the products are summed in float32: the
// rounding of an engine.
struct Gemm {
  bool transpose_a = false, transpose_b = false, in_float32 = false;
  int64_t m = 0, n = 0, k = 0;
  int64_t b_stride = 0, c_stride = 0;
  double beta = 0;
};
// In blocks of rows, between which it asks.
void gemm(const Gemm& g, const double* a, const double* b, double* c, StopCheck& stop);

}  // namespace korch
