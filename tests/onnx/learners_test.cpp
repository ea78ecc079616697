// Classical learners: trees, linear models, encoders. bench/ort_operators.py compares drawn ones with ONNX
// Runtime.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "one_node.h"

namespace korch {
namespace {

using onnx::proto::NodeProto;
using Integers = std::vector<int64_t>;

const float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr const char* kLearners = "ai.onnx.ml";

NodeProto& learner(OneNode& node, int64_t opset = 3) {
  auto* import = node.model.model.add_opset_import();
  import->set_domain(kLearners);
  import->set_version(opset);
  return node.node();
}
OneNode learner_of(const std::string& op_type, const std::vector<HostTensor>& inputs, int64_t opset = 3) {
  OneNode node(op_type, inputs, kLearners);
  learner(node, opset);
  return node;
}

void set_reals(NodeProto& node, const std::string& name, const std::vector<float>& values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::proto::AttributeProto::FLOATS);
  for (float value : values) attribute->add_floats(value);
}
void set_words(NodeProto& node, const std::string& name, const std::vector<std::string>& values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::proto::AttributeProto::STRINGS);
  for (const std::string& value : values) attribute->add_strings(value);
}
void set_tensor(NodeProto& node, const std::string& name, const HostTensor& value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::proto::AttributeProto::TENSOR);
  *attribute->mutable_t() = onnx::write_tensor(value, name);
}

// Tree 4: x0 against 1, then x1 against 2 where yes; leaves 10, 20 and 40. Tree 7: a leaf, 100.
struct Trees {
  std::vector<std::string> modes = {"BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF", "LEAF"};
  Integers trees = {4, 4, 4, 4, 4, 7}, ids = {0, 1, 2, 3, 4, 0}, features = {0, 1, 0, 0, 0, 0},
           yes = {1, 2, 0, 0, 0, 0}, no = {4, 3, 0, 0, 0, 0}, missing;
  std::vector<float> values = {1, 2, 0, 0, 0, 0}, weights = {10, 20, 40, 100}, base;
  Integers vote_trees = {4, 4, 4, 7}, vote_ids = {2, 3, 4, 0}, targets = {0, 0, 0, 0};

  OneNode node(const std::string& op_type, const std::string& prefix, const HostTensor& x) const {
    OneNode result = learner_of(op_type, {x});
    NodeProto& node = result.node();
    node.set_name("forest");
    set_words(node, "nodes_modes", modes);
    set_attribute(node, "nodes_treeids", trees);
    set_attribute(node, "nodes_nodeids", ids);
    set_attribute(node, "nodes_featureids", features);
    set_attribute(node, "nodes_truenodeids", yes);
    set_attribute(node, "nodes_falsenodeids", no);
    set_reals(node, "nodes_values", values);
    if (!missing.empty()) set_attribute(node, "nodes_missing_value_tracks_true", missing);
    set_attribute(node, prefix + "_treeids", vote_trees);
    set_attribute(node, prefix + "_nodeids", vote_ids);
    set_attribute(node, prefix + "_ids", targets);
    set_reals(node, prefix + "_weights", weights);
    if (!base.empty()) set_reals(node, "base_values", base);
    return result;
  }
  OneNode regressor(const HostTensor& x) const { return node("TreeEnsembleRegressor", "target", x); }
  Values of(const HostTensor& x) const { return regressor(x).run(); }
};

const HostTensor kRows = f32({4, 2}, {1, 2, 1, 2.5, 1.5, 0, kNaN, 0});

TEST(TreeEnsembleRegressor, ComparesAndAdds) {
  EXPECT_EQ(Trees{}.of(kRows), (Values{110, 120, 140, 140}));
  EXPECT_EQ(Trees{}.of(i64({1, 2}, {1, 3})), (Values{120}));
  Trees based;
  based.base = {1000};
  EXPECT_EQ(based.of(kRows), (Values{1110, 1120, 1140, 1140}));
}

TEST(TreeEnsembleRegressor, EveryMode) {
  const std::pair<const char*, Values> cases[] = {{"BRANCH_LT", {140, 140, 140, 140}},
                                                  {"BRANCH_GTE", {110, 120, 110, 140}},
                                                  {"BRANCH_GT", {140, 140, 110, 140}},
                                                  {"BRANCH_EQ", {110, 120, 140, 140}},
                                                  {"BRANCH_NEQ", {140, 140, 110, 110}}};
  for (const auto& [mode, expected] : cases) {
    Trees trees;
    trees.modes[0] = mode;  // beside the other node's: kinds are mixed
    EXPECT_EQ(trees.of(kRows), expected) << mode;
  }
  Trees alike;
  alike.modes[0] = alike.modes[1] = "BRANCH_GTE";
  EXPECT_EQ(alike.of(kRows), (Values{110, 110, 120, 140}));
}

TEST(TreeEnsembleRegressor, MissingValues) {
  Trees tracking;
  tracking.missing = {1, 0, 0, 0, 0, 0};
  EXPECT_EQ(tracking.of(kRows), (Values{110, 120, 140, 110}));
}

// Thresholds are compared as float32, where 0.1 is a little more; as float64 only among doubles.
TEST(TreeEnsembleRegressor, ComparesInItsOwnPrecision) {
  Trees trees;
  trees.values[0] = 0.1F;
  EXPECT_EQ(trees.of(f32({1, 2}, {0.1F, 0})), (Values{110}));
  EXPECT_EQ(trees.of(HostTensor::of<double>(DType::f64, {1, 2}, {0.1, 0})), (Values{110}));
  EXPECT_EQ(trees.of(HostTensor::of<double>(DType::f64, {1, 2}, {0.10000001, 0})), (Values{140}));
}

TEST(TreeEnsembleRegressor, Aggregates) {
  const std::pair<const char*, double> cases[] = {{"SUM", 110}, {"AVERAGE", 55}, {"MIN", 10}, {"MAX", 100}};
  for (const auto& [function, expected] : cases) {
    OneNode node = Trees{}.regressor(f32({1, 2}, {0, 0}));
    set_attribute(node.node(), "aggregate_function", std::string(function));
    EXPECT_EQ(node.run(), Values{expected}) << function;
  }
  Trees two;
  two.targets = {0, 0, 1, 1};
  OneNode node = two.regressor(f32({2, 2}, {0, 0, 2, 0}));
  set_attribute(node.node(), "n_targets", 2);
  set_attribute(node.node(), "aggregate_function", std::string("MIN"));
  EXPECT_EQ(node.run(), (Values{10, 100, 0, 40}));  // no leaf votes for the first: 0
}

TEST(TreeEnsembleRegressor, RefusesMalformedTrees) {
  const auto refused = [](const Trees& trees, const std::string& what) {
    expect_refused(trees.regressor(kRows).model, ErrorKind::invalid, {"forest", what});
  };
  Trees cycle;
  cycle.yes[1] = 0;
  refused(cycle, "cycle");
  Trees itself;
  itself.no[0] = 0;
  refused(itself, "cycle");
  Trees lost;
  lost.no[0] = 9;
  refused(lost, "node 9 of tree 4, which is not there");
  Trees feature;
  feature.features[1] = 2;
  refused(feature, "feature 2 of 2");
  Trees twice;
  twice.ids[1] = 0;
  refused(twice, "given twice");
  Trees few;
  few.values.pop_back();
  refused(few, "5 nodes_values for 6 nodes");
  Trees vote;
  vote.vote_ids[0] = 8;
  refused(vote, "a vote names node 8");
  Trees target;
  target.targets[0] = 1;
  refused(target, "target_ids");
  Trees weights;
  weights.weights.pop_back();
  refused(weights, "3 weights for 4 votes");
  Trees mode;
  mode.modes[0] = "BRANCH_MAYBE";
  refused(mode, "BRANCH_MAYBE");
  Trees base;
  base.base = {1, 2};
  refused(base, "2 base_values for 1 targets");
}

OneNode classifier(const Trees& trees, const Integers& labels, const std::string& transform = "NONE") {
  OneNode node = trees.node("TreeEnsembleClassifier", "class", f32({2, 2}, {1, 2, 2, 0}));
  set_attribute(node.node(), "classlabels_int64s", labels);
  set_attribute(node.node(), "post_transform", transform);
  node.node().add_output("scores");
  node.model.output("scores");
  return node;
}
Values scores_of(OneNode& node) {
  const HostTensor scores = interpret(import_onnx_bytes(node.model.bytes()), node.inputs)[1];
  Values values;
  for (int64_t i = 0; i < scores.elements(); ++i) values.push_back(element_as_double(scores, i));
  return values;
}

TEST(TreeEnsembleClassifier, TheGreatestClass) {
  Trees trees;
  trees.targets = {2, 0, 1, 0};
  trees.weights = {3, 0, 1, 2};
  OneNode node = classifier(trees, {70, 80, 90});
  EXPECT_EQ(node.run(), (Values{90, 70}));
  EXPECT_EQ(scores_of(node), (Values{2, 0, 3, 2, 1, 0}));
  OneNode soft = classifier(trees, {70, 80, 90}, "SOFTMAX");
  expect_near(
      scores_of(soft),
      {std::exp(-1) / (std::exp(-1) + std::exp(-3) + 1), std::exp(-3) / (std::exp(-1) + std::exp(-3) + 1),
       1 / (std::exp(-1) + std::exp(-3) + 1), 1 / (1 + std::exp(-1) + std::exp(-2)),
       std::exp(-1) / (1 + std::exp(-1) + std::exp(-2)), std::exp(-2) / (1 + std::exp(-1) + std::exp(-2))});
}

TEST(TreeEnsembleClassifier, OneScoreForTwoClasses) {
  Trees trees;
  trees.weights = {0.25, 0, 0.5, 0.125};
  OneNode positive = classifier(trees, {5, 6});
  EXPECT_EQ(positive.run(), (Values{5, 6}));  // above 0.5
  EXPECT_EQ(scores_of(positive), (Values{0.625, 0.375, 0.375, 0.625}));
  trees.weights = {-0.25, 0, 0.25, 0.125};
  OneNode mixed = classifier(trees, {5, 6});
  EXPECT_EQ(mixed.run(), (Values{5, 6}));  // above 0
  EXPECT_EQ(scores_of(mixed), (Values{0.125, -0.125, -0.375, 0.375}));
  OneNode logistic = classifier(trees, {5, 6}, "LOGISTIC");
  expect_near(scores_of(logistic), {1 / (1 + std::exp(-0.125)), 1 / (1 + std::exp(0.125)),
                                    1 / (1 + std::exp(0.375)), 1 / (1 + std::exp(-0.375))});
}

TEST(TreeEnsembleClassifier, StringsAsLabels) {
  Trees trees;
  OneNode node = trees.node("TreeEnsembleClassifier", "class", f32({1, 2}, {1, 2}));
  set_words(node.node(), "classlabels_strings", {"no", "yes"});
  node.node().add_output("scores");
  node.model.output("scores");
  expect_refused(node.model, ErrorKind::unsupported, {"labels that are strings"});
  node.model.model.mutable_graph()->mutable_output()->DeleteSubrange(0, 1);  // the scores alone
  EXPECT_EQ(interpret(import_onnx_bytes(node.model.bytes()), node.inputs)[0].shape(), (Shape{1, 2}));
}

// x0 in {2, 3}: yes x1 <= 0 ? 1 : 2, no: 4.
OneNode split_trees(const Integers& roots = {0}) {
  OneNode node = learner_of("TreeEnsemble", {f32({4, 2}, {2, 0, 3, 1, 1, 0, kNaN, 0})}, 5);
  NodeProto& proto = node.node();
  set_attribute(proto, "tree_roots", roots);
  set_attribute(proto, "nodes_featureids", Integers{0, 1});
  set_tensor(proto, "nodes_splits", f32({2}, {kNaN, 0}));
  set_tensor(proto, "nodes_modes", HostTensor::of<uint8_t>(DType::u8, {2}, {6, 0}));
  set_attribute(proto, "nodes_truenodeids", Integers{1, 0});
  set_attribute(proto, "nodes_falsenodeids", Integers{2, 1});
  set_attribute(proto, "nodes_trueleafs", Integers{0, 1});
  set_attribute(proto, "nodes_falseleafs", Integers{1, 1});
  set_attribute(proto, "leaf_targetids", Integers{0, 0, 0});
  set_tensor(proto, "leaf_weights", f32({3}, {1, 2, 4}));
  return node;
}

TEST(TreeEnsemble, MembersOfSets) {
  OneNode node = split_trees();
  set_tensor(node.node(), "membership_values", f32({3}, {2, 3, kNaN}));
  EXPECT_EQ(node.run(), (Values{1, 2, 4, 4}));
  OneNode without = split_trees();
  expect_refused(without.model, ErrorKind::invalid, {"without members"});
  OneNode more = split_trees();
  set_tensor(more.node(), "membership_values", f32({4}, {2, kNaN, 3, kNaN}));
  expect_refused(more.model, ErrorKind::invalid, {"more sets"});
  OneNode root = split_trees({2});
  set_tensor(root.node(), "membership_values", f32({3}, {2, 3, kNaN}));
  expect_refused(root.model, ErrorKind::invalid, {"tree_roots"});
}

TEST(Linear, ScoresAndLabels) {
  OneNode regressor = learner_of("LinearRegressor", {f32({1, 2}, {3, 4})});
  set_attribute(regressor.node(), "targets", 2);
  set_reals(regressor.node(), "coefficients", {1, 2, 10, 0});
  set_reals(regressor.node(), "intercepts", {0.5, 0});
  EXPECT_EQ(regressor.run(), (Values{11.5, 30}));
  set_reals(regressor.node(), "base", {1});
  expect_refused(regressor.model, ErrorKind::invalid, {"attribute \"base\" is unknown"});
  OneNode few = learner_of("LinearRegressor", {f32({1, 2}, {3, 4})});
  set_reals(few.node(), "coefficients", {1, 2, 3});
  expect_refused(few.model, ErrorKind::invalid, {"3 coefficients for 2 features and 1 results"});
  OneNode classes = learner_of("LinearClassifier", {f32({2, 1}, {-3, 3})});
  set_reals(classes.node(), "coefficients", {1});
  set_reals(classes.node(), "intercepts", {0.5});
  set_attribute(classes.node(), "classlabels_ints", Integers{8, 9});
  EXPECT_EQ(classes.run(), (Values{8, 9}));
}

TEST(SvmRegressor, Kernels) {
  OneNode node = learner_of("SVMRegressor", {f32({1, 2}, {1, 0})});
  set_attribute(node.node(), "kernel_type", std::string("RBF"));
  set_reals(node.node(), "kernel_params", {0.5, 0, 0});
  set_attribute(node.node(), "n_supports", 2);
  set_reals(node.node(), "support_vectors", {1, 0, 0, 1});
  set_reals(node.node(), "coefficients", {2, 10});
  set_reals(node.node(), "rho", {0.25});
  expect_near(node.run(), {2 + 10 * std::exp(-1) + 0.25});
}

OneNode machines(const HostTensor& x, const Integers& per_class, const std::vector<float>& vectors,
                 const std::vector<float>& coefficients, const std::vector<float>& rho) {
  OneNode node = learner_of("SVMClassifier", {x}, 1);
  set_attribute(node.node(), "classlabels_ints", per_class.size() == 2 ? Integers{7, 8} : Integers{7, 8, 9});
  set_attribute(node.node(), "vectors_per_class", per_class);
  set_reals(node.node(), "support_vectors", vectors);
  set_reals(node.node(), "coefficients", coefficients);
  set_reals(node.node(), "rho", rho);
  node.node().add_output("scores");
  node.model.output("scores");
  return node;
}

TEST(SvmClassifier, AMachineForEachPairOfClasses) {
  OneNode three = machines(f32({1, 3}, {1, 2, 0}), {1, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1},
                           {1, -1, -2, 3, 2, -1}, {0.5, 0, 0});
  EXPECT_EQ(three.run(), Values{8});
  EXPECT_EQ(scores_of(three), (Values{-0.5, 3, 4}));
  const std::vector<float> unit = {1, 0, 0, 1};
  OneNode two = machines(f32({1, 2}, {1, 2}), {1, 1}, unit, {1, -1}, {0});
  EXPECT_EQ(two.run(), Values{8});
  EXPECT_EQ(scores_of(two), (Values{1, -1}));
  OneNode likely = machines(f32({1, 2}, {1, 2}), {1, 1}, unit, {1, -1}, {0});
  set_reals(likely.node(), "prob_a", {-1});
  set_reals(likely.node(), "prob_b", {0});
  expect_near(scores_of(likely), {1 / (1 + std::exp(1)), 1 / (1 + std::exp(-1))});
  expect_refused(machines(f32({1, 2}, {1, 2}), {1, 1}, unit, {1}, {0}).model, ErrorKind::invalid,
                 {"2 support vectors", "1 coefficients"});
  set_reals(two.node(), "prob_a", {-1});
  expect_refused(two.model, ErrorKind::invalid, {"1 numbers prob_a and 0 prob_b"});
}

// As sure of three classes as it is of each two of them.
TEST(SvmClassifier, ProbabilitiesOfPairsThatAgree) {
  const std::vector<double> wanted = {0.5, 0.3, 0.2};
  std::vector<float> odds;  // sigmoid(-(0 * a + b)) = p_i / (p_i + p_j)
  for (const auto& [i, j] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)})
    odds.push_back(static_cast<float>(std::log(wanted[j] / wanted[i])));
  OneNode node = machines(f32({1, 1}, {0}), {1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, {0, 0, 0});
  set_reals(node.node(), "prob_a", {1, 1, 1});
  set_reals(node.node(), "prob_b", odds);
  expect_near(scores_of(node), wanted);
}

TEST(SvmClassifier, AScoreOfEachClass) {
  OneNode node = learner_of("SVMClassifier", {f32({2, 2}, {1, 3, 0.125, 0})}, 1);
  set_attribute(node.node(), "classlabels_ints", Integers{7, 8});
  set_reals(node.node(), "coefficients", {1, 0, 0, 1});
  set_reals(node.node(), "rho", {0.25});
  node.node().add_output("scores");
  node.model.output("scores");
  EXPECT_EQ(node.run(), (Values{8, 7}));
  EXPECT_EQ(scores_of(node), (Values{1.25, 3.25, 0.375, 0.25}));
}

TEST(Features, ImputedEncodedAndJoined) {
  OneNode imputer = learner_of("Imputer", {f32({2, 2}, {1, kNaN, kNaN, 4})});
  set_reals(imputer.node(), "imputed_value_floats", {7, 8});
  set_float(imputer.node(), "replaced_value_float", kNaN);
  EXPECT_EQ(imputer.run(), (Values{1, 8, 7, 4}));
  OneNode hot = learner_of("OneHotEncoder", {i64({2}, {5, 6})});
  set_attribute(hot.node(), "cats_int64s", Integers{6, 7});
  EXPECT_EQ(hot.run(), (Values{0, 0, 1, 0}));
  OneNode words = learner_of("OneHotEncoder", {i64({2}, {5, 6})});
  set_words(words.node(), "cats_strings", {"a"});
  expect_refused(words.model, ErrorKind::unsupported, {"cats_strings"});
  OneNode joined = learner_of("FeatureVectorizer", {f32({1, 2}, {1, 2}), i64({1, 1}, {3})});
  set_attribute(joined.node(), "inputdimensions", Integers{2, 1});
  EXPECT_EQ(joined.run(), (Values{1, 2, 3}));
}

TEST(LabelEncoder, BetweenNumbers) {
  OneNode node = learner_of("LabelEncoder", {f32({3}, {0.5, kNaN, 9})}, 4);
  set_reals(node.node(), "keys_floats", {0.5, kNaN});
  set_attribute(node.node(), "values_int64s", Integers{10, 20});
  set_attribute(node.node(), "default_int64", -5);
  EXPECT_EQ(node.run(), (Values{10, 20, -5}));
  OneNode strings = learner_of("LabelEncoder", {i64({1}, {1})}, 4);
  set_attribute(strings.node(), "keys_int64s", Integers{1});
  set_words(strings.node(), "values_strings", {"a"});
  expect_refused(strings.model, ErrorKind::unsupported, {"values_strings"});
}

// Its map becomes the tensor, and a warning says so; what is no table of scores is refused.
TEST(ZipMap, StaysATensor) {
  OneNode node = learner_of("ZipMap", {f32({1, 2}, {0.25, 0.75})});
  set_attribute(node.node(), "classlabels_int64s", Integers{0, 1});
  std::vector<std::string> warnings;
  ImportOptions options;
  options.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  const Graph graph = import_onnx_bytes(node.model.bytes(), options);
  EXPECT_EQ(element_as_double(interpret(graph, node.inputs)[0], 1), 0.75);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("ZipMap makes maps"), std::string::npos) << warnings[0];
  expect_refused(learner_of("ZipMap", {i64({1, 2}, {1, 2})}).model, ErrorKind::invalid,
                 {"ZipMap", "float32"});
  OneNode labels = learner_of("ZipMap", {f32({1, 2}, {0.25, 0.75})});
  set_attribute(labels.node(), "classlabels_int64s", Integers{0, 1, 2});
  expect_refused(labels.model, ErrorKind::invalid, {"3 labels for 2 columns"});
}

}  // namespace
}  // namespace korch
