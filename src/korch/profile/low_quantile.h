// What costs hardly fall below: the 5 % quantile of cost / estimate, learned from how far costs were from
// estimates, and calibrated on networks that nothing of it was learned from (split-conformal: a network's own
// kernels are alike, so rows of it never stand on both sides).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "korch/estimate/lightgbm.h"
#include "korch/estimate/tree_model.h"

namespace korch {

constexpr double kLowShare = 0.05;

// A measured cost against its estimate.
struct Residual {
  std::string network;
  const Features* features;
  double log_ratio = 0;  // ln(cost / estimate)
};

// How many costs of a network were below their quantiles.
struct NetworkAudit {
  std::string network;
  int rows = 0, below = 0;
  double share() const { return rows > 0 ? static_cast<double>(below) / rows : 0; }
};

// Of a share that was seen, where the true one is with 95 % (Wilson's interval).
struct ShareInterval {
  double least = 0, most = 1;
};
ShareInterval interval_of(const NetworkAudit& audit);

// `log_lows`: of each residual, its quantile. In the order of names.
std::vector<NetworkAudit> audits_of(const std::vector<Residual>& residuals,
                                    const std::vector<double>& log_lows);

struct CalibratedLow {
  LowQuantile low;
  std::vector<NetworkAudit> held_out;  // each network by quantiles that know the other ones alone
};
// LightGbm::train.
using LearnTrees =
    std::function<std::vector<RegressionTree>(const std::vector<TrainingRow>&, const BoostOptions&)>;
CalibratedLow calibrate_low(const std::vector<Residual>& residuals, const LearnTrees& learn);

// Which of so many parts a network is in, when each part in turn is held out.
constexpr int kHeldOutParts = 5;
std::vector<int> parts_by_network(const std::vector<std::string>& networks);

}  // namespace korch
