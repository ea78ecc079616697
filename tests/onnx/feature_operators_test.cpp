// What ONNX's own cases (tests/onnx_node) do not ask of n-grams and of the classical learners' operators.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "one_node.h"

namespace korch {
namespace {

using onnx::proto::NodeProto;

void set_floats(NodeProto& node, const std::string& name, const std::vector<float>& values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::proto::AttributeProto::FLOATS);
  for (float value : values) attribute->add_floats(value);
}

// Of 1-grams 5 and 6 and 2-grams 5 6 and 6 5, at places 3, 0, 1 and 4.
struct NGrams {
  std::string mode = "TF";
  std::vector<int64_t> pool = {5, 6, 5, 6, 6, 5}, begins = {0, 2}, places = {3, 0, 1, 4};
  std::vector<float> weights;
  int64_t shortest = 1, longest = 2, max_skipped = 0;

  OneNode node(const HostTensor& x) const {
    OneNode result("TfIdfVectorizer", {x}, "");
    NodeProto& node = result.node();
    node.set_name("grams");
    set_attribute(node, "mode", mode);
    set_attribute(node, "pool_int64s", pool);
    set_attribute(node, "ngram_counts", begins);
    set_attribute(node, "ngram_indexes", places);
    set_attribute(node, "min_gram_length", shortest);
    set_attribute(node, "max_gram_length", longest);
    set_attribute(node, "max_skip_count", max_skipped);
    if (!weights.empty()) set_floats(node, "weights", weights);
    return result;
  }
  Values of(const HostTensor& x) const { return node(x).run(); }
};

const HostTensor kText = i64({5}, {5, 6, 6, 5, 6});

TEST(TfIdfVectorizer, CountsWhereIndexesSay) {
  EXPECT_EQ(NGrams{}.of(kText), (Values{3, 2, 0, 2, 1}));
  EXPECT_EQ(NGrams{}.of(HostTensor::of<int32_t>(DType::i32, {2, 2}, {5, 6, 7, 5})),
            (Values{1, 1, 0, 1, 0, 0, 0, 0, 1, 0}));
  NGrams pairs;
  pairs.shortest = 2;
  EXPECT_EQ(pairs.of(kText), (Values{0, 2, 0, 0, 1}));
}

// With one skipped also 5 . 6, 6 . 5, 6 . 6; 1-grams are counted once.
TEST(TfIdfVectorizer, Skips) {
  NGrams skipping;
  skipping.max_skipped = 1;
  EXPECT_EQ(skipping.of(kText), (Values{3, 3, 0, 2, 2}));
  skipping.max_skipped = 1000000;  // beyond the row's end there is nothing
  EXPECT_EQ(skipping.of(kText), (Values{3, 4, 0, 2, 2}));
}

TEST(TfIdfVectorizer, Weights) {
  NGrams weighted;
  weighted.weights = {10, 20, 30, 40};  // of the n-grams, not of the places
  EXPECT_EQ(weighted.of(kText), (Values{3, 2, 0, 2, 1}));
  weighted.mode = "TFIDF";
  EXPECT_EQ(weighted.of(kText), (Values{60, 60, 0, 20, 40}));
  weighted.mode = "IDF";
  EXPECT_EQ(weighted.of(kText), (Values{20, 30, 0, 10, 40}));
  weighted.weights.clear();
  EXPECT_EQ(weighted.of(kText), (Values{1, 1, 0, 1, 1}));
}

// Where several n-grams have one place they are added, except in IDF.
TEST(TfIdfVectorizer, SharedPlaces) {
  NGrams shared;
  shared.places = {0, 0, 2, 0};
  EXPECT_EQ(shared.of(kText), (Values{6, 0, 2}));
  shared.mode = "IDF";
  expect_refused(shared.node(kText).model, ErrorKind::unsupported, {"grams", "one place"});
}

TEST(TfIdfVectorizer, Nothing) {
  EXPECT_EQ(NGrams{}.of(i64({0}, {})), (Values{0, 0, 0, 0, 0}));
  EXPECT_EQ(NGrams{}.of(i64({2, 0}, {})), Values(10, 0));
  EXPECT_EQ(NGrams{}.of(i64({0, 3}, {})), Values{});
  EXPECT_EQ(NGrams{}.of(i64({1}, {6})), (Values{1, 0, 0, 0, 0}));
}

TEST(TfIdfVectorizer, Refused) {
  const auto refused = [](auto&& change, ErrorKind kind, const std::string& words,
                          const HostTensor& x = kText) {
    NGrams grams;
    change(grams);
    expect_refused(grams.node(x).model, kind, {"grams", words});
  };
  const auto invalid = [&](auto&& change, const std::string& words) {
    refused(change, ErrorKind::invalid, words);
  };
  invalid([](NGrams& g) { g.mode = "tf"; }, "mode");
  invalid([](NGrams& g) { g.pool.push_back(5); }, "whole number of 2-grams");
  invalid([](NGrams& g) { g.pool[1] = 5; }, "twice");
  invalid([](NGrams& g) { g.begins = {0, 7}; }, "ngram_counts");
  invalid([](NGrams& g) { g.begins = {1, 2}; }, "ngram_counts");
  invalid([](NGrams& g) { g.places.pop_back(); }, "3 ngram_indexes for 4 n-grams");
  invalid([](NGrams& g) { g.places[0] = -1; }, "ngram_indexes");
  invalid([](NGrams& g) { g.weights = {1}; }, "weights");
  invalid([](NGrams& g) { g.shortest = 3; }, "min_gram_length");
  invalid([](NGrams& g) { g.longest = 3; }, "max_gram_length");
  invalid([](NGrams& g) { g.max_skipped = -1; }, "max_skip_count");
  const auto nothing = [](NGrams&) {};
  refused(nothing, ErrorKind::invalid, "rank", i64({1, 1, 1}, {5}));
  refused(nothing, ErrorKind::invalid, "int32 or int64", f32({1}, {5}));
  refused(nothing, ErrorKind::unsupported, "comparisons",
          HostTensor(TensorType{DType::i64, {1 << 12, 1 << 12}}));
  OneNode strings = NGrams{}.node(kText);
  auto* attribute = strings.node().add_attribute();
  attribute->set_name("pool_strings");
  attribute->set_type(onnx::proto::AttributeProto::STRINGS);
  expect_refused(strings.model, ErrorKind::unsupported, {"grams", "strings"});
}

OneNode learner(const std::string& op_type, const std::vector<HostTensor>& inputs) {
  OneNode result(op_type, inputs, "ai.onnx.ml");
  result.model.model.add_opset_import()->set_domain("ai.onnx.ml");
  result.model.model.mutable_opset_import(2)->set_version(1);
  return result;
}

const HostTensor kFeatures = f32({2, 3}, {1, -4, 2, 0, 0, 0});

TEST(Learners, ArrayFeatureExtractor) {
  EXPECT_EQ(learner("ArrayFeatureExtractor", {kFeatures, i64({2, 1}, {2, 0})}).run(), (Values{2, 1, 0, 0}));
  OneNode vector = learner("ArrayFeatureExtractor", {i64({3}, {7, 8, 9}), i64({2}, {1, 1})});
  EXPECT_EQ(interpret(import_onnx_bytes(vector.model.bytes()), vector.inputs)[0].shape(), (Shape{1, 2}));
  EXPECT_EQ(vector.run(), (Values{8, 8}));
  expect_refused(learner("ArrayFeatureExtractor", {i64({}, {1}), i64({1}, {0})}).model, ErrorKind::invalid,
                 {"ArrayFeatureExtractor", "rank 1"});
}

TEST(Learners, Binarizer) {
  EXPECT_EQ(learner("Binarizer", {kFeatures}).run(), (Values{1, 0, 1, 0, 0, 0}));
  OneNode whole = learner("Binarizer", {i64({4}, {-1, 0, 1, 2})});
  set_float(whole.node(), "threshold", -0.5F);
  EXPECT_EQ(whole.run(), (Values{0, 1, 1, 1}));
  EXPECT_EQ(learner("Binarizer", {f32({1}, {std::nanf("")})}).run(), (Values{0}));
}

TEST(Learners, Scaler) {
  const auto scaler = [](const std::vector<float>& scale, const std::vector<float>& offset) {
    OneNode node = learner("Scaler", {kFeatures});
    set_floats(node.node(), "scale", scale);
    set_floats(node.node(), "offset", offset);
    return node;
  };
  EXPECT_EQ(scaler({2, 3, 4}, {1, 0, -1}).run(), (Values{0, -12, 12, -2, 0, 4}));
  EXPECT_EQ(scaler({2}, {1}).run(), (Values{0, -10, 2, -2, -2, -2}));
  expect_refused(scaler({2, 3}, {1, 1}).model, ErrorKind::invalid, {"2 scales and 2 offsets"});
  expect_refused(scaler({2, 3, 4}, {1}).model, ErrorKind::invalid, {"3 scales and 1 offsets"});
}

TEST(Learners, Normalizer) {
  const auto normalized = [](const std::string& norm, const HostTensor& x) {
    OneNode node = learner("Normalizer", {x});
    set_attribute(node.node(), "norm", norm);
    return node;
  };
  const double root = std::sqrt(21.0);
  expect_near(normalized("MAX", kFeatures).run(), {0.5, -2, 1, 0, 0, 0});
  expect_near(normalized("L1", kFeatures).run(), {1 / 7., -4 / 7., 2 / 7., 0, 0, 0});
  expect_near(normalized("L2", kFeatures).run(), {1 / root, -4 / root, 2 / root, 0, 0, 0});
  expect_near(normalized("MAX", i64({2}, {-1, -2})).run(), {1, 2});
  EXPECT_EQ(normalized("L2", f32({0, 3}, {})).run(), Values{});
  expect_refused(normalized("L3", kFeatures).model, ErrorKind::invalid, {"norm", "L3"});
  expect_refused(normalized("L1", f32({1, 1, 1}, {1})).model, ErrorKind::invalid, {"rank 1 or 2"});
}

}  // namespace
}  // namespace korch
