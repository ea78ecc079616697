#include "korch/estimate/tree_model.h"

#include <gtest/gtest.h>

#include "korch/base/error.h"
#include "korch/base/json.h"
#include "korch/estimate/lightgbm.h"

namespace korch {
namespace {

// Feature 1 at most 0.5: feature 0 at most -1.25: 0.25, else -0.75; else 1.5. And 0.125 for all.
TreeModel two_trees() {
  TreeModel model;
  model.protocol = 6;
  model.rows = 100;
  model.networks = 7;
  model.spread = 0.15;
  model.low = {50, 5, -0.5, {{{0}, {-1}, {-2}, {0}, {-0.25f, 0.75f}}}};
  model.trees = {{{1, 0}, {1, -2}, {-1, -3}, {0.5f, -1.25f}, {1.5f, 0.25f, -0.75f}},
                 {{}, {}, {}, {}, {0.125f}}};
  return model;
}

Features row(float zeroth, float first) {
  Features features(feature_names().size());
  features[0] = zeroth;
  features[1] = first;
  return features;
}

void expect_walks(const TreeModel& model) {
  EXPECT_EQ(model.log_factor(row(-1.25f, 0.5f)), 0.375);
  EXPECT_EQ(model.log_factor(row(-1.2f, 0.5f)), -0.625);
  EXPECT_EQ(model.log_factor(row(-2, 0.6f)), 1.625);
}

void expect_refused(const std::string& text, const std::string& why) {
  try {
    tree_model_from_text(text, "m.json", 6);
    ADD_FAILURE() << "taken: " << text.substr(0, 200);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    EXPECT_TRUE(std::string(error.what()).starts_with("m.json: ")) << error.what();
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

TEST(TreeModel, SumsTheLeavesThatFeaturesLeadTo) {
  expect_walks(two_trees());
}

TEST(TreeModel, ComesBackFromItsText) {
  const std::string text = to_text(two_trees());
  const TreeModel read = tree_model_from_text(text, "m.json", 6);
  expect_walks(read);
  EXPECT_EQ(to_text(read), text);
  EXPECT_EQ(read.networks, 7);
  EXPECT_EQ(read.low.networks, 5);
  EXPECT_EQ(read.log_low(row(-1, 0)), -0.75);
  EXPECT_EQ(read.log_low(row(1, 0)), 0);  // -0.5 + 0.75: an estimate is its quantile at most
}

// A walk must end, and within the tree.
TEST(TreeModel, HostileOnesAreRefused) {
  nlohmann::ordered_json good = nlohmann::ordered_json::parse(to_text(two_trees()));
  const auto with = [&](const char* list, size_t at, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json bad = good;
    bad["trees"][0][list][at] = value;
    return bad.dump();
  };
  expect_refused(with("less", 1, 0), "tree 0 is none");   // back to the root
  expect_refused(with("less", 1, 1), "tree 0 is none");   // to itself
  expect_refused(with("less", 0, 2), "tree 0 is none");   // behind the last node
  expect_refused(with("more", 0, -4), "tree 0 is none");  // behind the last leaf
  expect_refused(with("more", 0, -2147483648), "tree 0 is none");
  expect_refused(with("feature", 0, -1), "tree 0 is none");
  expect_refused(with("feature", 0, 100000), "tree 0 is none");
  expect_refused(with("leaf", 0, 1e30), "tree 0 is none");
  expect_refused(with("leaf", 0, "x"), "type must be number");
  expect_refused(with("at", 2, 1.0), "tree 0 is none");  // one too many
  expect_refused(with("at", 0, 1e300), "tree 0 is none");
  expect_refused(with("at", 0, nullptr), "type must be number");
  expect_refused(with("less", 0, 1.5), "tree 0 is none");
  expect_refused(with("feature", 0, 1e30), "tree 0 is none");
  expect_refused(with("feature", 0, 18446744073709551615U), "tree 0 is none");
  expect_refused(with("feature", 0, 4294967296), "tree 0 is none");  // 0, if it were cut off
  nlohmann::ordered_json bad = good;
  bad["low"]["trees"][0]["less"][0] = 0;
  expect_refused(bad.dump(), "the low quantile's tree 0 is none");
  bad = good;
  bad["trees"] = {{"feature", 1}};
  expect_refused(bad.dump(), "trees are no list");
  bad = good;
  bad["trees"][0]["more"] = 3;
  expect_refused(bad.dump(), "tree 0 is none");
  std::string text = good.dump();
  const size_t leaf = text.find("0.25");
  expect_refused(text.replace(leaf, 4, "NaN"), "it is no model of costs");  // which is no JSON
}

TEST(TreeModel, OthersAreRefusedWithWhatToDo) {
  const std::string text = to_text(two_trees());
  expect_refused("", "it is no model of costs");
  expect_refused("[1]", "it is no model of costs");
  expect_refused(text.substr(0, text.size() / 2), "it is no model of costs");
  nlohmann::ordered_json other = nlohmann::ordered_json::parse(text);
  other["korch_cost_model"] = 99;
  expect_refused(other.dump(), "a model of version 99; this korch reads version 2");
  other = nlohmann::ordered_json::parse(text);
  other["feature_set"] = 0;
  expect_refused(other.dump(), "train it again (korch costs train)");
  other = nlohmann::ordered_json::parse(text);
  other["features"][0] = "colour";
  expect_refused(other.dump(), "train it again (korch costs train)");
  other = nlohmann::ordered_json::parse(text);
  other["spread"] = -1;
  expect_refused(other.dump(), "one of its numbers is none");
  other = nlohmann::ordered_json::parse(text);
  other["low"]["shift"] = 1e9;
  expect_refused(other.dump(), "one of its numbers is none");
  other = nlohmann::ordered_json::parse(text);
  other["rows"] = -3;
  expect_refused(other.dump(), "one of its numbers is none");
  other = nlohmann::ordered_json::parse(text);
  other["protocol"] = 7;
  expect_refused(other.dump(), "measured in another way: train it again");
  other = nlohmann::ordered_json::parse(text);
  other["korch_cost_model"] = 1;
  other.erase("low");
  expect_refused(other.dump(), "a model of version 1; this korch reads version 2");
  other = nlohmann::ordered_json::parse(text);
  other.erase("trees");
  expect_refused(other.dump(), "trees");
}

TEST(LightGbm, ReadsItsTrees) {
  TreeModel model = two_trees();
  model.trees = LightGbm(KORCH_FAKE_LIGHTGBM).train({{row(0, 0), 1, 1}});
  expect_walks(model);
}

TEST(LightGbm, SaysWhatIsMissing) {
  const auto expect_error = [](const std::string& library, float label, const std::string& why) {
    try {
      LightGbm(library).train({{row(0, 0), label, 1}});
      ADD_FAILURE() << library;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  expect_error("/nowhere/lib_lightgbm.so", 1, "give --lightgbm FILE");
  expect_error(KORCH_NO_LIGHTGBM, 1, "is no library of LightGBM: it lacks LGBM_DatasetCreateFromMat");
  expect_error(KORCH_FAKE_LIGHTGBM, 13, "LightGBM: an unlucky label");
}

}  // namespace
}  // namespace korch
