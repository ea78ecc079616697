#include "korch/profile/cost_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "korch/base/error.h"
#include "korch/base/json.h"
#include "korch/profile/costs_table.h"

namespace korch {
namespace {

// Of `network`: ways of one candidate. The first feature is ln(cost / bound), but for `error`.
void put_costs(Database& database, const std::string& network, const std::vector<double>& factors,
               double error = 0) {
  for (size_t i = 0; i < factors.size(); ++i) {
    CostConditions conditions;
    conditions.protocol = kCostProtocol;
    conditions.primitives = "Add";
    conditions.implementation = i < 2 ? "loop() rm->rm" : "reorder rm -> p10";
    conditions.arguments = "f32[4],";
    conditions.bound_us = 2;
    conditions.network = network;
    conditions.feature_set = kFeatureSet;
    conditions.features.resize(draft_features());
    for (const auto& [text, hash] :
         {std::pair(to_text(Device()), &conditions.device),
          std::pair(std::string("call library product () ()\n"), &conditions.spec)}) {
      database.put_text(hash_text(text), text);
      *hash = hash_text(text).hex();
    }
    conditions.features[0] = static_cast<float>(factors[i] + (i == 0 ? error : 0));
    const Hash key = hash_text(network + std::to_string(i));
    database.put_conditions(key, conditions);
    const double us = 2 * std::exp(factors[i]);
    database.put_cost(key, {us, us, us, 9, Care::thorough});
  }
}

// Says 0, 1 or 2: the nearest.
TreeModel steps() {
  TreeModel model;
  model.trees = {{{0, 0}, {-1, -2}, {1, -3}, {0.5f, 1.5f}, {0, 1, 2}}};
  return model;
}

TEST(CostTraining, ScoresWhatAModelSays) {
  Database database(":memory:");
  put_costs(database, "a", {0, 1, 2});
  put_costs(database, "b", {2, 0}, /*error=*/-2);  // takes the dear one for as cheap as the other
  const CostScore good = score_of(steps(), costs_to_learn_from(database, {"b"}));
  EXPECT_EQ(good.rows, 3);
  EXPECT_EQ(good.networks, 1);
  EXPECT_NEAR(good.rmse, 0, 1e-6);
  EXPECT_NEAR(good.r2, 1, 1e-6);
  EXPECT_EQ(good.pairs, 3);
  EXPECT_EQ(good.right_pairs, 3);
  EXPECT_EQ(good.right_choices, 1);
  EXPECT_EQ(good.regret, 0);
  ASSERT_EQ(good.families.size(), 2U);
  EXPECT_EQ(good.families[0].family, "loop");
  EXPECT_EQ(good.families[0].rows, 2);
  EXPECT_EQ(good.families[1].family, "reorder");
  const CostScore bad = score_of(steps(), costs_to_learn_from(database, {"b"}, /*only=*/true));
  EXPECT_EQ(bad.rows, 2);
  EXPECT_NEAR(bad.rmse, std::sqrt(2.0), 1e-6);
  EXPECT_EQ(bad.pairs, 1);
  EXPECT_EQ(bad.right_pairs, 0);
}

TEST(CostTraining, LeavesOutRowsThatTellNoFeatures) {
  Database database(":memory:");
  put_costs(database, "a", {0, 1});
  CostConditions older = *database.get_conditions(hash_text("a0")), part = older;
  CostConditions bare = older, broken = older;
  older.feature_set = kFeatureSet - 1;
  part.part = "|0 1 1 1";
  bare.spec = hash_text("a text that nobody has").hex();
  broken.spec = hash_text("kernel {").hex();
  database.put_text(hash_text("kernel {"), "kernel {");
  for (const auto& [name, conditions] : {std::pair("older", older), std::pair("part", part),
                                         std::pair("bare", bare), std::pair("broken", broken)}) {
    database.put_conditions(hash_text(name), conditions);
    database.put_cost(hash_text(name), {1, 1, 1, 1});
  }
  const CostSet set = costs_to_learn_from(database, {});
  EXPECT_EQ(set.rows.size(), 2u);
  EXPECT_EQ(set.left_out, 4);
}

// Of a newer korch, or of nobody: a model that learned from them would be wrong about all others.
TEST(CostTraining, LeavesOutRowsThatNoKernelHere) {
  Database database(":memory:");
  put_costs(database, "a", {0, 1});
  const CostConditions good = *database.get_conditions(hash_text("a0"));
  CostConditions newer = good, otherwise = good, longer = good, unbounded = good, undefined = good;
  newer.feature_set = kFeatureSet + 1;
  otherwise.protocol = kCostProtocol + 1;
  longer.features.push_back(1);
  unbounded.bound_us = 0;
  undefined.features[3] = std::numeric_limits<float>::quiet_NaN();
  int rows = 0;
  const auto put = [&](const CostConditions& conditions, double us) {
    const Hash key = hash_text("bad " + std::to_string(rows++));
    database.put_conditions(key, conditions);
    database.put_cost(key, {us, us, us, 9, Care::thorough});
  };
  for (const CostConditions& conditions : {newer, otherwise, longer, unbounded, undefined})
    put(conditions, 1);
  for (const double us :
       {0.0, -1.0, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    put(good, us);
  EXPECT_EQ(costs_to_learn_from(database, {}).rows.size(), 2U);
}

// As korch wrote them before it had features.
TEST(CostTraining, OlderRowsStayReadable) {
  CostConditions conditions;
  conditions.primitives = "Add";
  nlohmann::json json = nlohmann::json::parse(to_text(conditions));
  for (const char* field : {"feature_set", "features", "network"}) ASSERT_EQ(json.erase(field), 1U) << field;
  const std::optional<CostConditions> older = cost_conditions_from_text(json.dump());
  ASSERT_TRUE(older.has_value());
  EXPECT_EQ(older->primitives, "Add");
  EXPECT_EQ(older->feature_set, 0);
  EXPECT_TRUE(older->features.empty());
}

// Fields of a line; commas within quotes are part of a field.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool within = false;
  for (const char c : line) {
    if (c == '"') within = !within;
    if (c == ',' && !within)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

TEST(CostTraining, RowsAreATable) {
  Database database(":memory:");
  put_costs(database, "a \"b\", c", {0.5, 1.5, 2.5});
  put_costs(database, "d", {0.25});
  std::vector<std::vector<std::string>> lines;
  write_costs_table(costs_to_learn_from(database, {}), [&](std::string_view line) {
    EXPECT_TRUE(line.ends_with("\n"));
    lines.push_back(fields_of(std::string(line.substr(0, line.size() - 1))));
  });
  ASSERT_EQ(lines.size(), 5U);
  const std::vector<std::string>& head = lines[0];
  const auto column = [&](const std::string& name) {
    return static_cast<size_t>(std::ranges::find(head, name) - head.begin());
  };
  EXPECT_EQ(column("draft." + feature_names()[0]), 9U);
  EXPECT_EQ(head.back(), "tile." + feature_names().back());
  std::map<std::string, int> candidates, families;
  for (size_t i = 1; i < lines.size(); ++i) {
    ASSERT_EQ(lines[i].size(), 9 + feature_names().size());
    const double factor = std::stod(lines[i][column("log_factor")]);
    EXPECT_NEAR(std::stod(lines[i][9]), factor, 1e-6);
    EXPECT_NEAR(std::stod(lines[i][column("cost_us")]), 2 * std::exp(factor), 1e-6);
    EXPECT_EQ(lines[i][column("bound_us")], "2");
    EXPECT_EQ(lines[i][column("weight")], "1");
    EXPECT_EQ(lines[i][0], factor < 0.3 ? "\"d\"" : "\"a \"\"b\"\", c\"");
    ++candidates[lines[i][column("candidate")]];
    ++families[lines[i][column("family")]];
  }
  EXPECT_EQ(candidates.size(), 2U);
  EXPECT_EQ(families["\"loop\""], 3);
  EXPECT_EQ(families["\"reorder\""], 1);
}

// One leaf: the mean of the targets.
std::vector<RegressionTree> mean_of(const std::vector<TrainingRow>& rows, const BoostOptions&) {
  double sum = 0;
  for (const TrainingRow& row : rows) sum += row.target;
  return {{{}, {}, {}, {}, {static_cast<float>(sum / static_cast<double>(rows.size()))}}};
}

// What another machine's model misses is learned here, or half of it.
TEST(CostTraining, BeginsWithAModel) {
  Database database(":memory:");
  for (const char* network : {"a", "b", "c", "d", "e", "f"}) put_costs(database, network, {0, 1, 2});
  CostSet costs = costs_to_learn_from(database, {});
  for (CostRow& row : costs.rows) row.cost.us *= std::exp(0.5);  // on this machine
  const Features& first = costs.rows[0].conditions.features;
  for (const double share : {1.0, 0.5}) {
    SCOPED_TRACE(share);
    TreeModel known = steps();
    known.rows = 100;
    known.networks = 40;
    const double before = known.log_factor(first);
    const Trained trained = train_by(mean_of, costs, Beginning{known, share});
    EXPECT_EQ(trained.model.trees.size(), 2U);
    EXPECT_NEAR(trained.model.log_factor(first), before + share * 0.5, 1e-6);
    EXPECT_NEAR(trained.held_out.rmse, (1 - share) * 0.5, 1e-6);
    EXPECT_EQ(trained.held_out.rows, 18);
    EXPECT_EQ(trained.model.rows, 118);
    EXPECT_EQ(trained.model.networks, 40);
  }
  const Trained alone = train_by(mean_of, costs, {});
  EXPECT_EQ(alone.model.trees.size(), 1U);
  EXPECT_NEAR(alone.model.log_factor(first), 1.5, 1e-6);
}

TEST(CostTraining, AFewCostsAreTooFew) {
  Database database(":memory:");
  put_costs(database, "a", {0, 1, 2});
  try {
    train(costs_to_learn_from(database, {}), "");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("3 costs of 1 networks are too few"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace korch
