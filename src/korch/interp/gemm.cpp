#include "korch/interp/gemm.h"

#include <cblas.h>
#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace korch {
namespace {

// Of one call of BLAS, which nothing can stop: a second on a slow machine.
constexpr int64_t kProductsPerCall = int64_t{1} << 32;
constexpr int64_t kProductsPerElement = 64;  // that take as long as an element of other operators

std::vector<float> rounded(const double* matrix, int64_t rows, int64_t columns, int64_t stride) {
  std::vector<float> result(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[i * columns + j] = static_cast<float>(matrix[i * stride + j]);
  return result;
}

bool can_map(size_t bytes) {
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  ::munmap(memory, bytes);
  return true;
}

// OpenBLAS maps a buffer per caller and per thread of its own, and tries for ever where it cannot: it is only
// called, and only with threads and by several callers at once, where there is room for them.
std::unique_lock<std::mutex> lock_where_room_is_short() {
  enum class Room { none, one_caller, all };
  static const Room room = [] {
    constexpr size_t kBufferBytes = size_t{129} << 20;  // of OpenBLAS 0.3, rounded up
    const size_t own = openblas_get_num_threads(),
                 callers = std::max(1U, std::thread::hardware_concurrency());
    if (can_map(kBufferBytes * (own + callers))) return Room::all;
    if (can_map(kBufferBytes * (own + 1))) return Room::one_caller;
    openblas_set_num_threads(1);
    return can_map(kBufferBytes) ? Room::one_caller : Room::none;
  }();
  if (room == Room::none) throw std::bad_alloc();
  static std::mutex one_caller;
  return room == Room::all ? std::unique_lock<std::mutex>() : std::unique_lock(one_caller);
}

}  // namespace

void gemm(const Gemm& g, const double* a, const double* b, double* c, StopCheck& stop) {
  const auto lock = lock_where_room_is_short();
  const CBLAS_TRANSPOSE ta = g.transpose_a ? CblasTrans : CblasNoTrans,
                        tb = g.transpose_b ? CblasTrans : CblasNoTrans;
  const int n = static_cast<int>(g.n), k = static_cast<int>(g.k);
  const int64_t a_columns = g.transpose_a ? g.m : g.k, b_columns = g.transpose_b ? g.k : g.n;
  const int64_t a_step = g.transpose_a ? 1 : g.k;  // from one row of the result to the next
  std::vector<float> a32, b32, c32;
  if (g.in_float32) {
    a32 = rounded(a, g.m * g.k / a_columns, a_columns, a_columns);
    b32 = rounded(b, g.k * g.n / b_columns, b_columns, g.b_stride);
  }
  const int64_t rows = std::max<int64_t>(1, kProductsPerCall / std::max<int64_t>(1, g.n * g.k));
  for (int64_t row = 0; row < g.m; row += rows) {
    const int m = static_cast<int>(std::min(rows, g.m - row));
    double* to = c + row * g.c_stride;
    stop.after(m * g.n * g.k / kProductsPerElement);
    if (!g.in_float32) {
      cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0, a + row * a_step, static_cast<int>(a_columns), b,
                  static_cast<int>(g.b_stride), g.beta, to, static_cast<int>(g.c_stride));
      continue;
    }
    c32.resize(static_cast<size_t>(m * g.n));
    cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0f, a32.data() + row * a_step, static_cast<int>(a_columns),
                b32.data(), static_cast<int>(b_columns), 0.0f, c32.data(), n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < g.n; ++j) {
        double& out = to[i * g.c_stride + j];
        out = (g.beta == 0 ? 0 : g.beta * out) + static_cast<double>(c32[i * g.n + j]);
      }
  }
}

}  // namespace korch
