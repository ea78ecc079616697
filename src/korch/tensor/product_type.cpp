#include "korch/tensor/product_type.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "korch/tensor/dtype.h"

namespace korch {
namespace {

constexpr ProductType kProductTypes[] = {ProductType::f32, ProductType::tf32, ProductType::f16,
                                         ProductType::bf16};

}  // namespace

const char* name(ProductType type) {
  static constexpr const char* kNames[] = {"f32", "tf32", "f16", "bf16"};
  return kNames[static_cast<int>(type)];
}

std::optional<ProductType> product_type_named(std::string_view text) {
  for (ProductType type : kProductTypes)
    if (text == name(type)) return type;
  return std::nullopt;
}

float rounded_to(ProductType type, float value) {
  constexpr uint32_t kHalf = 1u << 12, kKept = ~((1u << 13) - 1);
  switch (type) {
    case ProductType::f32:
      return value;
    case ProductType::tf32:
      return std::isfinite(value) ? std::bit_cast<float>((std::bit_cast<uint32_t>(value) + kHalf) & kKept)
                                  : value;
    case ProductType::f16:
      return half_to_float(float_to_half(value));
    case ProductType::bf16:
      return bfloat16_to_float(float_to_bfloat16(value));
  }
  return value;
}

}  // namespace korch
