#include "korch/codegen/cpu/source_text.h"

#include <fmt/format.h>

#include "korch/base/error.h"
#include "korch/codegen/cpu/lane_text.h"
#include "korch/codegen/cpu/math_text.h"
#include "korch/codegen/cpu/rank_text.h"
#include "korch/codegen/cpu/replace_all.h"
#include "korch/codegen/cuda/matrix_text.h"

namespace korch::tile {
namespace {

constexpr const char* kHead =
    R"(typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
struct korch_kernel_context { void* const* args; void* scratch; const void* state; int32_t worker; };
)";

constexpr const char* kIndexFunctions =
    R"(static inline int64_t index_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static inline int64_t index_mod(int64_t a, int64_t b) { int64_t r = a % b; return r < 0 ? r + b : r; }
static inline int64_t index_abs(int64_t a) { return a < 0 ? -a : a; }
static inline int64_t index_clamp(int64_t a, int64_t low, int64_t high) { return a < low ? low : a > high ? high : a; }
static inline int64_t index_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t index_max(int64_t a, int64_t b) { return a > b ? a : b; }
)";

// Of the type of their first argument: 32 bits where that is enough.
constexpr const char* kCudaIndexFunctions =
    R"(template <class T> static inline T index_div(T a, int64_t b) { return a / (T)b - (a % (T)b < 0); }
template <class T> static inline T index_mod(T a, int64_t b) { T r = a % (T)b; return r < 0 ? r + (T)b : r; }
template <class T> static inline T index_abs(T a) { return a < 0 ? -a : a; }
template <class T> static inline T index_clamp(T a, int64_t low, int64_t high) { return a < (T)low ? (T)low : a > (T)high ? (T)high : a; }
template <class T> static inline T index_min(T a, int64_t b) { return a < (T)b ? a : (T)b; }
template <class T> static inline T index_max(T a, int64_t b) { return a > (T)b ? a : (T)b; }
)";

constexpr const char* kFunctions = R"(static inline float splat_float(float x) { return x; }
template <class T> static inline T fn_select(bool m, T a, T b) { return m ? a : b; }
template <class T> static inline T fn_min(T a, T b) { return b < a ? b : a; }
template <class T> static inline T fn_max(T a, T b) { return a < b ? b : a; }
static inline float fn_min(float a, float b) { return a != a ? a : (a < b ? a : b); }
static inline float fn_max(float a, float b) { return a != a ? a : (a > b ? a : b); }
static inline double fn_min(double a, double b) { return a != a ? a : (a < b ? a : b); }
static inline double fn_max(double a, double b) { return a != a ? a : (a > b ? a : b); }
template <class T> static inline T fn_abs(T a) { return a < 0 ? (T)(0 - (uint64_t)a) : a; }
static inline float fn_abs(float a) { return __builtin_fabsf(a); }
static inline double fn_abs(double a) { return __builtin_fabs(a); }
static inline float fn_copysign(float a, float b) { return __builtin_copysignf(a, b); }
static inline float to_float(int32_t a) { return (float)a; }
)";

// A difference that no multiplication is contracted into: what is equal once it is rounded differs by 0.
constexpr const char* kDifference = R"(template <class T> static inline T fn_difference(T a, T b) {
#pragma clang fp contract(off)
  return a - b;
}
)";
constexpr const char* kCudaDifference =
    R"(static inline float fn_difference(float a, float b) { return __fsub_rn(a, b); }
static inline double fn_difference(double a, double b) { return __dsub_rn(a, b); }
)";

// Float32 elements in CUDA C++: $V of $N lanes, loaded at once as $W; $(...) is a list with $l for each lane.
constexpr const char* kCudaVectorLoads = R"(template <class V> static inline V load(const float* p);
template <class V> static inline V load_aligned(const float* p);
template <class V> static inline V load_strided(const float* p, int64_t s, int);
)";
constexpr const char* kCudaVector = R"(struct $V {
  float lane[$N];
  __device__ __forceinline__ float& operator[](int l) { return lane[l]; }
  __device__ __forceinline__ float operator[](int l) const { return lane[l]; }
};
static inline $V splat_$V(float a) { return {{$(a)}}; }
template <> __device__ __forceinline__ $V load<$V>(const float* p) { return {{$(p[$l])}}; }
template <> __device__ __forceinline__ $V load_aligned<$V>(const float* p) {
  const $W v = *(const $W*)p;
  return {{$(v.$c)}};
}
template <> __device__ __forceinline__ $V load_strided<$V>(const float* p, int64_t s, int) {
  return {{$(p[$l * s])}};
}
static inline void store_strided(float* p, int64_t s, $V v, int) {
  for (int l = 0; l < $N; ++l) p[l * s] = v[l];
}
static inline void store(float* p, $V v) { store_strided(p, 1, v, $N); }
static inline void store_aligned(float* p, $V v) { *($W*)p = $W{$(v[$l])}; }
static inline $V operator-($V a) { return {{$(-a[$l])}}; }
)";
constexpr const char* kCudaVectorOperator =
    R"(static inline $V operator$O($V a, $V b) { return {{$(a[$l] $O b[$l])}}; }
)";
constexpr const char* kCudaVectorFunction =
    R"(static inline $V $F($V a) { return {{$($F(a[$l]))}}; }
)";
constexpr const char* kCudaVectorOfTwo =
    R"(static inline $V $F($V a, $V b) { return {{$($F(a[$l], b[$l]))}}; }
)";

// Functions of single elements beyond the arithmetic above, by name; vectors call them lane by lane unless
// the vector library or the tables below know better.
const std::pair<const char*, const char*> kScalarFunctions[] = {
    {"fn_div",
     R"(template <class T> static inline T fn_div(T a, T b) { return b == 0 ? (T)0 : b == (T)-1 && b < 0 ? (T)(0 - (uint64_t)a) : (T)(a / b); }
)"},
    {"fn_mod", R"(template <class T> static inline T fn_mod(T a, T b) {
  if (b == 0 || (b == (T)-1 && b < 0)) return (T)0;
  T r = (T)(a % b);
  return r != 0 && ((r < 0) != (b < 0)) ? (T)(r + b) : r;
}
static inline float fn_mod(float a, float b) { float r = __builtin_fmodf(a, b); return r != 0 && ((r < 0) != (b < 0)) ? r + b : r; }
static inline double fn_mod(double a, double b) { double r = __builtin_fmod(a, b); return r != 0 && ((r < 0) != (b < 0)) ? r + b : r; }
)"},
    {"fn_fmod",
     R"(template <class T> static inline T fn_fmod(T a, T b) { return b == 0 || (b == (T)-1 && b < 0) ? (T)0 : (T)(a % b); }
static inline float fn_fmod(float a, float b) { return __builtin_fmodf(a, b); }
static inline double fn_fmod(double a, double b) { return __builtin_fmod(a, b); }
)"},
    {"fn_pow", R"(template <class T> static inline T fn_pow(T a, T b) {
  if (b < 0) return a == 1 ? (T)1 : a == (T)-1 ? (b % 2 ? (T)-1 : (T)1) : (T)0;
  uint64_t r = 1, x = (uint64_t)a;
  for (; b > 0; b >>= 1, x *= x) if (b & 1) r *= x;
  return (T)r;
}
static inline float fn_pow(float a, float b) { return __builtin_powf(a, b); }
static inline double fn_pow(double a, double b) { return __builtin_pow(a, b); }
)"},
    {"fn_sign",
     R"(template <class T> static inline T fn_sign(T a) { return a != a ? a : (T)((a > 0) - (a < 0)); }
)"},
    {"fn_floor", R"(static inline float fn_floor(float a) { return __builtin_floorf(a); }
static inline double fn_floor(double a) { return __builtin_floor(a); }
template <class T> static inline T fn_floor(T a) { return a; }
)"},
    {"fn_ceil", R"(static inline float fn_ceil(float a) { return __builtin_ceilf(a); }
static inline double fn_ceil(double a) { return __builtin_ceil(a); }
template <class T> static inline T fn_ceil(T a) { return a; }
)"},
    {"fn_round", R"(static inline float fn_round(float a) { return __builtin_roundevenf(a); }
static inline double fn_round(double a) { return __builtin_roundeven(a); }
template <class T> static inline T fn_round(T a) { return a; }
)"},
    {"fn_trunc", R"(static inline float fn_trunc(float a) { return __builtin_truncf(a); }
static inline double fn_trunc(double a) { return __builtin_trunc(a); }
template <class T> static inline T fn_trunc(T a) { return a; }
)"},
    {"fn_sqrt", R"(static inline float fn_sqrt(float a) { return __builtin_sqrtf(a); }
static inline double fn_sqrt(double a) { return __builtin_sqrt(a); }
)"},
    // What no 64-bit integer holds becomes the smallest one, as x86 does; narrower types wrap.
    {"to_integer", R"(static inline int64_t to_integer(double a) {
  return a >= -0x1p63 && a < 0x1p63 ? (int64_t)a : -0x7fffffffffffffffL - 1;
}
)"},
    {"to_unsigned", R"(static inline uint64_t to_unsigned(double a) {
  if (a >= 0x1p63 && a < 0x1p64) return (uint64_t)a;
  return (uint64_t)(a >= -0x1p63 && a < 0x1p63 ? (int64_t)a : -0x7fffffffffffffffL - 1);
}
)"},
    {"select_best", kSelectBest},
    {"suppress", kSuppress},
    {"fn_is_nan", R"(template <class T> static inline bool fn_is_nan(T a) { return a != a; }
)"},
    {"fn_is_inf", R"(template <class T> static inline bool fn_is_inf(T) { return false; }
static inline bool fn_is_inf(float a) { return __builtin_fabsf(a) == __builtin_inff(); }
static inline bool fn_is_inf(double a) { return __builtin_fabs(a) == __builtin_inf(); }
)"},
};

// 16-bit floats as the low half of an integer, by the GPU's own conversions. The emulator has those of the
// vector library.
const std::pair<const char*, const char*> kCudaConversions[] = {
    {"from_f16", R"(static inline float from_f16(int32_t h) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((uint16_t)h));
  return x;
}
)"},
    {"to_f16", R"(static inline int32_t to_f16(float x) {
  uint16_t h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
}
)"},
    {"from_bf16",
     R"(static inline float from_bf16(int32_t b) { return __uint_as_float((uint32_t)b << 16); }
)"},
    {"to_bf16", R"(static inline int32_t to_bf16(float x) {
  uint16_t b;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b) : "f"(x));
  return b;
}
)"},
};

// f64 versions of what the vector library has for f32, and functions rare enough to come from libm.
const char* const kLibmFunctions[] = {"exp",  "expm1", "log",   "log1p", "tanh", "erf",
                                      "sin",  "cos",   "tan",   "asin",  "acos", "atan",
                                      "sinh", "cosh",  "asinh", "acosh", "atanh"};

const MathFunction* find_math(const std::string& name) {
  for (const MathFunction& row : math_functions())
    if (name == row.name) return &row;
  return nullptr;
}

constexpr DType kStoredTypes[] = {DType::f32, DType::f64, DType::i8,  DType::i16, DType::i32,
                                  DType::i64, DType::u8,  DType::u16, DType::u32, DType::u64};
constexpr DType kVectorTypes[] = {DType::f32, DType::f64, DType::i32, DType::i64};  // with vector arithmetic

// Access to memory for vectors of any width.
constexpr char kMemoryAccess[] =
    R"(template <class V, class T> static inline V load(const T* p) { V r; __builtin_memcpy(&r, p, sizeof r); return r; }
template <class V, class T> static inline V load_first(const T* p, int n) {
  V r = {};
  for (int l = 0; l < n; ++l) r[l] = p[l];
  return r;
}
template <class V, class T> static inline V load_strided(const T* p, int64_t stride, int n) {
  V r = {};
  for (int l = 0; l < n; ++l) r[l] = p[l * stride];
  return r;
}
template <class V, class T> static inline void store(T* p, V v) { __builtin_memcpy(p, &v, sizeof v); }
template <class V, class T> static inline void store_first(T* p, V v, int n) { for (int l = 0; l < n; ++l) p[l] = v[l]; }
template <class V, class T> static inline void store_strided(T* p, int64_t stride, V v, int n) { for (int l = 0; l < n; ++l) p[l * stride] = v[l]; }
)";

// Types of one width.
std::string types_of_width(int lanes) {
  std::string text;
  for (DType type : kStoredTypes)
    text += fmt::format("typedef {} {} __attribute__((vector_size({})));\n", element_type(type),
                        type_name(type, lanes), lanes * static_cast<int>(size_bytes(type)));
  text += fmt::format("typedef int32_t {} __attribute__((vector_size({})));\n",
                      type_name(DType::bool_, lanes), lanes * 4);
  return text;
}

std::string functions_of_width(int lanes) {
  const std::string mask = type_name(DType::bool_, lanes);
  std::string text;
  for (DType type : kVectorTypes) {
    const std::string v = type_name(type, lanes);
    std::string part = R"(static inline $V splat_$V($T x) { return x - ($V){}; }
static inline $V fn_select($M m, $V a, $V b) { return $C ? a : b; }
static inline $M fn_lt($V a, $V b) { return __builtin_convertvector(a < b, $M); }
static inline $M fn_le($V a, $V b) { return __builtin_convertvector(a <= b, $M); }
static inline $M fn_eq($V a, $V b) { return __builtin_convertvector(a == b, $M); }
static inline $V fn_abs($V a) { return __builtin_elementwise_abs(a); }
)";
    if (is_float(type)) {
      part += R"(static inline $V fn_min($V a, $V b) { $V r = a < b ? a : b; return a != a ? a : r; }
static inline $V fn_max($V a, $V b) { $V r = a > b ? a : b; return a != a ? a : r; }
)";
    } else {
      part += R"(static inline $V fn_min($V a, $V b) { return a < b ? a : b; }
static inline $V fn_max($V a, $V b) { return a > b ? a : b; }
)";
    }
    part = replace_all(
        part, "$C",
        size_bytes(type) == 8 ? "__builtin_convertvector(m, " + type_name(DType::i64, lanes) + ")" : "m");
    part = replace_all(replace_all(part, "$V", v), "$T", element_type(type));
    text += replace_all(part, "$M", mask);
  }
  // int16, whose sums alone are computed in lanes.
  text += replace_all(replace_all("static inline $V splat_$V($T x) { return x - ($V){}; }\n", "$V",
                                  type_name(DType::i16, lanes)),
                      "$T", element_type(DType::i16));
  const std::string common = R"(static inline $M splat_$M(bool x) { return ($M){} - (int32_t)x; }
static inline $M mask_of_bytes($B b) { return __builtin_convertvector(b, $M) != 0; }
static inline $B bytes_of_mask($M m) { return __builtin_convertvector(m & 1, $B); }
static inline $F to_float($I a) { return __builtin_convertvector(a, $F); }
static inline $F fn_copysign($F a, $F b) { return __builtin_elementwise_copysign(a, b); }
)";
  text +=
      fmt::format("static inline {0} lanes_below_{0}(int n) {{ return ({0}){{{1}}} < (({0}){{}} + n); }}\n",
                  mask, lane_numbers(lanes, [](int l) { return l; }));
  text +=
      replace_all(replace_all(replace_all(replace_all(common, "$M", mask), "$B", type_name(DType::u8, lanes)),
                              "$F", type_name(DType::f32, lanes)),
                  "$I", type_name(DType::i32, lanes));
  return text;
}

// Masked f32 access in one instruction; the templates' loops serve the other types.
std::string masked_access(Isa isa, int lanes) {
  if (isa >= Isa::x86_64_v4 && lanes == 16)
    return R"(template <> inline f32x16 load_first<f32x16, float>(const float* p, int n) {
  return (f32x16)__builtin_ia32_loadups512_mask(p, (f32x16){}, (unsigned short)((1u << n) - 1));
}
template <> inline void store_first<f32x16, float>(float* p, f32x16 v, int n) {
  __builtin_ia32_storeups512_mask(p, v, (unsigned short)((1u << n) - 1));
}
)";
  if (isa == Isa::x86_64_v3 && lanes == 8)
    return R"(template <> inline f32x8 load_first<f32x8, float>(const float* p, int n) {
  return (f32x8)__builtin_ia32_maskloadps256((const f32x8*)p, lanes_below_m8(n));
}
template <> inline void store_first<f32x8, float>(float* p, f32x8 v, int n) {
  __builtin_ia32_maskstoreps256((f32x8*)p, lanes_below_m8(n), v);
}
)";
  return {};
}

std::string integer_conversion(DType from, int lanes) {
  return fmt::format(R"(static inline {0} to_integer({1} a) {{
  const {2} fits = fn_le(splat_{1}(-0x1p63), a) & fn_lt(a, splat_{1}(0x1p63));
  const {0} value = __builtin_convertvector(fn_select(fits, a, {1}{{}}), {0});
  return fn_select(fits, value, splat_{0}(-0x7fffffffffffffffL - 1));
}}
)",
                     type_name(DType::i64, lanes), type_name(from, lanes), type_name(DType::bool_, lanes));
}

// Conversions of float16, with one instruction; subnormal numbers are exact whatever the processor's state.
std::string half_conversion(const std::string& name, int lanes) {
  const bool narrows = name == "to_f16";
  std::string call;
  if (lanes == 16)
    call = narrows ? "__builtin_ia32_vcvtps2ph512_mask(x, 8, (s16x16){}, (unsigned short)-1)"
                   : "__builtin_ia32_vcvtph2ps512_mask(h, (f32x16){}, (unsigned short)-1, 4)";
  else if (lanes == 8)
    call = narrows ? "__builtin_ia32_vcvtps2ph256(x, 0)" : "__builtin_ia32_vcvtph2ps256(h)";
  else
    call = narrows ? "__builtin_shufflevector((s16x8)__builtin_ia32_vcvtps2ph(x, 0), (s16x8){}, 0, 1, 2, 3)"
                   : "__builtin_ia32_vcvtph2ps(__builtin_shufflevector(h, h, 0, 1, 2, 3, 0, 1, 2, 3))";
  std::string types =
      fmt::format("  typedef short s16x{0} __attribute__((vector_size({1})));\n", lanes, 2 * lanes);
  if (lanes == 4) types += "  typedef short s16x8 __attribute__((vector_size(16)));\n";
  if (!narrows)
    return fmt::format(
        "static inline f32x{0} from_f16(i32x{0} bits) {{\n{1}"
        "  const s16x{0} h = __builtin_convertvector(bits, s16x{0});\n  return {2};\n}}\n",
        lanes, types, call);
  return fmt::format(
      "static inline i32x{0} to_f16(f32x{0} x) {{\n{1}"
      "  typedef unsigned short u16x{0} __attribute__((vector_size({2})));\n"
      "  return __builtin_convertvector((u16x{0}){3}, i32x{0});\n}}\n",
      lanes, types, 2 * lanes, call);
}

// Of numbers within a bound that is no NaN: the second operand, where the first is none and beyond it.
std::string bounded_functions(const std::string& name, int lanes) {
  std::string text;
  for (DType type : {DType::f32, DType::f64})
    text += fmt::format("static inline {0} {1}({0} a, {0} bound) {{ return bound {2} a ? bound : a; }}\n",
                        type_name(type, lanes), name, name == "fn_at_most" ? "<" : ">");
  return text;
}

// Of float32 that int32 holds; NaN becomes the smallest int32.
std::string small_integer_conversion(const std::string& name, Isa isa, int lanes) {
  const std::string from = type_name(DType::f32, lanes), to = type_name(DType::i32, lanes);
  const bool rounds = name == "round_to_int32";
  const char* builtin = rounds ? "__builtin_ia32_cvtps2dq" : "__builtin_ia32_cvttps2dq";
  std::string value;
  if (lanes == 16 && isa >= Isa::x86_64_v4)
    value = fmt::format("({0}){1}512_mask(a, ({0}){{}}, (unsigned short)-1, 4)", to, builtin);
  else if (lanes == 8 && isa >= Isa::x86_64_v3)
    value = fmt::format("({}){}256(a)", to, builtin);
  else if (lanes == 4)
    value = fmt::format("({}){}(a)", to, builtin);
  else
    value = fmt::format(
        "fn_select(fn_eq(a, a), __builtin_convertvector({}(fn_select(fn_eq(a, a), a, {}{{}})), {}), {}{{}} - "
        "0x7fffffff - 1)",
        rounds ? "__builtin_elementwise_roundeven" : "", from, to, to);
  return fmt::format("static inline {} {}({} a) {{ return {}; }}\n", to, name, from, value);
}

std::string vector_function(const std::string& name, Isa isa, int lanes) {
  const std::string v = type_name(DType::f32, lanes), i = type_name(DType::i32, lanes);
  if (name == "load_every_second_" + v)
    return replace_all(every_second_load(lanes), "load_every_second", name);
  if (name == "any_outside") return any_outside(lanes);
  if (name == "load_looked_up") return looked_up_load(lanes);
  if (name == "load_transposed") return transposed_load(lanes);
  if (name == "across_add") return across(name, "{} + {}", lanes);
  if (name == "across_mul") return across(name, "{} * {}", lanes);
  if (name == "across_max") return across(name, "fn_max({}, {})", lanes);
  if (name == "across_min") return across(name, "fn_min({}, {})", lanes);
  if (name == "scale_by_power" && isa >= Isa::x86_64_v4 && lanes == 16)
    return "static inline f32x16 scale_by_power(f32x16 y, f32x16 n, i32x16) {\n"
           "  return (f32x16)__builtin_ia32_scalefps512_mask(y, n, y, (unsigned short)-1, 4);\n}\n";
  const bool has_instruction = lanes == 16 ? isa >= Isa::x86_64_v4 : isa >= Isa::x86_64_v3 && lanes >= 4;
  if ((name == "to_f16" || name == "from_f16") && has_instruction) return half_conversion(name, lanes);
  if (name == "to_bf16" && row(isa).multiplies_bfloat16 && lanes == 16)  // subnormal numbers become 0
    return "static inline i32x16 to_bf16(f32x16 x) {\n"
           "  typedef unsigned short u16x16 __attribute__((vector_size(32)));\n"
           "  typedef __bf16 bf16x16 __attribute__((vector_size(32)));\n"
           "  const bf16x16 y = __builtin_ia32_cvtneps2bf16_512_mask(x, (bf16x16){}, (unsigned short)-1);\n"
           "  return __builtin_convertvector((u16x16)y, i32x16);\n}\n";
  if (isa >= Isa::x86_64_v4 && lanes == 16)
    for (const MathFunction& row : avx512_math_functions())
      if (name == row.name) return row.text + 1;
  if (const MathFunction* math = find_math(name)) {
    const std::string text = replace_all(replace_all(math->text + 1, "$F", v), "$I", i);
    return replace_all(text, "$M", type_name(DType::bool_, lanes));
  }
  if (name == "fn_at_most" || name == "fn_at_least") return bounded_functions(name, lanes);
  if (name == "to_int32" || name == "round_to_int32") return small_integer_conversion(name, isa, lanes);
  if (name == "to_integer")
    return integer_conversion(DType::f32, lanes) + integer_conversion(DType::f64, lanes);
  const std::string elementwise = name.substr(3) == "round" ? "roundeven" : name.substr(3);
  if (name == "fn_floor" || name == "fn_ceil" || name == "fn_round" || name == "fn_trunc" ||
      name == "fn_sqrt")
    return fmt::format(
        "static inline {0} {1}({0} a) {{ return __builtin_elementwise_{2}(a); }}\n"
        "static inline {3} {1}({3} a) {{ return __builtin_elementwise_{2}(a); }}\n",
        v, name, elementwise, type_name(DType::f64, lanes));
  return {};
}

std::string as_scalar(const MathFunction& math) {
  return replace_all(replace_all(replace_all(math.text + 1, "$F", "float"), "$I", "int32_t"), "$M", "bool");
}

// `native`: the target's own f32 functions instead of the library's.
std::string scalar_function(const std::string& name, bool native) {
  if (native)
    for (const auto& [known, body] : kCudaConversions)
      if (name == known)
        return fmt::format("#ifdef KORCH_EMULATED\n{}#else\n{}#endif\n", as_scalar(*find_math(name)), body);
  std::string text;
  for (const char* libm : kLibmFunctions) {
    if (name != std::string("fn_") + libm) continue;
    text += fmt::format("static inline double {0}(double a) {{ return __builtin_{1}(a); }}\n", name, libm);
    if (native || find_math(name) == nullptr)
      text += fmt::format("static inline float {0}(float a) {{ return __builtin_{1}f(a); }}\n", name, libm);
  }
  if (native && name == "fn_exp_weight")
    text += "static inline float fn_exp_weight(float a) { return __builtin_expf(a); }\n";
  if (const MathFunction* math = native ? nullptr : find_math(name)) text += as_scalar(*math);
  for (const auto& [known, body] : kScalarFunctions)
    if (name == known) text += body;
  return text;
}

}  // namespace

std::string element_type(DType type) {
  // By DType; behind them are those that are only stored.
  static constexpr const char* kTypes[] = {"float",    "double",   "uint16_t", "uint16_t", "int8_t",
                                           "int16_t",  "int32_t",  "int64_t",  "uint8_t",  "uint16_t",
                                           "uint32_t", "uint64_t", "uint8_t"};
  static_assert(std::size(kTypes) == static_cast<size_t>(DType::bool_) + 1);
  KORCH_ASSERT(type <= DType::bool_, std::string("a kernel on ") + korch::name(type));
  return kTypes[static_cast<size_t>(type)];
}

std::string type_name(DType type, int lanes) {
  if (is_small_float(type)) type = DType::u16;
  if (lanes > 1)
    return type == DType::bool_ ? fmt::format("m{}", lanes) : fmt::format("{}x{}", name(type), lanes);
  return type == DType::bool_ ? "bool" : element_type(type);
}

bool SourceText::loads_looked_up(int lanes) const {
  return lanes == 16 ? isa_ >= Isa::x86_64_v4 : isa_ >= Isa::x86_64_v3 && (lanes == 8 || lanes == 4);
}

bool SourceText::is_vector_function(ScalarFn fn, DType type) const {
  const auto has_vectors = [](DType t) {
    return std::find(std::begin(kVectorTypes), std::end(kVectorTypes), t) != std::end(kVectorTypes);
  };
  if (fn == ScalarFn::add || fn == ScalarFn::sub || fn == ScalarFn::mul)
    return type == DType::i16 || has_vectors(type);
  if (fn == ScalarFn::neg || fn == ScalarFn::abs || fn == ScalarFn::min || fn == ScalarFn::max ||
      fn == ScalarFn::eq || fn == ScalarFn::lt || fn == ScalarFn::le || fn == ScalarFn::is_nan)
    return has_vectors(type);
  if (fn == ScalarFn::select) return has_vectors(type) || type == DType::bool_;
  if (fn == ScalarFn::div || fn == ScalarFn::reciprocal || fn == ScalarFn::floor || fn == ScalarFn::ceil ||
      fn == ScalarFn::round || fn == ScalarFn::trunc || fn == ScalarFn::sqrt)
    return type == DType::f32 || type == DType::f64;
  if (fn == ScalarFn::exp || fn == ScalarFn::expm1 || fn == ScalarFn::log || fn == ScalarFn::log1p ||
      fn == ScalarFn::tanh || fn == ScalarFn::erf)
    return type == DType::f32;
  if (fn == ScalarFn::logical_and || fn == ScalarFn::logical_or || fn == ScalarFn::logical_xor ||
      fn == ScalarFn::logical_not)
    return type == DType::bool_;
  if (fn == ScalarFn::cast) return true;
  return false;
}

void SourceText::use_function(const std::string& name, int lanes) {
  use_lanes(lanes);
  functions_.insert({name, lanes});
  if (const MathFunction* math = find_math(name))
    for (const char* need : math->needs) use_function(need, lanes);
}

void SourceText::use_matrix_units(ProductType type) {
  KORCH_ASSERT(!matrix_units_ || matrix_units_ == type, "matrix units of two types in one kernel");
  matrix_units_ = type;
  if (type == ProductType::f32 || type == ProductType::tf32) return;
  for (const char* direction : {"from_", "to_"}) use_function(std::string(direction) + name(type), 1);
}

std::string SourceText::as_cuda(std::string text) {
  const std::pair<const char*, const char*> spellings[] = {
      {"__builtin_inff()", "__int_as_float(0x7f800000)"},
      {"__builtin_nanf(\"\")", "__int_as_float(0x7fc00000)"},
      {"__builtin_inf()", "__longlong_as_double(0x7ff0000000000000LL)"},
      {"__builtin_nan(\"\")", "__longlong_as_double(0x7ff8000000000000LL)"},
      {"__builtin_roundeven", "rint"},
      {"__builtin_", ""},
  };
  for (const auto& [from, to] : spellings) text = replace_all(std::move(text), from, to);
  return text;
}

namespace {

// Lists written out; lanes are two or four.
std::string cuda_vector(std::string text, int lanes) {
  for (size_t begin; (begin = text.find("$(")) != std::string::npos;) {
    size_t end = begin + 2;
    for (int depth = 1; depth > 0; ++end) depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    const std::string element = text.substr(begin + 2, end - begin - 3);
    const std::string list = lane_list(lanes, [&](int lane) {
      return replace_all(replace_all(element, "$l", std::to_string(lane)), "$c",
                         std::string(1, "xyzw"[lane]));
    });
    text.replace(begin, end - begin, list);
  }
  text = replace_all(std::move(text), "$V", type_name(DType::f32, lanes));
  text = replace_all(std::move(text), "$N", std::to_string(lanes));
  return replace_all(std::move(text), "$W", fmt::format("float{}", lanes));
}

}  // namespace

std::string SourceText::cuda_preamble() const {
  std::string text = std::string(kHead) + kCudaIndexFunctions + kFunctions + kCudaDifference;
  std::set<std::string> names;
  for (const auto& [name, lanes] : functions_)
    if (names.insert(name).second) text += scalar_function(name, true);
  if (!lanes_.empty()) text += kCudaVectorLoads;
  for (int lanes : lanes_) {
    std::string vector = kCudaVector;
    for (const char* op : {"+", "-", "*", "/"}) vector += replace_all(kCudaVectorOperator, "$O", op);
    for (const char* function : {"fn_min", "fn_max", "fn_difference"})
      vector += replace_all(kCudaVectorOfTwo, "$F", function);
    vector += replace_all(kCudaVectorFunction, "$F", "fn_abs");
    for (const auto& [name, width] : functions_)
      if (width == lanes && !scalar_function(name, true).empty())
        vector += replace_all(kCudaVectorFunction, "$F", name);
    text += cuda_vector(std::move(vector), lanes);
  }
  if (copies_) text += copies_text();
  if (matrix_units_) text += matrix_units_text(*matrix_units_);
  text = replace_all(std::move(text), "static inline", "static __device__ __forceinline__");
  return as_cuda(std::move(text));
}

std::string SourceText::preamble() const {
  std::string text = std::string(kHead) + kIndexFunctions + kFunctions + kDifference;
  for (int lanes : lanes_) text += types_of_width(lanes);
  if (!lanes_.empty()) text += kMemoryAccess;
  for (int lanes : lanes_) text += functions_of_width(lanes) + masked_access(isa_, lanes);
  // In the order of the tables, so that what a function needs stands before it.
  auto emit = [&](const std::string& name, int lanes) {
    if (functions_.count({name, lanes}) == 0) return;
    text += lanes == 1 ? scalar_function(name, false) : vector_function(name, isa_, lanes);
  };
  std::set<std::string> tabled;
  for (const MathFunction& row : math_functions()) {
    tabled.insert(row.name);
    emit(row.name, 1);
    for (int lanes : lanes_) emit(row.name, lanes);
  }
  for (const auto& [name, lanes] : functions_)
    if (tabled.count(name) == 0) emit(name, lanes);
  return text;
}

}  // namespace korch::tile
