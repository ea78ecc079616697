// What learned bounds say of kernels of one kind: layout changes, each of which could take 100 us at best.
#include "korch/search/learned_bounds.h"

#include <gtest/gtest.h>

namespace korch {
namespace {

constexpr int kReorders = 6;

Columns reorders() {
  Columns columns;
  columns.infos.resize(kReorders);
  columns.problem.columns.resize(kReorders);
  for (ColumnInfo& info : columns.infos) {
    info.kind = ColumnInfo::Kind::reorder;
    info.bound_us = 100;
  }
  return columns;
}

class LearnedBoundsOfReorders : public ::testing::Test {
 protected:
  Graph graph_;
  Columns columns_ = reorders();
  LearnedBounds bounds_{graph_, columns_, std::vector<double>(kReorders, 0)};
};

TEST_F(LearnedBoundsOfReorders, StayAnalyticUntilEnoughWasSeen) {
  for (int column = 0; column < 3; ++column) bounds_.observe(column, 200);
  EXPECT_EQ(bounds_.bound_us(5), 100);
  bounds_.observe(3, 200);
  EXPECT_GT(bounds_.bound_us(5), 150);
  EXPECT_LT(bounds_.bound_us(5), 200);
}

TEST_F(LearnedBoundsOfReorders, FallWithTheFastest) {
  for (int column = 0; column < 4; ++column) bounds_.observe(column, 200);
  const double before_us = bounds_.bound_us(5);
  bounds_.observe(4, 150);
  EXPECT_LT(bounds_.bound_us(5), before_us);
}

TEST_F(LearnedBoundsOfReorders, FallWithABetterMeasurement) {
  for (int column = 0; column < 4; ++column) bounds_.observe(column, 200);
  const double before_us = bounds_.bound_us(5);
  bounds_.correct(2, 110);
  EXPECT_LT(bounds_.bound_us(5), before_us);
}

TEST_F(LearnedBoundsOfReorders, TellWhatWasProbablyDisturbed) {
  bounds_.observe(0, 400);
  EXPECT_FALSE(bounds_.is_unusual(0)) << "nothing to compare it with";
  for (int column = 1; column < 4; ++column) bounds_.observe(column, 200);
  EXPECT_TRUE(bounds_.is_unusual(0));
  EXPECT_FALSE(bounds_.is_unusual(1));
  EXPECT_FALSE(bounds_.is_unusual(5)) << "nobody has looked at it";
  bounds_.correct(0, 210);
  EXPECT_FALSE(bounds_.is_unusual(0));
}

}  // namespace
}  // namespace korch
