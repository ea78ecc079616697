// What a product of float32 operands multiplies: float32 itself, or numbers of fewer bits that the operands
// are rounded to. The sums are float32.
#pragma once

#include <optional>
#include <string_view>

namespace korch {

// Bits of a number: f32 24, tf32 and f16 11, bf16 8. The exponents of tf32 and bf16 are those of f32.
enum class ProductType { f32, tf32, f16, bf16 };

const char* name(ProductType type);
std::optional<ProductType> product_type_named(std::string_view name);

// To the nearest number of the type; between two, tf32 away from zero and others to the even one. What is
// beyond the range becomes an infinity.
float rounded_to(ProductType type, float value);

}  // namespace korch
