#include "korch/tensor/product_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace korch {
namespace {

TEST(ProductType, NamesAreRead) {
  for (ProductType type : {ProductType::f32, ProductType::tf32, ProductType::f16, ProductType::bf16})
    EXPECT_EQ(product_type_named(name(type)), type);
  EXPECT_EQ(product_type_named("f64"), std::nullopt);
}

TEST(ProductType, KeepsSoManyBits) {
  EXPECT_EQ(rounded_to(ProductType::f32, 1 + 0x1p-23F), 1 + 0x1p-23F);
  EXPECT_EQ(rounded_to(ProductType::tf32, 1 + 0x1p-10F), 1 + 0x1p-10F);
  EXPECT_EQ(rounded_to(ProductType::tf32, 1 + 0x1p-11F), 1 + 0x1p-10F);  // away from zero
  EXPECT_EQ(rounded_to(ProductType::tf32, -1 - 0x1p-12F), -1);
  EXPECT_EQ(rounded_to(ProductType::f16, 1 + 0x1p-11F), 1);  // to the even one
  EXPECT_EQ(rounded_to(ProductType::f16, 1 + 3 * 0x1p-11F), 1 + 0x1p-9F);
  EXPECT_EQ(rounded_to(ProductType::bf16, 1 + 0x1p-7F), 1 + 0x1p-7F);
  EXPECT_EQ(rounded_to(ProductType::bf16, 1 + 0x1p-8F), 1);
}

TEST(ProductType, Ranges) {
  constexpr float kMost = std::numeric_limits<float>::max(),
                  kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(rounded_to(ProductType::f16, 70000), kInfinity);
  EXPECT_EQ(rounded_to(ProductType::tf32, 70000), 70016);
  EXPECT_EQ(rounded_to(ProductType::tf32, kMost), kInfinity);
  EXPECT_EQ(rounded_to(ProductType::tf32, -kInfinity), -kInfinity);
  EXPECT_TRUE(std::isnan(rounded_to(ProductType::tf32, std::nanf(""))));
}

}  // namespace
}  // namespace korch
