// Which bounds get a plan of their own.
#include <gtest/gtest.h>

#include "korch/driver/merged_plan.h"

namespace korch {
namespace {

using BoundsOfPlans = std::vector<std::map<std::string, int64_t>>;

TEST(PlanBounds, HalvesThatSaveMost) {
  EXPECT_EQ(plan_bounds({{"n", 1, 16, {}}}),
            (BoundsOfPlans{{{"n", 16}}, {{"n", 4}}, {{"n", 2}}, {{"n", 8}}, {{"n", 1}}}));
  EXPECT_EQ(plan_bounds({{"n", 12, 64, {}}}), (BoundsOfPlans{{{"n", 64}}, {{"n", 32}}, {{"n", 16}}}));
  EXPECT_EQ(plan_bounds({{"n", 32, 160, {}}}),
            (BoundsOfPlans{{{"n", 160}}, {{"n", 64}}, {{"n", 96}}, {{"n", 32}}}));
  EXPECT_EQ(plan_bounds({{"n", 1, 2, {}}, {"m", 5, 7, {}}}),
            (BoundsOfPlans{{{"m", 7}, {"n", 2}}, {{"m", 7}, {"n", 1}}}));
  EXPECT_EQ(plan_bounds({{"n", 0, 1, {}}}), (BoundsOfPlans{{{"n", 1}}}));
  EXPECT_EQ(plan_bounds({{"n", 1, 4096, {}}}).size(), kMostPlans);
}

TEST(PlanBounds, BothSidesOfAnImage) {
  const BoundsOfPlans bounds = plan_bounds({{"h", 64, 320, {}}, {"w", 64, 320, {}}});
  EXPECT_EQ(bounds.size(), kMostPlans);
  for (const auto& plan : bounds) EXPECT_EQ(plan.at("h") % 64 + plan.at("w") % 64, 0);
  // Whatever the extents, some plan takes little more than they are.
  for (int64_t h = 64; h <= 320; ++h)
    for (int64_t w = 64; w <= 320; ++w) {
      double least = 1e9;
      for (const auto& plan : bounds)
        if (plan.at("h") >= h && plan.at("w") >= w)
          least =
              std::min(least, static_cast<double>(plan.at("h") * plan.at("w")) / static_cast<double>(h * w));
      ASSERT_LT(least, 5) << h << " x " << w;
    }
}

TEST(PlanBounds, ManyDimensions) {
  std::vector<OpenDimension> many;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"})
    many.push_back({name, 1, 64, {}});
  EXPECT_LE(plan_bounds(many).size(), kMostPlans);
  EXPECT_EQ(stated_dimensions({{"x", {8, 3, 64}}, {"n", {4}}}, {{"x", {1, 3, 32}}}).size(), 2u);
}

}  // namespace
}  // namespace korch
