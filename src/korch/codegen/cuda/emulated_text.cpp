#include "korch/codegen/cuda/emulated_text.h"

#include <fmt/format.h>

namespace korch::tile {
namespace {

// `used`: what threads meet in changes these arrays, though nothing here passes their address on.
constexpr const char* kPlainNames = R"(#define __shared__ static __attribute__((used))
#define EMULATED static inline
#define EMULATED_MEET(function) function()
#define EMULATED_TELL(address, bytes, kind, site)
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct __attribute__((aligned(8))) float2 { float x, y; };
)";

// A vector of four is one access; what is emulated here is none. Shared arrays share a section, in which the
// place of one variable is known. Threads meet by call site, so that calls are neither copied nor merged.
constexpr const char* kCheckedNames =
    R"(#define __shared__ static __attribute__((used, section("emulated_shared")))
#define EMULATED_BY_HAND __attribute__((noinline, convergent, disable_sanitizer_instrumentation))
#define EMULATED EMULATED_BY_HAND static
#define EMULATED_MEET(function) (emulated_site = __builtin_return_address(0), function())
#define EMULATED_TELL(address, bytes, kind, site) emulated_access(address, bytes, kind, site)
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));
extern "C" {
char emulated_no_array __attribute__((section("emulated_shared")));
const void* emulated_site;
void (*emulated_access)(const void*, unsigned long bytes, unsigned kind, const void* site);
void (*emulated_astray)();
EMULATED_BY_HAND void __tsan_init() {}
EMULATED_BY_HAND void __tsan_func_entry(void*) {}
EMULATED_BY_HAND void __tsan_func_exit() {}
EMULATED_BY_HAND void __ubsan_handle_out_of_bounds_abort(void*, void*) { emulated_astray(); }
#define EMULATED_ACCESS(name, bytes, kind) \
  EMULATED_BY_HAND void name(void* p) { emulated_access(p, bytes, kind, __builtin_return_address(0)); }
#define EMULATED_ACCESSES(bytes) \
  EMULATED_ACCESS(__tsan_read##bytes, bytes, 0) EMULATED_ACCESS(__tsan_write##bytes, bytes, 1) \
  EMULATED_ACCESS(__tsan_unaligned_read##bytes, bytes, 2) EMULATED_ACCESS(__tsan_unaligned_write##bytes, bytes, 3)
EMULATED_ACCESSES(1) EMULATED_ACCESSES(2) EMULATED_ACCESSES(4) EMULATED_ACCESSES(8) EMULATED_ACCESSES(16)
EMULATED_BY_HAND void* __tsan_memset(void* to, int value, unsigned long bytes) {
  emulated_access(to, bytes, 3, __builtin_return_address(0));
  return __builtin_memset(to, value, bytes);
}
EMULATED_BY_HAND void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  emulated_access(from, bytes, 2, __builtin_return_address(0));
  emulated_access(to, bytes, 3, __builtin_return_address(0));
  return __builtin_memmove(to, from, bytes);
}
EMULATED_BY_HAND void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  emulated_access(from, bytes, 2, __builtin_return_address(0));
  emulated_access(to, bytes, 3, __builtin_return_address(0));
  return __builtin_memmove(to, from, bytes);
}
}
)";

constexpr const char* kCudaNames = R"(#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
struct emulated_dimension { unsigned x; };
extern "C" {
emulated_dimension threadIdx, blockIdx, gridDim;
void (*emulated_barrier)();
void (*emulated_warp)();
void (*emulated_warp_barrier)();
double acos(double), acosh(double), asin(double), asinh(double), atan(double), atanh(double), ceil(double), cos(double),
    cosh(double), erf(double), exp(double), expm1(double), fabs(double), floor(double), fmod(double, double), log(double),
    log1p(double), pow(double, double), rint(double), sin(double), sinh(double), sqrt(double), tan(double), tanh(double),
    trunc(double);
float acosf(float), acoshf(float), asinf(float), asinhf(float), atanf(float), atanhf(float), ceilf(float),
    copysignf(float, float), cosf(float), coshf(float), erff(float), expf(float), expm1f(float), fabsf(float),
    floorf(float), fmodf(float, float), logf(float), log1pf(float), powf(float, float), rintf(float), sinf(float),
    sinhf(float), sqrtf(float), tanf(float), tanhf(float), truncf(float);
}
EMULATED void __syncthreads() { EMULATED_MEET(emulated_barrier); }
// Other than shuffles and matrix products, it orders what the threads of a warp read and write.
EMULATED void __syncwarp(unsigned = 0xffffffffu) { EMULATED_MEET(emulated_warp_barrier); }
// Threads of a warp show each other something, and go on when all have shown it. They take turns with two places:
// what is shown next cannot be shown in the same place before all have read.
static unsigned char emulated_turns[32];
static unsigned long long emulated_shown[2][1024];
template <class T> EMULATED T __shfl_xor_sync(unsigned, T value, int other) {
  unsigned char& turns = emulated_turns[threadIdx.x / 32];
  const int turn = turns;
  __builtin_memcpy(&emulated_shown[turn][threadIdx.x], &value, sizeof value);
  EMULATED_MEET(emulated_warp);
  turns = 1 - turn;
  __builtin_memcpy(&value, &emulated_shown[turn][threadIdx.x ^ other], sizeof value);
  return value;
}
#pragma clang fp contract(off)
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
#pragma clang fp contract(fast)
#define KORCH_EMULATED
#define bit_cast __builtin_bit_cast
static inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
static inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
// Copies to shared memory land when their thread waits for them, not before; of those that it does not wait
// for, what is too many never lands.
struct emulated_copy { float* to; const float* from; int bytes; };
static emulated_copy emulated_copies[1024][64];
static int emulated_copies_begun[1024];
template <int bytes> EMULATED void copy_async(float* to, const float* from, bool inside) {
  int& begun = emulated_copies_begun[threadIdx.x];
  if (inside) EMULATED_TELL(from, bytes, 0, __builtin_return_address(0));
  EMULATED_TELL(to, bytes, 5, __builtin_return_address(0));  // nobody may read it yet
  if (begun < 64) emulated_copies[threadIdx.x][begun++] = {to, inside ? from : nullptr, bytes};
}
EMULATED void wait_copies() {
  int& begun = emulated_copies_begun[threadIdx.x];
  for (int i = 0; i < begun; ++i) {
    const emulated_copy& copy = emulated_copies[threadIdx.x][i];
    EMULATED_TELL(copy.to, copy.bytes, 1, nullptr);
    for (int l = 0; l < copy.bytes / 4; ++l) copy.to[l] = copy.from == nullptr ? 0.0f : copy.from[l];
  }
  begun = 0;
}
// A product of 16 x 4T by 4T x 8 elements. Each thread shows its elements and its results. The first one of a
// warp that goes on makes all results.
typedef float emulated_row __attribute__((ext_vector_type(8)));
static float emulated_a[2][32][16][16];
static emulated_row emulated_b[2][32][16], emulated_sum[2][32][16];
template <int T> EMULATED void emulated_multiply(float (&sum)[4], const float (&a)[2 * T], const float (&b)[T]) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, within = lane % 4;
  constexpr int each = T / 2;  // elements of a register
  unsigned char& turns = emulated_turns[warp];
  const int turn = turns;
  float (&rows)[16][16] = emulated_a[turn][warp];
  emulated_row (&columns)[16] = emulated_b[turn][warp], (&sums)[16] = emulated_sum[turn][warp];
  for (int q = 0; q < 4; ++q) {
    for (int e = 0; e < each; ++e) rows[group + q % 2 * 8][within * each + e + q / 2 * 4 * each] = a[q * each + e];
    sums[group + q / 2 * 8][within * 2 + q % 2] = sum[q];
  }
  for (int q = 0; q < 2; ++q)
    for (int e = 0; e < each; ++e) columns[within * each + e + q * 4 * each][group] = b[q * each + e];
  EMULATED_MEET(emulated_warp);
  if (turns == turn)
    for (int row = 0; row < 16; ++row) {
      emulated_row total = sums[row];
      for (int term = 0; term < 4 * T; ++term) total += rows[row][term] * columns[term];
      sums[row] = total;
    }
  turns = 1 - turn;
  for (int q = 0; q < 4; ++q) sum[q] = sums[group + q / 2 * 8][within * 2 + q % 2];
}
static inline float __int_as_float(int bits) { return __builtin_bit_cast(float, bits); }
static inline double __longlong_as_double(long long bits) { return __builtin_bit_cast(double, bits); }
)";

// A kernel with its arguments from an array, as a launch passes them.
constexpr const char* kEntries = R"(
template <class T, T... places> struct emulated_places {};
template <class... Types, int... places>
void emulated_call(void (*kernel)(Types...), void* const* arguments, emulated_places<int, places...>) {
  kernel((Types)arguments[places]...);
}
template <class... Types> void emulated_call(void (*kernel)(Types...), void* const* arguments) {
  emulated_call(kernel, arguments, __make_integer_seq<emulated_places, int, sizeof...(Types)>());
}
template <class... Types> unsigned emulated_count(void (*)(Types...)) { return sizeof...(Types); }
)";

}  // namespace

std::string emulated_entry(const std::string& symbol) {
  return "emulated_" + symbol;
}

std::string emulated_parameters(const std::string& symbol) {
  return "emulated_parameters_" + symbol;
}

std::string emulated_text(const std::string& cuda, const std::vector<std::string>& symbols,
                          EmulatedAccesses accesses) {
  std::string text =
      (accesses == EmulatedAccesses::told ? kCheckedNames : kPlainNames) + (kCudaNames + cuda) + kEntries;
  for (const std::string& symbol : symbols)
    text += fmt::format(
        "extern \"C\" void {}(void* const* arguments) {{ emulated_call({}, arguments); }}\n"
        "extern \"C\" unsigned {}() {{ return emulated_count({}); }}\n",
        emulated_entry(symbol), symbol, emulated_parameters(symbol), symbol);
  return text;
}

}  // namespace korch::tile
