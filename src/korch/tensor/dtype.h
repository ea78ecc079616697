// Element types. `bool_` is stored as one byte, 0 or 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace korch {

enum class DType : uint8_t { f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64, bool_ };
constexpr int kDTypeCount = 13;

size_t size_bytes(DType type);
const char* name(DType type);                          // "f32", "bool", ...
bool parse_dtype(std::string_view text, DType* type);  // false when unknown
bool is_float(DType type);
bool is_small_float(DType type);  // f16 or bf16
bool is_integer(DType type);      // bool is not an integer
bool is_signed(DType type);

// IEEE half and bfloat16 as their bits; conversion rounds to nearest even.
float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);
float bfloat16_to_float(uint16_t bits);
uint16_t float_to_bfloat16(float value);

}  // namespace korch
