// Extents of open dimensions, and which of them fit.
#include "korch/tensor/open_dimension.h"

#include <gtest/gtest.h>

namespace korch {
namespace {

using Steps = std::vector<ExtentSteps>;

TEST(OpenDimension, NumbersAsSteps) {
  EXPECT_EQ(as_steps({}), Steps{});
  EXPECT_EQ(as_steps({5}), (Steps{{5, 5, 1}}));
  EXPECT_EQ(as_steps({2, 4, 6, 8}), (Steps{{2, 8, 2}}));
  EXPECT_EQ(as_steps({1, 2, 3, 10, 20, 30}), (Steps{{1, 3, 1}, {10, 30, 10}}));
  EXPECT_EQ(to_string(as_steps({2, 4, 6, 8})), "2, 4, 6, 8");
  EXPECT_EQ(to_string(as_steps({2, 4, 6, 8, 10})), "2, 4, 6, 8, ...");
  EXPECT_EQ(to_string(as_steps({2, 3, 4, 5, 9})), "2..5, 9");
}

TEST(OpenDimension, NumbersWithinSteps) {
  const OpenDimension n{"n", 1, 9, {{0, 0}}, {}, {{2, 8, 2}}};
  for (int64_t extent = 0; extent < 12; ++extent)
    EXPECT_EQ(fits(n, extent), extent >= 2 && extent <= 8 && extent % 2 == 0) << extent;
  EXPECT_EQ(fitting_up_to(n, 9), 8);
  EXPECT_EQ(fitting_up_to(n, 5), 4);
  EXPECT_EQ(fitting_up_to(n, 1), 2);
  EXPECT_EQ(fitting_up_to({"m", 3, 7, {{0, 0}}}, 9), 7);
}

// A sum follows; where it would be too large, or between two that fit, a term is smaller.
TEST(OpenDimension, SumsThatFit) {
  const OpenDimension a{"a", 1, 8, {{0, 0}}}, b{"b", 1, 8, {{1, 0}}};
  OpenDimension whole{"whole", 2, 16, {{2, 0}}, ExtentSum{0, {{0, 1}, {1, 1}}}};
  EXPECT_EQ(fitting_extents({a, b, whole}, {8, 8, 1}), (std::vector<int64_t>{8, 8, 16}));
  whole.most = 10;
  EXPECT_EQ(fitting_extents({a, b, whole}, {8, 8, 1}), (std::vector<int64_t>{8, 2, 10}));
  whole.fitting = {{4, 8, 4}};
  EXPECT_EQ(fitting_extents({a, b, whole}, {3, 8, 1}), (std::vector<int64_t>{3, 5, 8}));
}

}  // namespace
}  // namespace korch
