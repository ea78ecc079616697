#include "korch/profile/low_quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace korch {
namespace {

// Kernels of two kinds (the first feature), one with four times the spread of the other; the second feature
// is the network's number.
struct MadeUpCosts {
  explicit MadeUpCosts(int networks, int rows_of_each) : features(networks * rows_of_each) {
    std::mt19937 random(1);
    for (int i = 0; i < networks * rows_of_each; ++i) {
      const int network = i / rows_of_each, kind = i % 2;
      // Nearly uniform: the standard library's distributions are not the same everywhere.
      const double from_0_to_1 = (random() >> 8) / double(1 << 24);
      features[i].resize(feature_names().size());
      features[i][0] = static_cast<float>(kind);
      features[i][1] = static_cast<float>(network);
      residuals.push_back(
          {"net" + std::to_string(network), &features[i], (from_0_to_1 - 0.5) * (kind ? 0.8 : 0.2)});
    }
  }
  std::vector<Features> features;
  std::vector<Residual> residuals;
};

// Of each kind the quantile that its rows have; notes whose rows it saw.
struct Learner {
  std::vector<RegressionTree> learn(const std::vector<TrainingRow>& rows, const BoostOptions& options) {
    std::vector<std::vector<double>> of_kind(2);
    std::set<float> networks;
    for (const TrainingRow& row : rows) {
      of_kind[static_cast<size_t>(row.features[0])].push_back(row.target);
      networks.insert(row.features[1]);
    }
    saw.push_back(networks);
    RegressionTree tree{{0}, {-1}, {-2}, {0.5F}, {}};
    for (std::vector<double>& targets : of_kind) {
      std::ranges::sort(targets);
      tree.leaf.push_back(
          static_cast<float>(targets[static_cast<size_t>(options.quantile * targets.size())]));
    }
    return {tree};
  }
  std::vector<std::set<float>> saw;
};

CalibratedLow calibrated(const MadeUpCosts& costs, Learner& learner) {
  return calibrate_low(costs.residuals,
                       [&](const std::vector<TrainingRow>& rows, const BoostOptions& options) {
                         return learner.learn(rows, options);
                       });
}

TEST(LowQuantile, OneInTwentyIsBelowOnNetworksThatAreHeldOut) {
  const MadeUpCosts costs(20, 400);
  Learner learner;
  const CalibratedLow made = calibrated(costs, learner);
  EXPECT_EQ(made.low.rows, 8000);
  EXPECT_EQ(made.low.networks, 20);
  ASSERT_EQ(made.held_out.size(), 20U);
  for (const NetworkAudit& audit : made.held_out) {
    EXPECT_EQ(audit.rows, 400);
    EXPECT_NEAR(audit.share(), 0.05, 0.03) << audit.network;
  }
  // Each kind has its own: uniform on 0.8 or 0.2, so 0.45 of that below the middle.
  TreeModel model;
  model.low = made.low;
  EXPECT_NEAR(model.log_low(costs.features[1]), -0.36, 0.02);
  EXPECT_NEAR(model.log_low(costs.features[0]), -0.09, 0.01);
}

// No row of a network is on the side that judges it and on the side that is learned from.
TEST(LowQuantile, NetworksAreHeldOutWhole) {
  const MadeUpCosts costs(10, 40);
  Learner learner;
  calibrated(costs, learner);
  ASSERT_EQ(learner.saw.size(), 6U);  // each fifth without, then all
  std::multiset<float> unseen;
  for (int part = 0; part < kHeldOutParts; ++part) {
    EXPECT_EQ(learner.saw[static_cast<size_t>(part)].size(), 8U);
    for (float network = 0; network < 10; ++network)
      if (learner.saw[static_cast<size_t>(part)].count(network) == 0) unseen.insert(network);
  }
  EXPECT_EQ(unseen, (std::multiset<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(learner.saw[5].size(), 10U);
}

// What was learned of a spread that has grown since is shifted until it fits.
TEST(LowQuantile, TheShiftMakesUpForTreesThatAreWrong) {
  const MadeUpCosts costs(20, 200);
  const CalibratedLow made =
      calibrate_low(costs.residuals, [](const std::vector<TrainingRow>&, const BoostOptions&) {
        return std::vector<RegressionTree>{{{}, {}, {}, {}, {-5.0F}}};
      });
  int rows = 0, below = 0;
  for (const NetworkAudit& audit : made.held_out) rows += audit.rows, below += audit.below;
  EXPECT_NEAR(static_cast<double>(below) / rows, 0.05, 0.01);
  EXPECT_GT(made.low.shift, 4);
}

TEST(LowQuantile, IntervalsOfFewRowsAreWide) {
  const ShareInterval few = interval_of({"a", 20, 1}), many = interval_of({"b", 2000, 100});
  EXPECT_NEAR(few.least, 0.009, 0.001);
  EXPECT_NEAR(few.most, 0.236, 0.001);
  EXPECT_NEAR(many.least, 0.041, 0.001);
  EXPECT_NEAR(many.most, 0.060, 0.001);
  EXPECT_EQ(interval_of({"c", 0, 0}).most, 1);
}

}  // namespace
}  // namespace korch
