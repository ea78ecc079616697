#include "korch/variants/cover.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace korch::variants {
namespace {

using Table = std::vector<std::vector<double>>;

Table random_table(std::mt19937& random, size_t variants, size_t samples) {
  std::uniform_real_distribution<double> us(1, 10);
  Table table(variants, std::vector<double>(samples));
  for (auto& row : table)
    for (double& value : row) value = us(random) > 9.5 ? INFINITY : us(random);
  for (double& value : table[0]) value = 20;
  return table;
}

// Of all sets of so many with variant 0 in them.
double least_regret(const Table& us, size_t size) {
  double least = INFINITY;
  for (uint32_t set = 1; set < (1u << us.size()); set += 2) {
    std::vector<size_t> variants;
    for (size_t v = 0; v < us.size(); ++v)
      if ((set >> v & 1) != 0) variants.push_back(v);
    if (variants.size() == size) least = std::min(least, regret(us, variants));
  }
  return least;
}

TEST(Cover, RegretIsTheGeometricMeanOverTheSamples) {
  const Table us = {{2, 9}, {4, 3}, {INFINITY, 1}};
  EXPECT_DOUBLE_EQ(regret(us, {0}), 3);                // 1 and 9
  EXPECT_DOUBLE_EQ(regret(us, {0, 1}), std::sqrt(3));  // 1 and 3
  EXPECT_DOUBLE_EQ(regret(us, {0, 2}), 1);
  EXPECT_NEAR(regret(us, {2}), std::sqrt(kCannot), 1e-9);
}

TEST(Cover, IsTheBestOfItsSize) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 60; ++trial) {
    const Table us = random_table(random, 4 + static_cast<size_t>(trial) % 8, 6);
    for (size_t most = 1; most <= 4; ++most) {
      const Cover found = cover(us, {.most = most, .has_first = true, .free_regret = 0});
      ASSERT_LE(found.chosen.size(), most);
      EXPECT_EQ(found.chosen[0], 0u);
      EXPECT_TRUE(found.optimal);
      EXPECT_NEAR(found.regret, least_regret(us, found.chosen.size()), 1e-9);
      EXPECT_NEAR(found.regret, least_regret(us, std::min(most, us.size())), 1e-9);
    }
  }
}

TEST(Cover, GreedyReachesItsBound) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 20; ++trial) {
    const Table us = random_table(random, 200, 12);
    const Cover few = cover(us, {.most = 6, .has_first = true, .free_regret = 0});
    EXPECT_FALSE(few.optimal);
    // What six can gain is at most what all do.
    EXPECT_GE(std::log(regret(us, {0}) / few.regret), (1 - std::exp(-1.0)) * std::log(regret(us, {0})));
  }
}

TEST(Cover, TakesFewerWhereThatCostsNothing) {
  const Table us = {{10, 10, 10}, {1.001, 1.001, 1}, {1, 1, 1.02}, {5, 1, 5}};
  EXPECT_EQ(cover(us).chosen, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(cover(us, {.most = 16, .has_first = false, .free_regret = 0.01}).chosen,
            (std::vector<size_t>{1}));
  EXPECT_EQ(cover(us, {.most = 16, .has_first = true, .free_regret = 0}).chosen,
            (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(cover({{3, 3}, {4, 4}}).chosen, (std::vector<size_t>{0}));
}

}  // namespace
}  // namespace korch::variants
