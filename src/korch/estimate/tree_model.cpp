#include "korch/estimate/tree_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "korch/base/error.h"
#include "korch/base/json.h"

namespace korch {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kModelVersion = 2;
constexpr size_t kMostTrees = 5000, kMostNodes = 4096;  // more than any model that is worth its time has
constexpr double kMostOfLeaves = 20;                    // a factor of e^20 is no kernel's

constexpr size_t kMostBytes = size_t{64} << 20;

struct NoNumber {};

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

// What a conversion would cut off or overflow is not taken: 1.5 and 1e30 are no whole numbers.
int whole_from_json(const Json& json) {
  const bool fits = json.is_number_integer() && json.get<double>() >= std::numeric_limits<int>::min() &&
                    json.get<double>() <= std::numeric_limits<int>::max();
  return fits ? json.get<int>() : throw NoNumber{};
}

int count_from_json(const Json& json) {
  const int count = whole_from_json(json);
  return count >= 0 ? count : throw NoNumber{};
}

float float_from_json(const Json& json) {
  const double number = json.get<double>();
  return std::abs(number) <= std::numeric_limits<float>::max() ? static_cast<float>(number)
                                                               : throw NoNumber{};
}

template <typename T>
std::vector<T> list_from_json(const Json& json, T (*number)(const Json&)) {
  if (!json.is_array()) throw NoNumber{};
  std::vector<T> list;
  for (const Json& one : json) list.push_back(number(one));
  return list;
}

RegressionTree tree_from_json(const Json& json) {
  return {list_from_json(json.at("feature"), whole_from_json),
          list_from_json(json.at("less"), whole_from_json), list_from_json(json.at("more"), whole_from_json),
          list_from_json(json.at("at"), float_from_json), list_from_json(json.at("leaf"), float_from_json)};
}

// `which` names them in what is thrown.
std::vector<RegressionTree> trees_from_json(const Json& json, const std::string& which) {
  const auto refuse = [&](const std::string& what) { throw Error(ErrorKind::invalid, which + what); };
  if (!json.is_array()) refuse("s are no list");
  if (json.size() > kMostTrees) refuse("s are more than any model has");
  std::vector<RegressionTree> trees;
  for (const Json& tree : json) {
    try {
      trees.push_back(tree_from_json(tree));
    } catch (const NoNumber&) {
      refuse(fmt::format(" {} is none", trees.size()));
    }
    if (!is_tree(trees.back())) refuse(fmt::format(" {} is none", trees.size() - 1));
  }
  return trees;
}

void read_numbers(const Json& json, TreeModel& model) {
  model.protocol = whole_from_json(json.at("protocol"));
  model.rows = count_from_json(json.at("rows"));
  model.networks = count_from_json(json.at("networks"));
  model.spread = json.at("spread").get<double>();
  const Json& low = json.at("low");
  model.low.rows = count_from_json(low.at("rows"));
  model.low.networks = count_from_json(low.at("networks"));
  model.low.shift = low.at("shift").get<double>();
  if (!(model.spread >= 0 && model.spread < kMostOfLeaves) || !(std::abs(model.low.shift) < kMostOfLeaves))
    throw NoNumber{};
}

// Enough digits to read the same number again, and no more.
template <typename T>
std::string list_text(const std::vector<T>& numbers) {
  std::string text = "[";
  for (const T& number : numbers) text += fmt::format("{}{}", text.size() > 1 ? "," : "", number);
  return text + "]";
}

std::string trees_text(const std::vector<RegressionTree>& trees) {
  std::string text = "[";
  for (const RegressionTree& tree : trees)
    text += fmt::format("{}\n{{\"feature\":{},\"at\":{},\"less\":{},\"more\":{},\"leaf\":{}}}",
                        text.size() > 1 ? "," : "", list_text(tree.feature), list_text(tree.at),
                        list_text(tree.less), list_text(tree.more), list_text(tree.leaf));
  return text + "]";
}

}  // namespace

double sum_of(const std::vector<RegressionTree>& trees, const Features& features) {
  double sum = 0;
  for (const RegressionTree& tree : trees) sum += leaf_of(tree, features);
  return sum;
}

double TreeModel::log_factor(const Features& features) const {
  return sum_of(trees, features);
}

double TreeModel::log_low(const Features& features) const {
  return std::min(0.0, sum_of(low.trees, features) + low.shift);
}

std::string to_text(const TreeModel& model) {
  return fmt::format(
      "{{\"korch_cost_model\":{},\"feature_set\":{},\"protocol\":{},\"features\":{},\"rows\":{},"
      "\"networks\":{},\"spread\":{},\n\"low\":{{\"rows\":{},\"networks\":{},\"shift\":{},\"trees\":{}}},\n"
      "\"trees\":{}}}\n",
      kModelVersion, kFeatureSet, model.protocol, Json(feature_names()).dump(), model.rows, model.networks,
      model.spread, model.low.rows, model.low.networks, model.low.shift, trees_text(model.low.trees),
      trees_text(model.trees));
}

TreeModel tree_model_from_text(std::string_view text, const std::string& file, int protocol) {
  const auto fail = [&](const std::string& what) { throw Error(ErrorKind::invalid, file + ": " + what); };
  const Json json = text.size() <= kMostBytes ? Json::parse(text, nullptr, false) : Json();
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
    read_numbers(json, model);
    if (model.protocol != protocol)
      fail(
          "the model has learned from costs that were measured in another way: train it again (korch costs "
          "train)");
    model.trees = trees_from_json(json.at("trees"), file + ": tree");
    model.low.trees = trees_from_json(json.at("low").at("trees"), file + ": the low quantile's tree");
  } catch (const NoNumber&) {
    fail("one of its numbers is none that a model has");
  } catch (const Json::exception& error) {
    fail(error.what());
  }
  return model;
}

}  // namespace korch
