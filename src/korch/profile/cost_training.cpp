#include "korch/profile/cost_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "korch/base/error.h"
#include "korch/codegen/kernel_spec.h"
#include "korch/estimate/lightgbm.h"
#include "korch/estimate/tile_features.h"

namespace korch {
namespace {

std::set<std::string> networks_of(const std::vector<CostRow>& rows) {
  std::set<std::string> networks;
  for (const CostRow& row : rows) networks.insert(row.conditions.network);
  return networks;
}

// The beginning's trees and further ones, or all that a model has.
std::vector<RegressionTree> trees_from(const LearnTrees& learn, const std::vector<const CostRow*>& rows,
                                       const std::optional<Beginning>& beginning) {
  // What is missed has less to it than a cost.
  constexpr BoostOptions kFurther = {.trees = 100, .leaves = 15, .rate = 0.1};
  std::vector<TrainingRow> training;
  for (const CostRow* row : rows) {
    const Features& features = row->conditions.features;
    const double known = beginning ? beginning->model.log_factor(features) : 0;
    training.push_back({features, log_factor(*row) - known, weight_of(*row)});
  }
  if (!beginning) return learn(training, {});
  std::vector<RegressionTree> trees = beginning->model.trees;
  for (RegressionTree& further : learn(training, kFurther)) {
    for (float& leaf : further.leaf) leaf *= static_cast<float>(beginning->share);
    trees.push_back(std::move(further));
  }
  return trees;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

std::vector<FamilyScore> scores_of_families(const std::vector<CostRow>& rows,
                                            const std::vector<double>& magnitudes) {
  std::map<std::string, std::vector<double>> by_family;
  for (size_t i = 0; i < rows.size(); ++i) by_family[family_of(rows[i])].push_back(magnitudes[i]);
  std::vector<FamilyScore> scores;
  for (const auto& [family, errors] : by_family)
    scores.push_back({family, static_cast<int>(errors.size()), quantile(errors, 0.5)});
  std::ranges::stable_sort(scores, std::greater(), &FamilyScore::rows);
  return scores;
}

// `estimates`: of ln(cost / bound), of each row.
CostScore score_from(const std::vector<CostRow>& rows, const std::vector<double>& estimates) {
  constexpr double kDiffers = 0.05;
  CostScore score;
  score.rows = static_cast<int>(rows.size());
  score.networks = static_cast<int>(networks_of(rows).size());
  std::vector<double> errors, magnitudes;
  double sum = 0, squares = 0, error_squares = 0;
  std::map<std::string, std::vector<size_t>> by_candidate;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double is = log_factor(rows[i]), error = is - estimates[i];
    errors.push_back(error);
    magnitudes.push_back(std::abs(error));
    sum += is;
    squares += is * is;
    error_squares += error * error;
    by_candidate[candidate_of(rows[i])].push_back(i);
  }
  const auto count = static_cast<double>(std::max<size_t>(1, rows.size()));
  score.rmse = std::sqrt(error_squares / count);
  const double variance = squares / count - (sum / count) * (sum / count);
  score.r2 = variance > 0 ? 1 - error_squares / count / variance : 0;
  score.middle_error = quantile(magnitudes, 0.5);
  score.least = quantile(errors, 0.05);
  score.families = scores_of_families(rows, magnitudes);
  const auto us = [&](size_t i) { return rows[i].cost.us; };
  const auto estimate = [&](size_t i) { return estimates[i] + std::log(rows[i].conditions.bound_us); };
  double regret = 0;
  for (const auto& [candidate, members] : by_candidate) {
    if (members.size() < 2) continue;
    for (size_t a = 0; a < members.size(); ++a)
      for (size_t b = 0; b < a; ++b) {
        if (std::abs(std::log(us(members[a]) / us(members[b]))) < kDiffers) continue;
        ++score.pairs;
        score.right_pairs +=
            (us(members[a]) < us(members[b])) == (estimate(members[a]) < estimate(members[b]));
      }
    const size_t best = *std::ranges::min_element(members, {}, us),
                 chosen = *std::ranges::min_element(members, {}, estimate);
    ++score.choices;
    score.right_choices += best == chosen;
    regret += us(chosen) / us(best) - 1;
  }
  score.regret = score.choices > 0 ? regret / score.choices : 0;
  return score;
}

// Those of its draft, and those that the text of its tile graph tells; nothing where the database has no
// text.
std::optional<Features> features_of(const CostConditions& conditions, Database& database) {
  const auto text = [&](const std::string& hex) -> std::optional<std::string> {
    const std::optional<Hash> hash = hash_from_hex(hex);
    return hash ? database.get_text(*hash) : std::nullopt;
  };
  const std::optional<std::string> spec = text(conditions.spec), device = text(conditions.device);
  if (!spec || !device || conditions.feature_set != kFeatureSet ||
      conditions.features.size() != draft_features())
    return std::nullopt;
  try {
    Features features = conditions.features;
    const std::vector<float> more =
        tile_features(tiles_of(*spec), device_from_text(*device), conditions.bound_us);
    features.insert(features.end(), more.begin(), more.end());
    return features;
  } catch (const Error&) {
    return std::nullopt;
  }
}

LearnTrees learning_by(const LightGbm& lightgbm) {
  return [&lightgbm](const std::vector<TrainingRow>& rows, const BoostOptions& options) {
    return lightgbm.train(rows, options);
  };
}

void require_enough(const CostSet& costs) {
  constexpr size_t kLeastRows = 200;
  const std::set<std::string> networks = networks_of(costs.rows);
  if (costs.rows.size() < kLeastRows || networks.size() < kHeldOutParts)
    throw Error(
        ErrorKind::usage,
        fmt::format("{} costs of {} networks are too few to learn from; {} of {} are the least (korch costs "
                    "measure NETWORK)",
                    costs.rows.size(), networks.size(), kLeastRows, kHeldOutParts));
}

// Of a whole kernel, measured as this program measures, and no other number than kernels have.
bool is_to_learn_from(const Cost& cost, const CostConditions& conditions) {
  constexpr double kMost = 20;  // |ln(cost / bound)|
  return conditions.part.empty() && conditions.protocol == kCostProtocol && conditions.bound_us > 0 &&
         cost.us > 0 && std::abs(std::log(cost.us / conditions.bound_us)) < kMost;
}

}  // namespace

double log_factor(const CostRow& row) {
  return std::log(row.cost.us / row.conditions.bound_us);
}

double weight_of(const CostRow& row) {
  return (row.cost.care == Care::quick ? 0.5 : 1) * (row.conditions.disturbed.empty() ? 1 : 0.25);
}

std::string candidate_of(const CostRow& row) {
  const CostConditions& c = row.conditions;
  return fmt::format("{}|{}|{}|{}", c.network, c.device, c.primitives, c.arguments);
}

std::string family_of(const CostRow& row) {
  const std::string& implementation = row.conditions.implementation;
  return implementation.substr(0, implementation.find_first_of("( "));
}

CostSet costs_to_learn_from(Database& database, const std::vector<std::string>& without, bool only) {
  CostSet set;
  for (const Hash& key : database.described_costs()) {
    std::optional<CostConditions> conditions = database.get_conditions(key);
    const std::optional<Cost> cost = database.get_cost(key);
    if (!conditions || !cost) continue;
    if ((std::ranges::find(without, conditions->network) != without.end()) != only) continue;
    if (std::optional<Features> features =
            is_to_learn_from(*cost, *conditions) ? features_of(*conditions, database) : std::nullopt) {
      conditions->features = std::move(*features);
      set.rows.push_back({key, *cost, std::move(*conditions)});
    } else {
      ++set.left_out;
    }
  }
  return set;
}

CostScore score_of(const TreeModel& model, const CostSet& costs) {
  std::vector<double> estimates;
  for (const CostRow& row : costs.rows) estimates.push_back(model.log_factor(row.conditions.features));
  return score_from(costs.rows, estimates);
}

std::vector<Residual> residuals_of(const TreeModel& model, const CostSet& costs) {
  std::vector<Residual> residuals;
  for (const CostRow& row : costs.rows)
    residuals.push_back({row.conditions.network, &row.conditions.features,
                         log_factor(row) - model.log_factor(row.conditions.features)});
  return residuals;
}

Trained train_by(const LearnTrees& learn, const CostSet& costs, const std::optional<Beginning>& beginning) {
  // Whole networks are held out: kernels of one network are alike.
  std::vector<std::string> networks;
  for (const CostRow& row : costs.rows) networks.push_back(row.conditions.network);
  const std::vector<int> parts = parts_by_network(networks);
  std::vector<double> estimates(costs.rows.size());
  std::vector<Residual> residuals;
  for (int part = 0; part < kHeldOutParts; ++part) {
    std::vector<const CostRow*> rows;
    for (size_t i = 0; i < costs.rows.size(); ++i)
      if (parts[i] != part) rows.push_back(&costs.rows[i]);
    const std::vector<RegressionTree> trees = trees_from(learn, rows, beginning);
    for (size_t i = 0; i < costs.rows.size(); ++i) {
      if (parts[i] != part) continue;
      const CostRow& row = costs.rows[i];
      estimates[i] = sum_of(trees, row.conditions.features);
      residuals.push_back({networks[i], &row.conditions.features, log_factor(row) - estimates[i]});
    }
  }
  Trained trained;
  trained.held_out = score_from(costs.rows, estimates);
  std::vector<const CostRow*> all;
  for (const CostRow& row : costs.rows) all.push_back(&row);
  TreeModel& model = trained.model;
  model.trees = trees_from(learn, all, beginning);
  model.protocol = kCostProtocol;
  model.rows = trained.held_out.rows + (beginning ? beginning->model.rows : 0);
  // The names of those that the beginning knows are in no file: at least so many.
  model.networks = std::max(trained.held_out.networks, beginning ? beginning->model.networks : 0);
  model.spread = trained.held_out.middle_error;
  CalibratedLow low = calibrate_low(residuals, learn);
  model.low = std::move(low.low);
  trained.audits = std::move(low.held_out);
  return trained;
}

Trained train(const CostSet& costs, const std::string& lightgbm, const std::optional<Beginning>& beginning) {
  require_enough(costs);
  const LightGbm library(lightgbm);
  return train_by(learning_by(library), costs, beginning);
}

Trained calibrate(TreeModel model, const CostSet& costs, const std::string& lightgbm) {
  require_enough(costs);
  const LightGbm library(lightgbm);
  Trained trained;
  trained.held_out = score_of(model, costs);
  CalibratedLow low = calibrate_low(residuals_of(model, costs), learning_by(library));
  model.low = std::move(low.low);
  trained.audits = std::move(low.held_out);
  trained.model = std::move(model);
  return trained;
}

}  // namespace korch
