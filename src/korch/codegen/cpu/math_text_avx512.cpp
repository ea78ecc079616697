#include "korch/codegen/cpu/math_text.h"

namespace korch::tile {

// f(x) = x * P(x - c), P a polynomial of degree 5 per interval with centre c, its coefficients looked up by a
// permute of one or two registers. The factor that gives the interval is rounded down, so that 0 stays in the
// first. Chebyshev fits of f(x) / x, computed with 40 digits; relative error below 1e-8 before rounding.
const std::vector<MathFunction>& avx512_math_functions() {
  static const std::vector<MathFunction> table = {
      {"fn_erf", {}, R"(
static inline f32x16 fn_erf(f32x16 x) {
  const f32x16 c5 = {-0x1.3ef42ap-6f, -0x1.7b08dep-5f, -0x1.7d051cp-5f, -0x1.a31506p-6f, -0x1.62c68cp-11f, 0x1.d7de22p-7f, 0x1.155820p-6f, 0x1.8b4a56p-7f,
      0x1.83f0ccp-8f, 0x1.b7c0e2p-10f, -0x1.42934ep-12f, -0x1.c5956ap-11f, -0x1.ab84aap-11f, -0x1.417550p-11f, -0x1.c03928p-12f, -0x1.336eaep-12f};
  const f32x16 c4 = {0x1.b2663cp-4f, 0x1.00cfecp-4f, 0x1.039ae0p-9f, -0x1.6bb982p-5f, -0x1.ee48b6p-5f, -0x1.9d3222p-5f, -0x1.e8073cp-6f, -0x1.7157fap-7f,
      -0x1.0b2998p-13f, 0x1.1ec966p-8f, 0x1.4a6322p-8f, 0x1.141936p-8f, 0x1.9a712ep-9f, 0x1.2502fcp-9f, 0x1.a0c6a4p-10f, 0x1.2c06d6p-10f};
  const f32x16 c3 = {0x1.c5a770p-5f, 0x1.24d5f4p-3f, 0x1.671bb2p-3f, 0x1.367b44p-3f, 0x1.8a28e4p-4f, 0x1.3fc24ep-5f, -0x1.6844fcp-10f, -0x1.5d2c2cp-6f,
      -0x1.ae6c76p-6f, -0x1.834a48p-6f, -0x1.3244d2p-6f, -0x1.cac41cp-7f, -0x1.52a6b0p-7f, -0x1.f70a60p-8f, -0x1.7b268ap-8f, -0x1.229a74p-8f};
  const f32x16 c2 = {-0x1.766af0p-2f, -0x1.276b4ep-2f, -0x1.527662p-3f, -0x1.4579d8p-5f, 0x1.bbf076p-5f, 0x1.ab144ep-4f, 0x1.df89c2p-4f, 0x1.b7ea86p-4f,
      0x1.6bfc20p-4f, 0x1.1e3198p-4f, 0x1.ba0a1ap-5f, 0x1.560bdap-5f, 0x1.0bd90cp-5f, 0x1.a9f504p-6f, 0x1.57e93cp-6f, 0x1.19936ap-6f};
  const f32x16 c1 = {-0x1.7d900cp-4f, -0x1.09ac3cp-2f, -0x1.7edef6p-2f, -0x1.b29324p-2f, -0x1.ad1534p-2f, -0x1.82ad18p-2f, -0x1.48b7c4p-2f, -0x1.0e9e18p-2f,
      -0x1.b87062p-3f, -0x1.67575ap-3f, -0x1.284242p-3f, -0x1.ef1beep-4f, -0x1.a35764p-4f, -0x1.6793eep-4f, -0x1.37b3d8p-4f, -0x1.10c83ap-4f};
  const f32x16 c0 = {0x1.1f5e1ap+0f, 0x1.13e08cp+0f, 0x1.fe8f16p-1f, 0x1.cacbc2p-1f, 0x1.9450bcp-1f, 0x1.611066p-1f, 0x1.3448f8p-1f, 0x1.0ee122p-1f,
      0x1.e09a7ap-2f, 0x1.aed200p-2f, 0x1.8603e0p-2f, 0x1.642828p-2f, 0x1.47ad40p-2f, 0x1.2f6828p-2f, 0x1.1a7b90p-2f, 0x1.084210p-2f};
  f32x16 a = fn_abs(x);
  f32x16 t = fn_select(a > splat_f32x16(0x1.fffffep+1f), splat_f32x16(0x1.fffffep+1f), a);
  f32x16 from_centre = t - splat_f32x16(0x1.000000p-3f);
  f32x16 shifted = from_centre * splat_f32x16(4.0f) + splat_f32x16(12582912.0f);
  f32x16 d = from_centre - (shifted - splat_f32x16(12582912.0f)) * splat_f32x16(0x1.000000p-2f);
  i32x16 i = __builtin_bit_cast(i32x16, shifted);
  f32x16 p = __builtin_ia32_permvarsf512(c5, i);
  p = p * d + __builtin_ia32_permvarsf512(c4, i);
  p = p * d + __builtin_ia32_permvarsf512(c3, i);
  p = p * d + __builtin_ia32_permvarsf512(c2, i);
  p = p * d + __builtin_ia32_permvarsf512(c1, i);
  p = p * d + __builtin_ia32_permvarsf512(c0, i);
  p = fn_select(a >= splat_f32x16(4.0f), splat_f32x16(1.0f), t * p);
  return fn_copysign(p, x);
}
)"},
      {"fn_tanh", {}, R"(
static inline f32x16 fn_tanh(f32x16 x) {
  const f32x16 c5a = {-0x1.54de84p-5f, -0x1.17137ap-4f, -0x1.d25732p-6f, 0x1.a7cc26p-8f, 0x1.eb096cp-7f, 0x1.69f5b0p-7f, 0x1.7e6c58p-8f, 0x1.449e1cp-9f,
      0x1.9e5178p-11f, 0x1.267882p-14f, -0x1.8225f6p-13f, -0x1.f65b96p-13f, -0x1.ceec28p-13f, -0x1.7b882ep-13f, -0x1.275548p-13f, -0x1.c05dcep-14f};
  const f32x16 c5b = {-0x1.50ae28p-14f, -0x1.f823fap-15f, -0x1.7a1dc2p-15f, -0x1.1cecccp-15f, -0x1.b0303cp-16f, -0x1.4a4224p-16f, -0x1.fcd74ep-17f, -0x1.8b4742p-17f,
      -0x1.35a2fep-17f, -0x1.e91a0cp-18f, -0x1.85624cp-18f, -0x1.3861d6p-18f, -0x1.f8e672p-19f, -0x1.9ae2aep-19f, -0x1.5097fcp-19f, -0x1.157702p-19f};
  const f32x16 c4a = {0x1.ddd304p-4f, 0x1.dd469cp-6f, -0x1.578af2p-5f, -0x1.bd16fcp-5f, -0x1.2e4954p-5f, -0x1.2779f4p-6f, -0x1.9db6d8p-8f, -0x1.6b71bcp-11f,
      0x1.7e1dfcp-10f, 0x1.0492eep-9f, 0x1.eb6566p-10f, 0x1.99d360p-10f, 0x1.43d6f0p-10f, 0x1.f32f4cp-11f, 0x1.7cd170p-11f, 0x1.21ed8cp-11f};
  const f32x16 c4b = {0x1.bab020p-12f, 0x1.53e182p-12f, 0x1.06de1ap-12f, 0x1.99f9e6p-13f, 0x1.427d24p-13f, 0x1.ffce26p-14f, 0x1.99a6b0p-14f, 0x1.4aa456p-14f,
      0x1.0d052cp-14f, 0x1.b91e14p-15f, 0x1.6c45f4p-15f, 0x1.2ede74p-15f, 0x1.fadd74p-16f, 0x1.aab0dcp-16f, 0x1.693c4ep-16f, 0x1.3373a4p-16f};
  const f32x16 c3a = {0x1.27283ep-4f, 0x1.43c2cap-3f, 0x1.285ee0p-3f, 0x1.5d21f2p-4f, 0x1.0b8cb0p-5f, 0x1.3763e2p-9f, -0x1.58e47cp-7f, -0x1.c95df2p-7f,
      -0x1.b2f12ep-7f, -0x1.6fe1e4p-7f, -0x1.27705ap-7f, -0x1.cf9b2ep-8f, -0x1.68a07ep-8f, -0x1.1862a2p-8f, -0x1.b5d1bep-9f, -0x1.582b86p-9f};
  const f32x16 c3b = {-0x1.10cd24p-9f, -0x1.b45ae4p-10f, -0x1.6030a8p-10f, -0x1.1ed6c2p-10f, -0x1.d75392p-11f, -0x1.8678fap-11f, -0x1.460aa6p-11f, -0x1.12422cp-11f,
      -0x1.d09848p-12f, -0x1.8c0e4ep-12f, -0x1.53a9b2p-12f, -0x1.24efcap-12f, -0x1.fbed5ep-13f, -0x1.ba8254p-13f, -0x1.8348aep-13f, -0x1.546824p-13f};
  const f32x16 c2a = {-0x1.457178p-2f, -0x1.b5422ep-3f, -0x1.47e456p-4f, 0x1.247af2p-6f, 0x1.0eed3ap-4f, 0x1.454a74p-4f, 0x1.336d86p-4f, 0x1.075396p-4f,
      0x1.af2eaep-5f, 0x1.5a2edap-5f, 0x1.144dfcp-5f, 0x1.b9cdb8p-6f, 0x1.634cc4p-6f, 0x1.200f7ep-6f, 0x1.d762c0p-7f, 0x1.855be2p-7f};
  const f32x16 c2b = {0x1.44a044p-7f, 0x1.1118bep-7f, 0x1.cf6800p-8f, 0x1.8c4b4ap-8f, 0x1.5566f6p-8f, 0x1.281eb8p-8f, 0x1.027608p-8f, 0x1.c5cddap-9f,
      0x1.9087c2p-9f, 0x1.634396p-9f, 0x1.3c8fa8p-9f, 0x1.1b46f6p-9f, 0x1.fcfed8p-10f, 0x1.caf94ap-10f, 0x1.9f4bc4p-10f, 0x1.78fcf0p-10f};
  const f32x16 c1a = {-0x1.79ff44p-4f, -0x1.f61170p-3f, -0x1.4efd16p-2f, -0x1.5e73fep-2f, -0x1.441fb0p-2f, -0x1.18fb06p-2f, -0x1.d7f3c2p-3f, -0x1.876b62p-3f,
      -0x1.442184p-3f, -0x1.0da3cap-3f, -0x1.c419fep-4f, -0x1.7e7f2ap-4f, -0x1.46b472p-4f, -0x1.19aab0p-4f, -0x1.e9fbf6p-5f, -0x1.adb1bep-5f};
  const f32x16 c1b = {-0x1.7bab1cp-5f, -0x1.51c6a0p-5f, -0x1.2e62d2p-5f, -0x1.103e2cp-5f, -0x1.ecbe28p-6f, -0x1.c0044ep-6f, -0x1.991a38p-6f, -0x1.770a0cp-6f,
      -0x1.590e4ep-6f, -0x1.3e86fep-6f, -0x1.26f17ap-6f, -0x1.11e252p-6f, -0x1.fe0102p-7f, -0x1.dc03a2p-7f, -0x1.bd4ff0p-7f, -0x1.a17ccap-7f};
  const f32x16 c0a = {0x1.fca6c8p-1f, 0x1.e3a464p-1f, 0x1.b98762p-1f, 0x1.88abf6p-1f, 0x1.58eaa4p-1f, 0x1.2e485ap-1f, 0x1.09f6fcp-1f, 0x1.d75ecap-2f,
      0x1.a53746p-2f, 0x1.7b9b4ap-2f, 0x1.58de54p-2f, 0x1.3b9e4cp-2f, 0x1.22c1b8p-2f, 0x1.0d6c8ap-2f, 0x1.f5e74ap-3f, 0x1.d5a376p-3f};
  const f32x16 c0b = {0x1.b93cd6p-3f, 0x1.a00eb2p-3f, 0x1.8995f8p-3f, 0x1.756960p-3f, 0x1.6333a2p-3f, 0x1.52aefep-3f, 0x1.43a1ecp-3f, 0x1.35dc9cp-3f,
      0x1.2936fep-3f, 0x1.1d8f40p-3f, 0x1.12c8acp-3f, 0x1.08cab4p-3f, 0x1.ff0078p-4f, 0x1.edae06p-4f, 0x1.dd7e5cp-4f, 0x1.ce55c8p-4f};
  f32x16 a = fn_abs(x);
  f32x16 t = fn_select(a > splat_f32x16(0x1.1ffffep+3f), splat_f32x16(0x1.1ffffep+3f), a);
  f32x16 from_centre = t - splat_f32x16(0x1.200000p-3f);
  f32x16 shifted = from_centre * splat_f32x16(0x1.c71c70p+1f) + splat_f32x16(12582912.0f);
  f32x16 d = from_centre - (shifted - splat_f32x16(12582912.0f)) * splat_f32x16(0x1.200000p-2f);
  i32x16 i = __builtin_bit_cast(i32x16, shifted);
  f32x16 p = __builtin_ia32_vpermi2varps512(c5a, i, c5b);
  p = p * d + __builtin_ia32_vpermi2varps512(c4a, i, c4b);
  p = p * d + __builtin_ia32_vpermi2varps512(c3a, i, c3b);
  p = p * d + __builtin_ia32_vpermi2varps512(c2a, i, c2b);
  p = p * d + __builtin_ia32_vpermi2varps512(c1a, i, c1b);
  p = p * d + __builtin_ia32_vpermi2varps512(c0a, i, c0b);
  p = fn_select(a >= splat_f32x16(9.0f), splat_f32x16(1.0f), t * p);
  return fn_copysign(p, x);
}
)"},
  };
  return table;
}

}  // namespace korch::tile
