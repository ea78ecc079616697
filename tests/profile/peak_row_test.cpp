// Which of many samples counts, what a machine can do at most, and which of two measurements is kept.
#include "korch/profile/peak_row.h"

#include <gtest/gtest.h>

namespace korch {
namespace {

constexpr MachineLoad kCalm{.cpus = 2};
constexpr MachineLoad kBusy{.cpus = 2, .others_cpus = 1.5};

// Two workers on cores of 3 GHz with two units of 8 lanes: 96 flops per ns each.
PeakSamples samples(double speed) {
  PeakSamples s;
  const auto fill = [&](SpeedSamples& samples, double worker) {
    for (const double part : {0.4, 0.97, 1.0, 0.99, 0.5}) samples.total.push_back(part * speed * 2 * worker);
    samples.worker = worker;  // alone in its best stretch, however slow the two are together
  };
  fill(s.flops, 95e3);
  s.flops.what = "arithmetic";
  for (const auto& [what, speed_of_one] :
       {std::pair{"L1", 150e3}, {"L2", 100e3}, {"L3", 50e3}, {"memory", 15e3}}) {
    fill(s.bytes.emplace_back(), speed_of_one);
    s.bytes.back().what = what;
  }
  s.cycles_per_us = 3000;
  s.workers = 2;
  s.lanes = 8;
  return s;
}

TEST(PeakSamples, AgreeWhenTheBestWasMetMoreThanOnce) {
  EXPECT_TRUE(agree({1, 100, 95, 93}));
  EXPECT_FALSE(agree({1, 100, 95, 60}));
  EXPECT_FALSE(agree({100, 60, 60, 60, 60, 60}));
  EXPECT_FALSE(agree({100, 100}));
  EXPECT_FALSE(agree(std::vector<double>{}));
}

TEST(Peaks, OfACalmMachineAreTheBestSamples) {
  const PeakRow row = row_of(samples(1), kCalm, 5);
  EXPECT_EQ(row.disturbed, "");
  EXPECT_EQ(row.measured_at_s, 5);
  EXPECT_NEAR(row.observed.flops_per_us, 190e3, 1);
  ASSERT_EQ(row.observed.bytes_per_us.size(), 4u);
  for (const auto& [level, speed] : {std::pair{0, 300e3}, {1, 200e3}, {2, 100e3}, {3, 30e3}})
    EXPECT_NEAR(row.observed.bytes_per_us[level], speed, 1);
  const Peaks peaks = peaks_of(row);
  EXPECT_NEAR(peaks.flops_per_us / row.observed.flops_per_us, 1.15, 1e-9);
  EXPECT_NEAR(peaks.bytes_per_us[3] / row.observed.bytes_per_us[3], 1.15, 1e-9);
}

// Noise makes samples slower: what is proven from them is never above what a calm machine proves.
TEST(Peaks, OfABusyMachineAreNotLowerThanThoseOfACalmOne) {
  const Peaks calm = peaks_of(row_of(samples(1), kCalm, 5));
  for (const double speed : {1.0, 0.9, 0.6, 0.5}) {
    const PeakRow row = row_of(samples(speed), kBusy, 5);
    EXPECT_EQ(row.disturbed, "other programs used 1.5 of 2 processors");
    const Peaks busy = peaks_of(row);
    EXPECT_GE(busy.flops_per_us, calm.flops_per_us) << speed;
    for (size_t level = 0; level < 3; ++level)
      EXPECT_GE(busy.bytes_per_us[level], calm.bytes_per_us[level]) << speed;
  }
}

TEST(Peaks, SamplesThatDisagreeAreSaid) {
  PeakSamples s = samples(1);
  s.bytes[2].total[2] *= 2;
  EXPECT_EQ(row_of(s, kCalm, 5).disturbed, "the best speed of L3 was met only once");
  s = samples(1);
  s.bytes[3].total[2] *= 2;
  EXPECT_FALSE(agree(s));
  EXPECT_EQ(row_of(s, kCalm, 5).disturbed, "");
}

TEST(Peaks, LessThanHalfOfWhatTheCyclesAllowIsSomebodyElsesDoing) {
  PeakSamples s = samples(1);
  for (double& rate : s.flops.total) rate *= 0.3;
  EXPECT_EQ(row_of(s, kCalm, 5).disturbed, "multiply-adds reached 30 % of what these cores can do");
  for (double& rate : s.flops.total) rate *= 0.5 / 0.3;  // two workers share a core's units
  EXPECT_EQ(row_of(s, kCalm, 5).disturbed, "");
}

TEST(FlopsAtMost, AreThoseOfWholeUnits) {
  PeakSamples s = samples(1);
  EXPECT_NEAR(flops_at_most(s), 192e3, 1e-6);  // 2 units x 8 lanes x 2 x 3 GHz x 2 workers
  s.flops.worker = 47e3;                       // one unit
  EXPECT_NEAR(flops_at_most(s), 96e3, 1e-6);
  s.flops.worker = 49e3;  // one unit, and a clock that rose a little
  EXPECT_NEAR(flops_at_most(s), 96e3, 1e-6);
  s.flops.worker = 60e3;  // two units that were disturbed
  EXPECT_NEAR(flops_at_most(s), 192e3, 1e-6);
  s.flops.worker = 500e3;
  EXPECT_NEAR(flops_at_most(s), 192e3, 1e-6);
}

TEST(NearestAtMost, IsAWholeNumberOfVectorsPerCycle) {
  PeakSamples s = samples(1);
  for (const double per_cycle : {33.7, 50.0, 63.9, 64.0, 65.0}) {
    s.bytes[0].worker = per_cycle * s.cycles_per_us;
    EXPECT_NEAR(nearest_bytes_at_most(s), 2 * 64 * s.cycles_per_us, 1e-6) << per_cycle;
  }
}

TEST(PeakRow, ALaterMeasurementNeverLowersAKnownPeak) {
  const PeakRow fast = row_of(samples(1), kBusy, 5), slow = row_of(samples(0.5), kBusy, 9);
  for (const PeakRow& row : {better(fast, slow), better(slow, fast)}) {
    EXPECT_EQ(row.observed.flops_per_us, fast.observed.flops_per_us);
    EXPECT_EQ(row.observed.bytes_per_us, fast.observed.bytes_per_us);
    EXPECT_EQ(row.measured_at_s, 9);
    EXPECT_NE(row.disturbed, "");
  }
  const PeakRow calm = row_of(samples(0.9), kCalm, 7);
  const PeakRow both = better(fast, calm);
  EXPECT_NEAR(peaks_of(both).bytes_per_us[0], 1.15 * fast.observed.bytes_per_us[0], 1);
  EXPECT_EQ(both.disturbed, "");
  EXPECT_EQ(both.observed.flops_per_us, fast.observed.flops_per_us);
}

TEST(PeakRow, IsMeasuredAgainWhenItWasDisturbedAWhileAgo) {
  const PeakRow disturbed = row_of(samples(1), kBusy, 1000);
  EXPECT_FALSE(is_to_repeat(disturbed, 1010));
  EXPECT_TRUE(is_to_repeat(disturbed, 1100));
  EXPECT_TRUE(is_to_repeat(disturbed, 500));  // the clock was set
  EXPECT_FALSE(is_to_repeat(row_of(samples(1), kCalm, 1000), 1100));
}

TEST(PeakRow, IsRaisedToWhatKernelsReached) {
  const PeakRow row = row_of(samples(0.8), kCalm, 5);
  Peaks reached = peaks_of(row);
  reached.flops_per_us *= 1.2;
  reached.bytes_per_us[1] *= 0.5;
  const Peaks raised = peaks_of(raised_to(row, reached));
  EXPECT_NEAR(raised.flops_per_us, reached.flops_per_us, 1);
  EXPECT_NEAR(raised.bytes_per_us[1], peaks_of(row).bytes_per_us[1], 1);
}

Peaks times(Peaks peaks, double factor) {
  peaks.flops_per_us *= factor;
  for (double& speed : peaks.bytes_per_us) speed *= factor;
  peaks.launch_us /= factor;
  return peaks;
}

TEST(PeakRow, IsRaisedByLittleAtATime) {
  const PeakRow row = row_of(samples(0.3), kCalm, 5);
  const PeakRow raised = raised_to(row, times(peaks_of(row), 3));
  EXPECT_NEAR(raised.observed.flops_per_us / row.observed.flops_per_us, 1.25, 1e-9);
  for (size_t level = 0; level < 4; ++level)
    EXPECT_NEAR(raised.observed.bytes_per_us[level] / row.observed.bytes_per_us[level], 1.25, 1e-9);
  EXPECT_NEAR(raised.observed.launch_us * 1.25, row.observed.launch_us, 1e-9);
}

// However often: multiply-adds to what whole units do, copies to what L1 does at most.
TEST(PeakRow, IsNeverRaisedAboveWhatTheCyclesAllow) {
  for (const MachineLoad& load : {kCalm, kBusy}) {
    const PeakRow row = row_of(samples(0.8), load, 5);
    PeakRow raised = row;
    for (int i = 0; i < 50; ++i) raised = raised_to(raised, times(peaks_of(raised), 2));
    EXPECT_EQ(raised.at_most.flops_per_us, row.at_most.flops_per_us);
    EXPECT_EQ(raised.at_most.bytes_per_us[0], row.at_most.bytes_per_us[0]);
    EXPECT_EQ(raised.observed.flops_per_us, row.at_most.flops_per_us);
    for (const double speed : raised.observed.bytes_per_us) EXPECT_EQ(speed, row.at_most.bytes_per_us[0]);
  }
}

TEST(PeakRow, OutlivesItsText) {
  const PeakRow row = row_of(samples(1), kBusy, 1234567890123);
  const std::optional<PeakRow> read = peak_row_from_text(to_text(row));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(to_text(*read), to_text(row));
}

TEST(PeakRow, OfAnotherFormIsNone) {
  const std::string good = to_text(row_of(samples(1), kBusy, 5));
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string text = good;
    const size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), instead);
  };
  EXPECT_TRUE(peak_row_from_text(good).has_value());
  EXPECT_FALSE(peak_row_from_text(with(",30000.0]", ",-1.0]")).has_value());
  EXPECT_FALSE(peak_row_from_text(with(",30000.0]", ",1e999]")).has_value());
  EXPECT_FALSE(peak_row_from_text(with("\"bytes\"", "\"dram\"")).has_value());
  EXPECT_FALSE(peak_row_from_text(with("other programs", "\\u001b[31m")).has_value());
  EXPECT_FALSE(peak_row_from_text(with("\"measured_at\":5", "\"measured_at\":\"5\"")).has_value());
  EXPECT_FALSE(peak_row_from_text(with("\"bytes\":[", "\"bytes\":[[],")).has_value());
  EXPECT_FALSE(
      peak_row_from_text(R"({"observed":[],"at_most":1,"disturbed":"","measured_at":5})").has_value());
  // As older versions wrote them: three levels under the names of others.
  EXPECT_FALSE(peak_row_from_text(R"({"flops":1,"l2":1,"l3":1,"dram":1,"launch":1})").has_value());
}

}  // namespace
}  // namespace korch
