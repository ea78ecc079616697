// Which bounds get a plan of their own, and for which runs.
#include "korch/driver/plan_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "korch/base/error.h"
#include "korch/driver/run_estimates.h"

namespace korch {
namespace {

using Extents = std::vector<int64_t>;

double product(const Extents& extents) {
  double time = 1;
  for (const int64_t extent : extents) time *= static_cast<double>(std::max<int64_t>(extent, 1));
  return time;
}

std::vector<PlanBounds> built_in(const std::vector<OpenDimension>& dimensions, const TimeOf& time_of) {
  return plan_bounds(dimensions, likely_runs(dimensions, {}, ""), time_of);
}

const OpenDimension kSeq = {"seq", 1, 256, {}}, kPast = {"past", 0, 511, {}};

// Tokens cost as much as the weights from 40 on, the cache little.
double decoder_us(const Extents& extents) {
  const auto seq = static_cast<double>(extents[0]), past = static_cast<double>(extents[1]);
  return 17e3 * std::max(1 + 0.01 * seq, seq / 40) + 0.05 * seq * (past + seq) + 2 * past;
}

TEST(PlanBounds, TheLargestComesFirstAndNoneComesTwice) {
  const std::vector<PlanBounds> bounds = built_in({kSeq}, product);
  EXPECT_EQ(bounds[0], (PlanBounds{{"seq", 256}}));
  EXPECT_LE(bounds.size(), kMostPlans);
  for (size_t a = 0; a < bounds.size(); ++a)
    for (size_t b = a + 1; b < bounds.size(); ++b) EXPECT_NE(bounds[a], bounds[b]);
  EXPECT_NE(std::ranges::find(bounds, PlanBounds{{"seq", 1}}), bounds.end());
}

TEST(PlanBounds, ASingleTokenHasAPlanForAnyCache) {
  const std::vector<PlanBounds> bounds = built_in({kSeq, kPast}, decoder_us);
  EXPECT_TRUE(std::ranges::any_of(
      bounds, [](const PlanBounds& plan) { return plan.at("seq") <= 4 && plan.at("past") == 511; }));
}

TEST(PlanBounds, NoneWhereTimeDoesNotGrow) {
  EXPECT_EQ(built_in({kSeq, kPast}, [](const Extents&) { return 5.0; }).size(), 1u);
  for (const PlanBounds& plan : built_in({kSeq, kPast}, [](const Extents& e) { return product({e[0]}); }))
    EXPECT_EQ(plan.at("past"), 511);
}

TEST(PlanBounds, WhereRunsAre) {
  const std::vector<OpenDimension> dimensions = {kSeq, kPast};
  const auto at = [&](const std::vector<std::string>& texts) {
    return plan_bounds(dimensions, likely_runs(dimensions, texts, ""), product);
  };
  EXPECT_EQ(at({"seq=1,past=300"}),
            (std::vector<PlanBounds>{{{"seq", 256}, {"past", 511}}, {{"seq", 1}, {"past", 300}}}));
  EXPECT_EQ(at({"seq=5,past=300:3", "past=17,seq=100"}).size(), 3u);
  // What comes rarely is not worth a plan.
  EXPECT_EQ(at({"seq=5,past=300:1e9", "seq=100,past=17"}).size(), 2u);
}

TEST(PlanBounds, BothSidesOfAnImage) {
  const std::vector<PlanBounds> bounds = built_in({{"h", 64, 320, {}}, {"w", 64, 320, {}}}, product);
  EXPECT_GT(bounds.size(), 3u);
  for (const PlanBounds& plan : bounds) EXPECT_EQ(plan.at("h") % 64 + plan.at("w") % 64, 0);
}

// Each sequence has slices of its own, so fewer of them need no plan.
TEST(PlanBounds, OfSequencesAllTogether) {
  const std::vector<OpenDimension> dimensions = {{"batch", 1, 4, {{0, 0}}}, {"seq", 1, 64, {{0, 1}}}};
  const std::vector<PlanBounds> bounds = built_in(dimensions, product);
  EXPECT_GT(bounds.size(), 1u);
  for (const PlanBounds& plan : bounds) EXPECT_EQ(plan.at("batch"), 4);
}

TEST(PlanBounds, WhatFollowsIsTheSum) {
  OpenDimension total = {"total", 1, 767, {}};
  total.sum = ExtentSum{0, {{0, 1}, {1, 1}}};
  const std::vector<OpenDimension> dimensions = {kSeq, kPast, total};
  const std::vector<PlanBounds> bounds = built_in(dimensions, decoder_us);
  EXPECT_GT(bounds.size(), 2u);
  for (const PlanBounds& plan : bounds) EXPECT_EQ(plan.at("total"), plan.at("seq") + plan.at("past"));
}

TEST(PlanBounds, ManyDimensions) {
  std::vector<OpenDimension> many;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"})
    many.push_back({name, 1, 64, {}});
  EXPECT_LE(built_in(many, product).size(), kMostPlans);
}

TEST(PlanBounds, LeastExtentsAreAboveOtherPlans) {
  const std::vector<PlanBounds> all = {
      {{"seq", 256}, {"past", 511}}, {{"seq", 1}, {"past", 511}}, {{"seq", 64}, {"past", 0}}};
  const std::vector<OpenDimension> dimensions = {kSeq, kPast};
  EXPECT_EQ(plan_leasts(all[0], all, dimensions, decoder_us), (PlanBounds{{"seq", 2}, {"past", 0}}));
  EXPECT_EQ(plan_leasts(all[1], all, dimensions, decoder_us), (PlanBounds{{"seq", 1}, {"past", 0}}));
  EXPECT_EQ(plan_leasts(all[2], all, dimensions, decoder_us), (PlanBounds{{"seq", 2}, {"past", 0}}));
}

TEST(ExtentLevels, HalvesAndTheLeast) {
  EXPECT_EQ(extent_levels({"n", 1, 16, {}}), (Extents{16, 8, 4, 2, 1}));
  EXPECT_EQ(extent_levels({"n", 0, 3, {}}), (Extents{3, 1, 0}));
  EXPECT_EQ(extent_levels({"n", 12, 64, {}}), (Extents{64, 32, 16, 12}));
  EXPECT_EQ(extent_levels({"n", 32, 160, {}}), (Extents{160, 96, 64, 32}));
}

TEST(LikelyRuns, OneTokenCountsThreeTimes) {
  double least = 0, all = 0;
  for (const LikelyRun& run : likely_runs({kSeq}, {}, "")) {
    all += run.weight;
    if (run.extents[0] == 1) least += run.weight;
  }
  EXPECT_NEAR(all, 1, 1e-9);
  EXPECT_NEAR(least, 3.0 / 11, 1e-9);
}

// A cache is filled by one prompt, then by single tokens, and has each length.
TEST(LikelyRuns, ACacheBeginsEmpty) {
  double long_ones = 0, tokens = 0, first = 0, later = 0;
  for (const LikelyRun& run : likely_runs({kSeq, kPast}, {}, "")) {
    const bool is_token = run.extents[0] == 1;
    if (is_token) tokens += run.weight;
    if (is_token && run.extents[1] == 511) long_ones += run.weight;
    if (!is_token) (run.extents[1] == 0 ? first : later) += run.weight;
  }
  EXPECT_GT(long_ones, 0.25 * tokens);
  EXPECT_GT(first, later);
}

TEST(LikelyRuns, ARunMayLeaveDimensionsOut) {
  const std::vector<LikelyRun> runs = likely_runs({kSeq, kPast}, {"seq=7:2"}, "");
  double all = 0;
  for (const LikelyRun& run : runs) {
    EXPECT_EQ(run.extents[0], 7);
    all += run.weight;
  }
  EXPECT_EQ(runs.size(), extent_levels(kPast).size());
  EXPECT_NEAR(all, 2, 1e-9);
}

TEST(LikelyRuns, AFileOfRuns) {
  const std::string path = testing::TempDir() + "likely_runs.txt";
  std::ofstream(path) << "# a sample\nseq=1,past=300\n\n seq=64, past=0:0.5  # prompts\n";
  const std::vector<LikelyRun> runs = likely_runs({kSeq, kPast}, {}, path);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].extents, (Extents{1, 300}));
  EXPECT_EQ(runs[1].extents, (Extents{64, 0}));
  EXPECT_EQ(runs[1].weight, 0.5);
  std::remove(path.c_str());
}

std::string failure_of(const std::vector<std::string>& at, const std::string& file = "") {
  OpenDimension total = {"total", 1, 767, {}};
  total.sum = ExtentSum{0, {{0, 1}, {1, 1}}};
  try {
    likely_runs({kSeq, kPast, total}, at, file);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::usage ? error.what() : "another kind";
  }
  return "none";
}

TEST(LikelyRuns, WhatIsNoRunIsRefused) {
  EXPECT_EQ(failure_of({"seq=1,past=3,total=4"}), "none");
  EXPECT_EQ(failure_of({"seq=1,past=3,total=5"}), "at: 'seq=1,past=3,total=5': total must be 4");
  EXPECT_EQ(failure_of({"seq=257"}), "at: 'seq=257': seq is 1..256, not '257'");
  EXPECT_EQ(failure_of({"seq=0"}), "at: 'seq=0': seq is 1..256, not '0'");
  EXPECT_EQ(failure_of({"seq=1.5"}), "at: 'seq=1.5': seq is 1..256, not '1.5'");
  EXPECT_EQ(failure_of({"seq=1,seq=1"}), "at: 'seq=1,seq=1': seq is there twice");
  EXPECT_EQ(failure_of({"n=1"}), "at: 'n=1': no dimension 'n' is open; there are seq, past, total");
  EXPECT_EQ(failure_of({"seq=1:0"}), "at: 'seq=1:0': a weight is a number above 0");
  EXPECT_EQ(failure_of({"seq=1:nan"}), "at: 'seq=1:nan': a weight is a number above 0");
  EXPECT_EQ(failure_of({""}), "at: '': a run is NAME=EXTENT,NAME=EXTENT, or with :WEIGHT behind it");
  EXPECT_EQ(failure_of({"seq=1,"}),
            "at: 'seq=1,': a run is NAME=EXTENT,NAME=EXTENT, or with :WEIGHT behind it");
  EXPECT_EQ(failure_of({}, "/nowhere/runs.txt"), "runs: cannot read '/nowhere/runs.txt'");
}

TEST(RunEstimates, ExactWhereEstimatedAndBetweenOthers) {
  const RunEstimates estimates({kSeq, kPast}, [](const PlanBounds& e) -> std::optional<double> {
    return decoder_us({e.at("seq"), e.at("past")});
  });
  for (const int64_t seq : {1, 256})
    for (const int64_t past : {0, 511})
      EXPECT_NEAR(estimates.us({seq, past}) / decoder_us({seq, past}), 1, 1e-9);
  for (const int64_t seq : {1, 2, 9, 40, 100, 256})
    for (const int64_t past : {0, 5, 100, 511})
      EXPECT_NEAR(std::log(estimates.us({seq, past}) / decoder_us({seq, past})), 0, 0.6)
          << seq << " " << past;
}

TEST(RunEstimates, InProportionWhereThereAreNone) {
  const RunEstimates estimates({kSeq}, [](const PlanBounds&) { return std::nullopt; });
  EXPECT_NEAR(estimates.us({256}) / estimates.us({1}), 257.0 / 2, 1e-6);
}

TEST(RunEstimates, OfManyDimensionsEachAlone) {
  std::vector<OpenDimension> many;
  for (const char* name : {"a", "b", "c", "d"}) many.push_back({name, 1, 63, {}});
  int asked = 0;
  const RunEstimates estimates(many, [&](const PlanBounds& e) -> std::optional<double> {
    ++asked;
    return product({e.at("a"), e.at("b"), e.at("c"), e.at("d")});
  });
  EXPECT_EQ(asked, 5);
  EXPECT_NEAR(estimates.us({1, 1, 63, 63}), 63 * 63, 1e-6);
}

}  // namespace
}  // namespace korch
