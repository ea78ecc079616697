#include "korch/profile/low_quantile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace korch {
namespace {

// Few and small: what is learned is how the spread differs by kinds of kernels, from a twentieth of the rows.
constexpr BoostOptions kLowTrees = {
    .trees = 60, .leaves = 8, .least_rows = 60, .rate = 0.1, .quantile = kLowShare};

std::map<std::string, int> rows_of_networks(const std::vector<Residual>& residuals) {
  std::map<std::string, int> rows;
  for (const Residual& residual : residuals) ++rows[residual.network];
  return rows;
}

std::vector<RegressionTree> trees_of(const LearnTrees& learn, const std::vector<const Residual*>& residuals) {
  std::vector<TrainingRow> rows;
  for (const Residual* residual : residuals) rows.push_back({*residual->features, residual->log_ratio, 1});
  return learn(rows, kLowTrees);
}

// What a twentieth of the scores is below, each network counting as much as any other.
double shift_of(std::vector<std::pair<double, double>> scores_and_weights) {
  std::ranges::sort(scores_and_weights);
  double all = 0, below = 0;
  for (const auto& [score, weight] : scores_and_weights) all += weight;
  for (const auto& [score, weight] : scores_and_weights) {
    below += weight;
    if (below > kLowShare * all) return score;
  }
  return 0;
}

}  // namespace

ShareInterval interval_of(const NetworkAudit& audit) {
  constexpr double kZ = 1.96;
  if (audit.rows == 0) return {};
  const double n = audit.rows, share = audit.share(), scale = 1 + kZ * kZ / n,
               middle = (share + kZ * kZ / (2 * n)) / scale,
               half = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n)) / scale;
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

std::vector<NetworkAudit> audits_of(const std::vector<Residual>& residuals,
                                    const std::vector<double>& log_lows) {
  std::map<std::string, NetworkAudit> audits;
  for (size_t i = 0; i < residuals.size(); ++i) {
    NetworkAudit& audit = audits[residuals[i].network];
    audit.network = residuals[i].network;
    ++audit.rows;
    audit.below += residuals[i].log_ratio < log_lows[i];
  }
  std::vector<NetworkAudit> list;
  for (auto& [network, audit] : audits) list.push_back(std::move(audit));
  return list;
}

std::vector<int> parts_by_network(const std::vector<std::string>& networks) {
  std::map<std::string, int> part_of;
  for (const std::string& network : networks) part_of[network] = 0;
  int next = 0;
  for (auto& [network, part] : part_of) part = next++ % kHeldOutParts;
  std::vector<int> parts;
  for (const std::string& network : networks) parts.push_back(part_of.at(network));
  return parts;
}

CalibratedLow calibrate_low(const std::vector<Residual>& residuals, const LearnTrees& learn) {
  std::vector<std::string> networks;
  for (const Residual& residual : residuals) networks.push_back(residual.network);
  const std::vector<int> parts = parts_by_network(networks);
  const std::map<std::string, int> rows_of = rows_of_networks(residuals);
  // Each row by trees that do not know its network.
  std::vector<double> said(residuals.size());
  for (int part = 0; part < kHeldOutParts; ++part) {
    std::vector<const Residual*> others;
    for (size_t i = 0; i < residuals.size(); ++i)
      if (parts[i] != part) others.push_back(&residuals[i]);
    const std::vector<RegressionTree> trees = trees_of(learn, others);
    for (size_t i = 0; i < residuals.size(); ++i)
      if (parts[i] == part) said[i] = sum_of(trees, *residuals[i].features);
  }
  const auto shift_without = [&](int part) {
    std::vector<std::pair<double, double>> scores;
    for (size_t i = 0; i < residuals.size(); ++i)
      if (parts[i] != part)
        scores.emplace_back(residuals[i].log_ratio - said[i], 1.0 / rows_of.at(residuals[i].network));
    return shift_of(std::move(scores));
  };
  CalibratedLow calibrated;
  std::vector<double> log_lows(residuals.size());
  for (int part = 0; part < kHeldOutParts; ++part) {
    const double shift = shift_without(part);
    for (size_t i = 0; i < residuals.size(); ++i)
      if (parts[i] == part) log_lows[i] = std::min(0.0, said[i] + shift);
  }
  calibrated.held_out = audits_of(residuals, log_lows);
  std::vector<const Residual*> all;
  for (const Residual& residual : residuals) all.push_back(&residual);
  calibrated.low = {static_cast<int>(residuals.size()), static_cast<int>(rows_of.size()), shift_without(-1),
                    trees_of(learn, all)};
  return calibrated;
}

}  // namespace korch
