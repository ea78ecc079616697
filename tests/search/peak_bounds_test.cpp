// Lower bounds from a machine's peaks, and kernels that disprove the peaks.
#include "korch/search/peak_bounds.h"

#include <gtest/gtest.h>

namespace korch {
namespace {

Device target() {
  Device target;
  target.workers = 2;
  target.memory = {
      {"L1", 10, false, 100}, {"L2", 100, false, 50}, {"L3", 1000, true, 20}, {"memory", 0, true, 1}};
  target.flops_per_us = 1000;
  target.launch_us = 0.5;
  return target;
}

double bound_us(double flops, double bytes, const Device& device = target()) {
  return lower_bound_us(flops, bytes, device);
}

TEST(LowerBound, UsesTheSpeedOneLevelAboveTheOneThatBytesFit) {
  EXPECT_NEAR(bound_us(0, 200), 0.5 + 200 / 100.0, 1e-9);  // fits L2, may lie in L1
  EXPECT_NEAR(bound_us(0, 1000), 0.5 + 200 / 100.0 + 800 / 50.0, 1e-9);
  EXPECT_NEAR(bound_us(0, 5000), 0.5 + 200 / 100.0 + 800 / 50.0 + 4000 / 20.0, 1e-9);
  Device slow_memory = target();
  slow_memory.memory[3].bytes_per_us = 1e-3;
  EXPECT_EQ(bound_us(0, 5000, slow_memory), bound_us(0, 5000));
}

TEST(LowerBound, IsOfArithmeticOrOfBytes) {
  EXPECT_NEAR(bound_us(3000, 200), 0.5 + 3, 1e-9);
  EXPECT_NEAR(bound_us(1000, 200), 0.5 + 2, 1e-9);
}

TEST(LowerBound, GrowsWithBytesWhereAllL2CachesAreLargerThanL3) {
  Device many = target();
  many.workers = 64;
  EXPECT_LE(lower_bound_us(0, 6000, many), lower_bound_us(0, 7000, many));
  EXPECT_NEAR(lower_bound_us(0, 6400, many), 0.5 + 64, 1e-9);
}

Columns columns_of(std::vector<std::pair<double, double>> work, std::vector<double> cost_us) {
  Columns columns;
  for (size_t i = 0; i < work.size(); ++i) {
    ColumnInfo info;
    info.flops = work[i].first;
    info.bytes = work[i].second;
    info.bound_us = bound_us(info.flops, info.bytes);
    Column column;
    column.cost_us = cost_us[i];
    column.measured = true;
    columns.infos.push_back(info);
    columns.problem.columns.push_back(column);
  }
  return columns;
}

TEST(BeatenPeaks, AreNoneWhereEveryBoundHolds) {
  EXPECT_FALSE(beaten_peaks(columns_of({{3000, 0}, {0, 200}}, {3.5, 9}), target()).reached.has_value());
  Columns unmeasured = columns_of({{3000, 0}}, {1});
  unmeasured.problem.columns[0].measured = false;
  EXPECT_FALSE(beaten_peaks(unmeasured, target()).reached.has_value());
}

TEST(BeatenPeaks, AreRaisedUntilEveryBoundHolds) {
  const std::vector<std::pair<double, double>> work = {{3000, 0}, {0, 200}, {0, 5000}, {100, 10}};
  const std::vector<double> cost_us = {2, 1.5, 120, 0.4};
  const std::optional<Device> raised = beaten_peaks(columns_of(work, cost_us), target()).reached;
  ASSERT_TRUE(raised.has_value());
  for (size_t i = 0; i < work.size(); ++i)
    EXPECT_LE(bound_us(work[i].first, work[i].second, *raised), cost_us[i] * (1 + 1e-9)) << i;
  EXPECT_GE(raised->flops_per_us, target().flops_per_us);
  EXPECT_GE(raised->memory[0].bytes_per_us, target().memory[0].bytes_per_us);
  EXPECT_LE(raised->launch_us, target().launch_us);
}

TEST(BeatenPeaks, OfArithmeticLeaveTheCachesAlone) {
  const std::optional<Device> raised = beaten_peaks(columns_of({{3000, 0}}, {2.5}), target()).reached;
  ASSERT_TRUE(raised.has_value());
  EXPECT_NEAR(raised->flops_per_us, 1500, 1e-6);
  EXPECT_EQ(raised->memory[0].bytes_per_us, target().memory[0].bytes_per_us);
}

// A wrong count of operations, or a clock that stood still.
TEST(BeatenPeaks, WhatIsMoreThanTwiceAsFastIsNotBelieved) {
  const BeatenPeaks none = beaten_peaks(columns_of({{3000, 0}, {0, 200}}, {1.7, 0.001}), target());
  EXPECT_FALSE(none.reached.has_value());
  EXPECT_EQ(none.not_believed, (std::vector<int>{0, 1}));
  const BeatenPeaks some = beaten_peaks(columns_of({{3000, 0}, {3000, 0}}, {1, 2.5}), target());
  ASSERT_TRUE(some.reached.has_value());
  EXPECT_NEAR(some.reached->flops_per_us, 1500, 1e-6);
  EXPECT_EQ(some.not_believed, (std::vector<int>{0}));
}

}  // namespace
}  // namespace korch
