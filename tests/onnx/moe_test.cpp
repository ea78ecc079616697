// Mixtures of experts: against numbers by hand and the dense formula, however the tokens are routed.
#include <gtest/gtest.h>

#include "korch/ir/loops.h"
#include "moe_model.h"

namespace korch {
namespace {

Values run(const MoeModel& moe) {
  const HostTensor result = interpret(import_onnx_bytes(moe.model().bytes()), moe.inputs())[0];
  Values values;
  for (int64_t i = 0; i < result.elements(); ++i) values.push_back(element_as_double(result, i));
  return values;
}

void expect_dense(const MoeCase& c) {
  SCOPED_TRACE(c.activation + " k " + std::to_string(c.k) + " tokens " + std::to_string(c.tokens));
  const MoeModel moe(c);
  expect_near(run(moe), moe.dense());
}

// Two experts of inner size 1: 2 max(x0 + x1, 0) and (x1, x1)'s relu with a bias. Logits of log 3 and log 1.
OneNode by_hand(int64_t k, bool normalizes) {
  const float three = std::log(3.0F);
  OneNode moe("MoE", {f32({1, 2, 2}, {1, 2, 3, -4}), f32({2, 2}, {three, 0, 0, three}),
                      f32({2, 1, 2}, {1, 1, 0, 1}), f32({2, 1}, {0, 5}), f32({2, 2, 1}, {2, 0, 1, 1})});
  set_attribute(moe.node(), "k", k);
  set_attribute(moe.node(), "normalize_routing_weights", static_cast<int64_t>(normalizes));
  return moe;
}

TEST(MixtureOfExperts, ByHand) {
  // The first token: 6, 0 of the first expert and 7, 7 of the second; the second one: nothing, and 1, 1.
  expect_near(by_hand(1, true).run(), {6, 0, 1, 1});
  expect_near(by_hand(1, false).run(), {4.5, 0, 0.75, 0.75});
  expect_near(by_hand(2, true).run(), {4.5 + 1.75, 1.75, 0.75, 0.75});
}

TEST(MixtureOfExperts, AsTheDenseFormula) {
  for (const char* activation : {"relu", "gelu", "silu", "identity"})
    for (const int64_t k : {1, 2, 4})
      for (const bool with : {false, true})
        expect_dense({.activation = activation, .k = k, .normalizes = k != 4, .biases = with});
  for (const bool with : {false, true}) {
    expect_dense({.activation = "silu", .k = 2, .biases = with, .fc3 = true});
    expect_dense({.activation = "swiglu", .k = 2, .biases = with, .fc3 = true, .alpha = 1.5});
    for (const int64_t fusion : {1, 2})
      expect_dense({.activation = "swiglu",
                    .k = 2,
                    .biases = with,
                    .fusion = fusion,
                    .limit = 0.3,
                    .alpha = 1.7,
                    .beta = 1});
  }
}

// Blocks of one row and of several; all tokens to one expert; a last block that is not full.
TEST(MixtureOfExperts, HoweverTokensAreRouted) {
  for (const int64_t tokens : {1, 2, 16, 17, 67}) {
    expect_dense({.k = 2, .tokens = tokens, .biases = true});
    const auto count = static_cast<size_t>(tokens);
    expect_dense({.tokens = tokens, .biases = true, .routed = std::vector<int64_t>(count, 2)});
    std::vector<int64_t> skewed(count, 0);
    skewed[count / 2] = 3;
    expect_dense({.k = 2, .tokens = tokens, .routed = skewed});
  }
  expect_dense({.k = 2, .biases = true, .fc3 = true, .weights_are_inputs = true});
}

// All products stand in a loop of their expert, and what an expert without tokens would give reaches nothing:
// its weights are no numbers.
TEST(MixtureOfExperts, AnExpertWithoutTokensDoesNotRun) {
  for (const int64_t tokens : {1, 9, 40}) {
    std::vector<int64_t> routed;
    for (int64_t token = 0; token < tokens; ++token) routed.push_back(token % 3 == 0 ? 3 : 1);
    const MoeCase c{.tokens = tokens, .biases = true, .fc3 = true, .routed = routed, .poisoned = {0, 2}};
    expect_dense(c);
    const Graph graph = import_onnx_bytes(MoeModel(c).model().bytes());
    const Loops loops(graph);
    EXPECT_EQ(loops.loops().size(), 4U);
    for (NodeId node : graph.topological_order())
      EXPECT_TRUE(graph.node(node).op != Op::MatMul || loops.of_node(node) >= 0);
  }
}

TEST(MixtureOfExperts, HalfPrecision) {
  OneNode moe = by_hand(2, true);
  std::vector<HostTensor> halves;
  for (const HostTensor& tensor : moe.inputs) halves.push_back(converted(tensor, DType::f16));
  OneNode half("MoE", halves);
  set_attribute(half.node(), "k", 2);
  set_attribute(half.node(), "normalize_routing_weights", 1);
  expect_near(half.run(), moe.run(), 5e-3);
}

TEST(MixtureOfExperts, WhatIsRefused) {
  const auto refused = [](const std::string& name, auto value, ErrorKind kind, const std::string& word) {
    OneNode moe = by_hand(2, false);
    set_attribute(moe.node(), name, value);
    expect_refused(moe.model, kind, {word});
  };
  refused("use_sparse_mixer", 1, ErrorKind::unsupported, "use_sparse_mixer");
  refused("swiglu_limit_after_activation", 1, ErrorKind::unsupported, "swiglu_limit_after_activation");
  refused("activation_type", std::string("geglu"), ErrorKind::unsupported, "geglu");
  refused("activation_type", std::string("swiglu"), ErrorKind::invalid, "fc3 or swiglu_fusion");
  refused("swiglu_fusion", 3, ErrorKind::invalid, "swiglu_fusion");
  MoeCase c;
  c.k = 5;
  expect_refused(MoeModel(c).model(), ErrorKind::invalid, {"mixture", "k"});
  const HostTensor many(TensorType{DType::f32, {2000, 1, 1}});
  expect_refused(OneNode("MoE", {f32({1, 1}, {1}), HostTensor(TensorType{DType::f32, {1, 2000}}), many,
                                 HostTensor(TensorType{}), many})
                     .model,
                 ErrorKind::unsupported, {"2000 experts"});
  const HostTensor x = f32({1, 2}, {1, 2}), logits = f32({1, 2}, {1, 0});
  const HostTensor weights(TensorType{DType::f32, {2, 3, 2}});
  expect_refused(OneNode("MoE", {x, logits, weights, HostTensor(TensorType{}), weights}).model,
                 ErrorKind::unsupported, {"[experts, hidden, inner]"});
}

}  // namespace
}  // namespace korch
