#include "korch/estimate/tree_model.h"

#include <fmt/format.h>

#include <cmath>

#include "korch/base/error.h"
#include "korch/base/json.h"

namespace korch {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kModelVersion = 1;
constexpr size_t kMostTrees = 5000, kMostNodes = 4096;  // more than any model that is worth its time has
constexpr double kMostOfLeaves = 20;                    // a factor of e^20 is no kernel's

// Nodes lead to later ones and to leaves: a walk ends.
bool is_tree(const RegressionTree& tree) {
  const size_t nodes = tree.feature.size();
  if (nodes > kMostNodes || tree.at.size() != nodes || tree.less.size() != nodes ||
      tree.more.size() != nodes || tree.leaf.size() != nodes + 1)
    return false;
  const auto leads_on = [&](size_t from, int to) {
    return to < 0 ? -(to + 1) < static_cast<int>(tree.leaf.size())
                  : static_cast<size_t>(to) > from && static_cast<size_t>(to) < nodes;
  };
  for (size_t i = 0; i < nodes; ++i)
    if (tree.feature[i] < 0 || static_cast<size_t>(tree.feature[i]) >= feature_names().size() ||
        !std::isfinite(tree.at[i]) || !leads_on(i, tree.less[i]) || !leads_on(i, tree.more[i]))
      return false;
  for (const float leaf : tree.leaf)
    if (!(std::abs(leaf) <= kMostOfLeaves)) return false;
  return true;
}

float leaf_of(const RegressionTree& tree, const Features& features) {
  int node = tree.feature.empty() ? -1 : 0;
  while (node >= 0)
    node = features[static_cast<size_t>(tree.feature[static_cast<size_t>(node)])] <=
                   tree.at[static_cast<size_t>(node)]
               ? tree.less[static_cast<size_t>(node)]
               : tree.more[static_cast<size_t>(node)];
  return tree.leaf[static_cast<size_t>(-(node + 1))];
}

RegressionTree tree_from_json(const Json& json) {
  RegressionTree tree;
  json.at("feature").get_to(tree.feature);
  json.at("at").get_to(tree.at);
  json.at("less").get_to(tree.less);
  json.at("more").get_to(tree.more);
  json.at("leaf").get_to(tree.leaf);
  return tree;
}

// Enough digits to read the same number again, and no more.
template <typename T>
std::string list_text(const std::vector<T>& numbers) {
  std::string text = "[";
  for (const T& number : numbers) text += fmt::format("{}{}", text.size() > 1 ? "," : "", number);
  return text + "]";
}

}  // namespace

double TreeModel::log_factor(const Features& features) const {
  double sum = 0;
  for (const RegressionTree& tree : trees) sum += leaf_of(tree, features);
  return sum;
}

std::string to_text(const TreeModel& model) {
  std::string text = fmt::format(
      "{{\"korch_cost_model\":{},\"feature_set\":{},\"protocol\":{},\"features\":{},\"rows\":{},\"networks\":"
      "{},"
      "\"spread\":{},\"least\":{},\"trees\":[",
      kModelVersion, kFeatureSet, model.protocol, Json(feature_names()).dump(), model.rows, model.networks,
      model.spread, model.least);
  bool is_first = true;
  for (const RegressionTree& tree : model.trees) {
    text += fmt::format("{}\n{{\"feature\":{},\"at\":{},\"less\":{},\"more\":{},\"leaf\":{}}}",
                        is_first ? "" : ",", list_text(tree.feature), list_text(tree.at),
                        list_text(tree.less), list_text(tree.more), list_text(tree.leaf));
    is_first = false;
  }
  return text + "]}\n";
}

TreeModel tree_model_from_text(std::string_view text, const std::string& file) {
  const auto fail = [&](const std::string& what) { throw Error(ErrorKind::invalid, file + ": " + what); };
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("korch_cost_model")) fail("it is no model of costs");
  TreeModel model;
  try {
    if (json.at("korch_cost_model") != kModelVersion)
      fail(fmt::format("a model of version {}; this korch reads version {}",
                       json.at("korch_cost_model").dump(), kModelVersion));
    if (json.at("feature_set") != kFeatureSet || json.at("features") != Json(feature_names()))
      fail(
          "the model has learned from other features than this korch has: train it again (korch costs "
          "train)");
    json.at("protocol").get_to(model.protocol);
    json.at("rows").get_to(model.rows);
    json.at("networks").get_to(model.networks);
    json.at("spread").get_to(model.spread);
    json.at("least").get_to(model.least);
    if (json.at("trees").size() > kMostTrees) fail("it has more trees than any model");
    for (const Json& tree : json.at("trees")) {
      model.trees.push_back(tree_from_json(tree));
      if (!is_tree(model.trees.back())) fail(fmt::format("tree {} is none", model.trees.size() - 1));
    }
  } catch (const Json::exception& error) {
    fail(error.what());
  }
  if (!(model.spread >= 0 && model.spread < kMostOfLeaves) || !(std::abs(model.least) < kMostOfLeaves))
    fail("its errors are none");
  return model;
}

}  // namespace korch
