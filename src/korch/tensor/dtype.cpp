#include "korch/tensor/dtype.h"

#include <cmath>
#include <cstring>

namespace korch {
namespace {

struct Row {
  const char* name;
  size_t size_bytes;
  bool is_float, is_integer, is_signed;
};

constexpr Row kRows[kDTypeCount] = {
    {"f32", 4, true, false, true},   {"f64", 8, true, false, true},  {"f16", 2, true, false, true},
    {"bf16", 2, true, false, true},  {"i8", 1, false, true, true},   {"i16", 2, false, true, true},
    {"i32", 4, false, true, true},   {"i64", 8, false, true, true},  {"u8", 1, false, true, false},
    {"u16", 2, false, true, false},  {"u32", 4, false, true, false}, {"u64", 8, false, true, false},
    {"bool", 1, false, false, false}};

const Row& row(DType type) {
  return kRows[static_cast<int>(type)];
}

}  // namespace

size_t size_bytes(DType type) {
  return row(type).size_bytes;
}
const char* name(DType type) {
  return row(type).name;
}
bool is_float(DType type) {
  return row(type).is_float;
}
bool is_integer(DType type) {
  return row(type).is_integer;
}
bool is_small_float(DType type) {
  return type == DType::f16 || type == DType::bf16;
}
bool is_signed(DType type) {
  return row(type).is_signed;
}

bool parse_dtype(std::string_view text, DType* type) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (text == kRows[i].name) {
      *type = static_cast<DType>(i);
      return true;
    }
  }
  return false;
}

float half_to_float(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  float magnitude;
  if (exponent == 31) {
    magnitude = mantissa == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

uint16_t float_to_half(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude == 0) return sign;
  if (magnitude >= 65520.0f) return sign | 0x7c00;
  int exponent;
  std::frexp(magnitude, &exponent);
  // One unit in the last place: 2^-24 for subnormals, else 2^(exponent - 11).
  const int ulp = exponent - 11 < -24 ? -24 : exponent - 11;
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -ulp)));
  // A carry out of the mantissa lands in the exponent, as it should.
  const uint32_t bits = ulp == -24 ? units : units + (static_cast<uint32_t>(ulp + 24) << 10);
  return sign | static_cast<uint16_t>(bits);
}

float bfloat16_to_float(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

uint16_t float_to_bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace korch
