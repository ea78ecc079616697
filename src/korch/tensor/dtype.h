// Element types. `bool_` is stored as one byte, 0 or 1. The last ten are storage: moved and cast, never
// computed with; each element is a byte, that of f8 and f4 its bits, that of i4 and i2 sign-extended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace korch {

enum class DType : uint8_t {
  f32,
  f64,
  f16,
  bf16,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  bool_,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  f8e8m0,
  f4e2m1,
  i4,
  u4,
  i2,
  u2
};
constexpr int kDTypeCount = 23;

size_t size_bytes(DType type);
const char* name(DType type);                          // "f32", "bool", ...
bool parse_dtype(std::string_view text, DType* type);  // false when unknown
bool is_float(DType type);
bool is_small_float(DType type);  // f16 or bf16
bool is_integer(DType type);      // bool is not an integer
bool is_signed(DType type);
bool is_storage(DType type);
int storage_bits(DType storage);  // that an element has
DType carrier(DType storage);     // i8 of i4 and i2, else u8: what kernels move in its place

// IEEE half and bfloat16 as their bits; conversion rounds to nearest even.
float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);
float bfloat16_to_float(uint16_t bits);
uint16_t float_to_bfloat16(float value);

// A float in few bits: sign, exponent, mantissa (OCP 8-bit floating point specification; the `uz` ones have
// no -0, and its bits are the only NaN). Without exponent bits the type is no such float.
struct SmallFormat {
  int exponent_bits = 0, mantissa_bits = 0, bias = 0;
  uint8_t most = 0;             // bits of the largest number
  int nan = -1, infinity = -1;  // bits; -1: there is none
  bool negative_zero = true;
  // Bits of a number beyond the largest one, unless it becomes the largest one.
  int overflow() const { return infinity >= 0 ? infinity : nan >= 0 ? nan : most; }
  // Bits that stand in for NaN; -0 where there is none.
  int of_nan() const { return nan >= 0 ? nan : 1 << (exponent_bits + mantissa_bits); }
};
SmallFormat small_format(DType storage);
constexpr int kStorageCodes = 256;
// What a byte stands for; of integers as many bits as they have.
double stored_value(DType storage, uint8_t byte);
// The nearest number, half to even; beyond the largest one it, or `overflow`. Integers are truncated, wrap.
// Of f8e8m0, without signs and 0, the next power of two that is no less than the magnitude, or the largest.
uint8_t stored_byte(DType storage, double value, bool saturate = true);

}  // namespace korch
