#include "korch/codegen/cpu/math_text.h"

namespace korch::tile {

// Sources of the approximations: exp and log after Cephes and FreeBSD's msun (public constants), erf and tanh
// in the two-interval form of N. Juffa. Cody-Waite constants have few bits, so the reduction is exact without
// an FMA too.
const std::vector<MathFunction>& math_functions() {
  static const std::vector<MathFunction> table = {
      {"scale_by_power", {}, R"(
static inline $F scale_by_power($F y, $F, $I n) {  // y * 2^n, -252 <= n <= 254, subnormal results included
  $I half = n >> 1;
  $F a = __builtin_bit_cast($F, (half + 127) << 23);
  $F b = __builtin_bit_cast($F, (n - half + 127) << 23);
  return (y * a) * b;
}
)"},
      // 16-bit floats as the low half of an integer.
      {"from_f16", {}, R"(
static inline $F from_f16($I h) {
  $I magnitude = (h & 0x7fff) << 13;
  $F finite = __builtin_bit_cast($F, magnitude) * splat_$F(0x1p112f);
  $I bits = fn_select((h & 0x7c00) == 0x7c00, magnitude | 0x7f800000, __builtin_bit_cast($I, finite));
  return __builtin_bit_cast($F, bits | ((h & 0x8000) << 16));
}
)"},
      {"to_f16", {}, R"(
static inline $I to_f16($F x) {  // to nearest even
  $I bits = __builtin_bit_cast($I, x), u = bits & 0x7fffffff;
  $I small = __builtin_bit_cast($I, __builtin_bit_cast($F, u) + splat_$F(0.5f)) - 0x3f000000;
  $I normal = (u - (0x38000000 - 0xfff) + ((u >> 13) & 1)) >> 13;
  $I half = fn_select(u < 0x38800000, small, normal);
  half = fn_select(u >= 0x47800000, ($I){} + 0x7c00, half);
  half = fn_select(u > 0x7f800000, ($I){} + 0x7e00, half);
  return half | ((bits >> 16) & 0x8000);
}
)"},
      {"from_bf16", {}, R"(
static inline $F from_bf16($I b) { return __builtin_bit_cast($F, b << 16); }
)"},
      {"to_bf16", {}, R"(
static inline $I to_bf16($F x) {  // to nearest even
  $I bits = __builtin_bit_cast($I, x), u = bits & 0x7fffffff;
  u = fn_select(u > 0x7f800000, ($I){} + 0x7fc00000, u);
  return ((u + 0x7fff + ((u >> 16) & 1)) >> 16) | ((bits >> 16) & 0x8000);
}
)"},
      {"fn_exp", {"scale_by_power"}, R"(
static inline $F fn_exp($F x) {
  $F t = fn_select(x < splat_$F(-105.0f), splat_$F(-105.0f), x);
  t = fn_select(t > splat_$F(89.0f), splat_$F(89.0f), t);
  $F shifted = t * splat_$F(1.44269504f) + splat_$F(12582912.0f);
  $F n = shifted - splat_$F(12582912.0f);
  $I k = __builtin_bit_cast($I, shifted) - 0x4b400000;
  $F r = t - n * splat_$F(0.693359375f);
  r = r + n * splat_$F(2.12194440e-4f);
  $F p = splat_$F(1.9875691500e-4f);
  p = p * r + splat_$F(1.3981999507e-3f);
  p = p * r + splat_$F(8.3334519073e-3f);
  p = p * r + splat_$F(4.1665795894e-2f);
  p = p * r + splat_$F(1.6666665459e-1f);
  p = p * r + splat_$F(5.0000001201e-1f);
  $F y = p * (r * r) + r + splat_$F(1.0f);
  return scale_by_power(y, n, k);
}
)"},
      // Of x <= 0, for weights that are summed: relative error at most 2e-7 + 2e-9 |x| with fused multiply
      // and add, 2e-7 + 6e-8 |x| without, and 0 below -87, since arithmetic with subnormal numbers is slow.
      {"fn_exp_weight", {"scale_by_power"}, R"(
static inline $F fn_exp_weight($F x) {
  const $F low = splat_$F(-87.0f);
  $F t = fn_select(x < low, low, x);
  $F shifted = t * splat_$F(1.44269504f) + splat_$F(12582912.0f);
  $F n = shifted - splat_$F(12582912.0f);
  $F r = t - n * splat_$F(0.693147182f);
  $F p = splat_$F(8.290306231e-3f);
  p = p * r + splat_$F(4.189797599e-2f);
  p = p * r + splat_$F(1.666763658e-1f);
  p = p * r + splat_$F(4.999914919e-1f);
  p = p * r + splat_$F(9.999997070e-1f);
  p = p * r + splat_$F(1.0f);
  $F y = scale_by_power(p, n, __builtin_bit_cast($I, shifted) - 0x4b400000);
  return fn_select(x < low, splat_$F(0.0f), y);
}
)"},
      {"fn_expm1", {"fn_exp"}, R"(
static inline $F fn_expm1($F x) {
  $F p = splat_$F(2.48015873e-5f);
  p = p * x + splat_$F(1.98412698e-4f);
  p = p * x + splat_$F(1.38888889e-3f);
  p = p * x + splat_$F(8.33333333e-3f);
  p = p * x + splat_$F(4.16666667e-2f);
  p = p * x + splat_$F(1.66666667e-1f);
  p = p * x + splat_$F(0.5f);
  $F small = p * (x * x) + x;
  return fn_select(fn_abs(x) < splat_$F(0.5f), small, fn_exp(x) - splat_$F(1.0f));
}
)"},
      {"fn_log", {}, R"(
static inline $F fn_log($F x) {
  $M tiny = x < splat_$F(1.17549435e-38f);
  $F v = fn_select(tiny, x * splat_$F(8388608.0f), x);
  $I bits = __builtin_bit_cast($I, v);
  $I k = (bits - 0x3f3504f3) >> 23;
  $F m = __builtin_bit_cast($F, bits - (k << 23));
  $F e = to_float(k) - fn_select(tiny, splat_$F(23.0f), splat_$F(0.0f));
  $F f = m - splat_$F(1.0f);
  $F s = f / (splat_$F(2.0f) + f);
  $F z = s * s;
  $F w = z * z;
  $F r = z * (splat_$F(0.66666662693f) + w * splat_$F(0.28498786688f)) +
         w * (splat_$F(0.40000972152f) + w * splat_$F(0.24279078841f));
  $F h = splat_$F(0.5f) * f * f;
  $F y = s * (h + r) + e * splat_$F(9.0580006145e-06f) - h + f + e * splat_$F(6.9313812256e-01f);
  y = fn_select(x == splat_$F(__builtin_inff()), x, y);
  y = fn_select(x == splat_$F(0.0f), splat_$F(-__builtin_inff()), y);
  return fn_select(x < splat_$F(0.0f), splat_$F(__builtin_nanf("")), fn_select(x != x, x, y));
}
)"},
      {"fn_log1p", {"fn_log"}, R"(
static inline $F fn_log1p($F x) {
  $F u = splat_$F(1.0f) + x;
  $F y = fn_log(u) + (x - (u - splat_$F(1.0f))) / u;  // what rounding 1 + x lost
  y = fn_select(u == splat_$F(0.0f), splat_$F(-__builtin_inff()), y);
  return fn_select(x == splat_$F(__builtin_inff()), x, y);
}
)"},
      {"fn_tanh", {"fn_exp"}, R"(
static inline $F fn_tanh($F x) {
  $F a = fn_abs(x);
  $F s = x * x;
  $F p = splat_$F(1.57394409e-2f);
  p = p * s + splat_$F(-5.23025580e-2f);
  p = p * s + splat_$F(1.33152470e-1f);
  p = p * s + splat_$F(-3.33327681e-1f);
  $F small = (p * s) * x + x;
  $F big = splat_$F(1.0f) - splat_$F(2.0f) / (fn_exp(splat_$F(2.0f) * a) + splat_$F(1.0f));
  return fn_select(a > splat_$F(0.55f), fn_copysign(big, x), small);
}
)"},
      {"fn_erf", {"fn_exp"}, R"(
static inline $F fn_erf($F x) {
  $F a = fn_abs(x);
  $F t = fn_select(a > splat_$F(4.0f), splat_$F(4.0f), a);
  $F s = x * x;
  $F q = t * t;
  $F r = splat_$F(-1.72853470e-5f) * t + splat_$F(3.83197126e-4f);
  $F u = splat_$F(-3.88396438e-3f) * t + splat_$F(2.42546219e-2f);
  r = r * q + u;
  r = r * t + splat_$F(-1.06777877e-1f);
  r = r * t + splat_$F(-6.34846687e-1f);
  r = r * t + splat_$F(-1.28717512e-1f);
  r = r * t - t;
  $F big = fn_copysign(splat_$F(1.0f) - fn_exp(r), x);
  $F p = splat_$F(-5.96761703e-4f);
  p = p * s + splat_$F(4.99119423e-3f);
  p = p * s + splat_$F(-2.67681349e-2f);
  p = p * s + splat_$F(1.12819925e-1f);
  p = p * s + splat_$F(-3.76125336e-1f);
  p = p * s + splat_$F(1.28379166e-1f);
  $F small = p * x + x;
  return fn_select(a > splat_$F(0.927734375f), big, small);
}
)"},
  };
  return table;
}

}  // namespace korch::tile
