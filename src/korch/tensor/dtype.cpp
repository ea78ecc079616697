#include "korch/tensor/dtype.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace korch {
namespace {

struct Row {
  const char* name;
  size_t size_bytes;
  bool is_float, is_integer, is_signed;
  int bits = 0;  // of a storage type
};

constexpr Row kRows[kDTypeCount] = {{"f32", 4, true, false, true},
                                    {"f64", 8, true, false, true},
                                    {"f16", 2, true, false, true},
                                    {"bf16", 2, true, false, true},
                                    {"i8", 1, false, true, true},
                                    {"i16", 2, false, true, true},
                                    {"i32", 4, false, true, true},
                                    {"i64", 8, false, true, true},
                                    {"u8", 1, false, true, false},
                                    {"u16", 2, false, true, false},
                                    {"u32", 4, false, true, false},
                                    {"u64", 8, false, true, false},
                                    {"bool", 1, false, false, false},
                                    {"f8e4m3fn", 1, false, false, true, 8},
                                    {"f8e4m3fnuz", 1, false, false, true, 8},
                                    {"f8e5m2", 1, false, false, true, 8},
                                    {"f8e5m2fnuz", 1, false, false, true, 8},
                                    {"f8e8m0", 1, false, false, false, 8},
                                    {"f4e2m1", 1, false, false, true, 4},
                                    {"i4", 1, false, false, true, 4},
                                    {"u4", 1, false, false, false, 4},
                                    {"i2", 1, false, false, true, 2},
                                    {"u2", 1, false, false, false, 2}};

const Row& row(DType type) {
  return kRows[static_cast<int>(type)];
}

// The least power of two that is no smaller; signs are dropped.
uint8_t power_of_two_byte(float value) {
  if (std::isnan(value)) return 0xff;
  constexpr int kMost = 0xfe, kBias = 127;
  const float magnitude = std::fabs(value);
  if (value == 0) return 0;
  if (std::isinf(value)) return kMost;
  int exponent;  // of a fraction in [1/2, 1)
  const float fraction = std::frexp(magnitude, &exponent);
  return static_cast<uint8_t>(std::clamp(exponent - (fraction <= 0.5F ? 1 : 0) + kBias, 0, kMost));
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

bool is_storage(DType type) {
  return row(type).bits != 0;
}
int storage_bits(DType storage) {
  return row(storage).bits;
}
DType carrier(DType storage) {
  return storage == DType::i4 || storage == DType::i2 ? DType::i8 : DType::u8;
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

SmallFormat small_format(DType storage) {
  if (storage == DType::f8e4m3fn) return {4, 3, 7, 0x7e, 0x7f};
  if (storage == DType::f8e4m3fnuz) return {4, 3, 8, 0x7f, 0x80, -1, false};
  if (storage == DType::f8e5m2) return {5, 2, 15, 0x7b, 0x7f, 0x7c};
  if (storage == DType::f8e5m2fnuz) return {5, 2, 16, 0x7f, 0x80, -1, false};
  if (storage == DType::f4e2m1) return {2, 1, 1, 0x07};
  return {};
}

double stored_value(DType storage, uint8_t byte) {
  if (storage == DType::f8e8m0)  // a power of two
    return byte == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, byte - 127);
  const SmallFormat format = small_format(storage);
  if (format.exponent_bits == 0) {
    const int unused = 8 - row(storage).bits;
    const auto high = static_cast<uint8_t>(byte << unused);
    return is_signed(storage) ? static_cast<int8_t>(high) >> unused : high >> unused;
  }
  const int bits = 1 + format.exponent_bits + format.mantissa_bits;
  const uint8_t sign = static_cast<uint8_t>(byte >> (bits - 1)) & 1;
  const int magnitude = byte & ((1 << (bits - 1)) - 1);
  if (byte == format.nan || magnitude == format.nan || (format.infinity >= 0 && magnitude > format.infinity))
    return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == format.infinity)
    return sign != 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const int exponent = magnitude >> format.mantissa_bits,
            mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
  const int whole = exponent == 0 ? mantissa : mantissa + (1 << format.mantissa_bits);
  const double value = std::ldexp(whole, (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits);
  return sign != 0 ? -value : value;
}

uint8_t stored_byte(DType storage, double value, bool saturate) {
  if (storage == DType::f8e8m0) return power_of_two_byte(static_cast<float>(value));
  const SmallFormat format = small_format(storage);
  if (format.exponent_bits == 0) {
    const auto byte = static_cast<uint8_t>(std::fabs(value) < 0x1p62 ? static_cast<int64_t>(value) : 0);
    return static_cast<uint8_t>(static_cast<int>(stored_value(storage, byte)));
  }
  if (std::isnan(value)) return static_cast<uint8_t>(format.of_nan());
  const double magnitude = std::fabs(value);
  const int least = 1 - format.bias;  // the exponent of the smallest normal number
  int code = format.most + 1;
  if (magnitude < 0x1p100) {
    const int exponent = magnitude == 0 ? least : std::max(least, std::ilogb(magnitude));
    const double mantissa = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
    code = static_cast<int>(mantissa) + ((exponent - least) << format.mantissa_bits);
  }
  if (code > format.most) code = saturate ? format.most : format.overflow();
  const int sign_bit = 1 << (format.exponent_bits + format.mantissa_bits);
  const bool keeps_sign = std::signbit(value) && code < sign_bit && (code != 0 || format.negative_zero);
  return static_cast<uint8_t>(keeps_sign ? code | sign_bit : code);
}

}  // namespace korch
