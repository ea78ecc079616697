#include "korch/tensor/host_tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace korch {
namespace {

HostTensor doubles(const std::vector<double>& values) {
  return HostTensor::of<double>(DType::f64, {static_cast<int64_t>(values.size())}, values);
}

TEST(Converted, FloatsToIntegersTruncateAndWrap) {
  EXPECT_EQ(as_int_vector(converted(doubles({2.7, -2.7, 300, -1}), DType::i8)),
            (std::vector<int64_t>{2, -2, 44, -1}));
  EXPECT_EQ(as_int_vector(converted(doubles({255.9}), DType::u8)), (std::vector<int64_t>{255}));
  const HostTensor large = converted(doubles({0x1p63}), DType::u64);
  EXPECT_EQ(large.data<uint64_t>()[0], uint64_t{1} << 63);
  const auto lowest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(as_int_vector(converted(doubles({NAN, 1e300}), DType::i64)),
            (std::vector<int64_t>{lowest, lowest}));
}

std::vector<DType> stored_types() {
  std::vector<DType> types;
  for (int i = 0; i < kDTypeCount; ++i)
    if (is_storage(static_cast<DType>(i))) types.push_back(static_cast<DType>(i));
  return types;
}

TEST(StoredTypes, EveryNumberIsItself) {
  for (DType type : stored_types()) {
    int numbers = 0;
    for (int code = 0; code < 1 << storage_bits(type); ++code) {
      const auto byte = static_cast<uint8_t>(code);
      const double value = stored_value(type, byte);
      if (std::isnan(value)) continue;
      ++numbers;
      const uint8_t back = stored_byte(type, value, std::isfinite(value));
      EXPECT_EQ(back & ((1 << storage_bits(type)) - 1), code) << name(type);
      EXPECT_EQ(stored_value(type, back), value) << name(type);
    }
    EXPECT_GE(numbers, (1 << storage_bits(type)) - 6) << name(type);
  }
}

TEST(StoredTypes, KnownNumbers) {
  EXPECT_EQ(stored_value(DType::f8e4m3fn, 0x7e), 448);
  EXPECT_TRUE(std::isnan(stored_value(DType::f8e4m3fn, 0xff)));
  EXPECT_EQ(stored_value(DType::f8e4m3fnuz, 0x7f), 240);
  EXPECT_TRUE(std::isnan(stored_value(DType::f8e4m3fnuz, 0x80)));
  EXPECT_EQ(stored_value(DType::f8e5m2, 0x7b), 57344);
  EXPECT_EQ(stored_value(DType::f8e5m2, 0xfc), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(stored_value(DType::f8e5m2fnuz, 0x01), 0x1p-17);
  EXPECT_EQ(stored_value(DType::f8e8m0, 0), 0x1p-127);
  EXPECT_EQ(stored_value(DType::f4e2m1, 0x7), 6);
  EXPECT_EQ(stored_value(DType::i4, 0x8), -8);
  EXPECT_EQ(stored_value(DType::u2, 0x3), 3);
  EXPECT_EQ(stored_byte(DType::f8e8m0, 1.1), 128);
  EXPECT_EQ(stored_byte(DType::f8e8m0, -4), 129);
  EXPECT_EQ(stored_byte(DType::f8e8m0, 0), 0);
  EXPECT_EQ(stored_byte(DType::f8e8m0, 1e-45F), 0);
  EXPECT_EQ(stored_byte(DType::f8e8m0, 1e300), 0xfe);
  EXPECT_EQ(stored_byte(DType::f8e8m0, std::nan("")), 0xff);
  EXPECT_EQ(stored_byte(DType::i4, 9), 0xf9);  // -7
  EXPECT_EQ(stored_byte(DType::f8e4m3fn, 1e9), 0x7e);
  EXPECT_EQ(stored_byte(DType::f8e4m3fn, -1e9, false), 0xff);
  EXPECT_EQ(stored_byte(DType::f8e5m2, 1e9, false), 0x7c);
  EXPECT_EQ(stored_byte(DType::f8e5m2fnuz, -1e9, false), 0x80);
}

// Against all numbers of the type: none is nearer, and of two as near the even one is taken.
TEST(StoredTypes, FloatsGoToTheNearest) {
  for (DType type : stored_types()) {
    const SmallFormat format = small_format(type);
    if (format.exponent_bits == 0) continue;
    for (int code = 0; code < format.most; ++code) {
      const double low = stored_value(type, static_cast<uint8_t>(code)),
                   high = stored_value(type, static_cast<uint8_t>(code + 1)), middle = (low + high) / 2;
      EXPECT_EQ(stored_byte(type, middle), code + code % 2) << name(type) << " " << middle;
      EXPECT_EQ(stored_byte(type, std::nextafter(middle, low)), code) << name(type) << " " << middle;
      EXPECT_EQ(stored_byte(type, std::nextafter(middle, high)), code + 1) << name(type) << " " << middle;
    }
  }
}

TEST(Converted, IntegersKeepAllTheirBits) {
  const HostTensor wide = HostTensor::of<int64_t>(DType::i64, {2}, {(int64_t{1} << 53) + 1, -1});
  EXPECT_EQ(as_int_vector(converted(converted(wide, DType::u64), DType::i64)), as_int_vector(wide));
  EXPECT_EQ(as_int_vector(converted(wide, DType::i32)), (std::vector<int64_t>{1, -1}));
}

TEST(Converted, NonzeroIsTrue) {
  EXPECT_EQ(as_int_vector(converted(doubles({0, -0.0, 0.25, NAN}), DType::bool_)),
            (std::vector<int64_t>{0, 0, 1, 1}));
}

TEST(Converted, HalfTypesRoundToNearestEven) {
  const HostTensor values =
      doubles({1, 1 + 0x1p-11, 1 + 3 * 0x1p-11, 65519, 65520, 0x1p-25, 0x1.8p-25, -0x1p-24});
  const HostTensor half = converted(values, DType::f16);
  const std::vector<double> expected = {1, 1, 1 + 0x1p-9, 65504, INFINITY, 0, 0x1p-24, -0x1p-24};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(element_as_double(half, static_cast<int64_t>(i)), expected[i]) << i;
  const HostTensor brain = converted(doubles({1 + 0x1p-8, 1 + 3 * 0x1p-8, -3e38}), DType::bf16);
  EXPECT_EQ(element_as_double(brain, 0), 1);
  EXPECT_EQ(element_as_double(brain, 1), 1 + 0x1p-6);
  EXPECT_NEAR(element_as_double(brain, 2), -3e38, 1e36);
}

TEST(HalfToFloat, EveryPatternRoundTrips) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_float(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(float_to_half(value), bits);
  }
}

TEST(HostTensor, ReshapedSharesBytes) {
  const HostTensor tensor = doubles({1, 2, 3, 4});
  EXPECT_EQ(tensor.reshaped({2, 2}).raw(), tensor.raw());
  EXPECT_THROW(tensor.reshaped({3}), Error);
}

TEST(Shape, BroadcastsAndRefuses) {
  EXPECT_EQ(broadcast({2, 1, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast({1}, {0}), (Shape{0}));
  EXPECT_THROW(broadcast({2}, {3}), Error);
  EXPECT_THROW(element_count({int64_t{1} << 40, int64_t{1} << 40}), Error);
  EXPECT_EQ(element_count({}), 1);
}

}  // namespace
}  // namespace korch
