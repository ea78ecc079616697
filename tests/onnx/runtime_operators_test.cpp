// Operators of ONNX Runtime's domain, and what ONNX's own cases (tests/onnx_node) do not ask of its newest
// ones.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "one_node.h"

namespace korch {
namespace {

double gelu(double x) {
  return x * 0.5 * (1 + std::erf(x / std::sqrt(2)));
}

TEST(RuntimeOperators, Gelus) {
  const HostTensor x = f32({2, 2}, {-3, -0.5, 0.25, 2}), bias = f32({2}, {1, -1});
  expect_near(OneNode("Gelu", {x}).run(), {gelu(-3), gelu(-0.5), gelu(0.25), gelu(2)});
  expect_near(OneNode("BiasGelu", {x, bias}).run(), {gelu(-2), gelu(-1.5), gelu(1.25), gelu(1)});
  expect_near(OneNode("FastGelu", {x, bias}).run(), {gelu(-2), gelu(-1.5), gelu(1.25), gelu(1)}, 1e-3);
  Values quick;
  for (double v : {-3.0, -0.5, 0.25, 2.0}) quick.push_back(v / (1 + std::exp(-1.702 * v)));
  expect_near(OneNode("QuickGelu", {x}).run(), quick);
}

TEST(RuntimeOperators, FusedMatMul) {
  OneNode product("FusedMatMul", {f32({2, 1}, {1, 2}), f32({1, 2}, {3, 4})});
  set_float(product.node(), "alpha", 0.5);
  set_attribute(product.node(), "transA", 1);
  set_attribute(product.node(), "transB", 1);
  expect_near(product.run(), {5.5});
}

TEST(RuntimeOperators, SkipNormalizations) {
  const HostTensor x = f32({1, 2}, {1, 2}), skip = f32({1, 2}, {0, 3}), gamma = f32({2}, {2, 3}),
                   beta = f32({2}, {1, 1});
  const HostTensor bias = f32({2}, {1, 0});
  // The sum is (2, 5), of mean 3.5 and deviation 1.5.
  OneNode layer("SkipLayerNormalization", {x, skip, gamma, beta, bias});
  expect_near(layer.run(), {-1, 4});
  layer.node().add_output("");
  layer.node().add_output("");
  layer.node().add_output("sum");
  layer.model.output("sum");
  EXPECT_EQ(element_as_double(interpret(import_onnx_bytes(layer.model.bytes()), layer.inputs)[1], 1), 5);
  const double root = std::sqrt((1 + 25) / 2.0);
  expect_near(OneNode("SkipSimplifiedLayerNormalization", {x, skip, gamma}).run(), {2 / root, 15 / root});
  expect_near(OneNode("SimplifiedLayerNormalization", {f32({1, 2}, {1, 5}), gamma}, "").run(),
              {2 / root, 15 / root});
}

// A quarter turn at position 1, none at 0.
TEST(RuntimeOperators, RotaryEmbedding) {
  const HostTensor x = f32({1, 2, 2}, {1, 2, 3, 4}), cosine = f32({3, 1}, {1, 0, -1}),
                   sine = f32({3, 1}, {0, 1, 0});
  expect_near(OneNode("RotaryEmbedding", {x, i64({1, 2}, {1, 0}), cosine, sine}).run(), {-2, 1, 3, 4});
  expect_near(OneNode("RotaryEmbedding", {x, i64({1}, {1}), cosine, sine}).run(), {-2, 1, -3, -4});
}

// One head of size 1, two keys: the weights are the softmax of the scores.
TEST(RuntimeOperators, MultiHeadAttention) {
  const HostTensor q = f32({1, 1, 1}, {2}), k = f32({1, 2, 1}, {0, 1}), v = f32({1, 2, 1}, {10, 20}),
                   none(TensorType{});
  const double e = std::exp(2.0);
  OneNode plain("MultiHeadAttention", {q, k, v});
  set_attribute(plain.node(), "num_heads", 1);
  expect_near(plain.run(), {(10 + 20 * e) / (1 + e)});
  OneNode masked("MultiHeadAttention", {q, k, v, none, i64({1, 2}, {1, 0})});
  set_attribute(masked.node(), "num_heads", 1);
  expect_near(masked.run(), {10});
  OneNode biased("MultiHeadAttention", {q, k, v, f32({3}, {-2, 0, 1}), none, f32({1, 1, 1, 2}, {0, 2})});
  set_attribute(biased.node(), "num_heads", 1);
  expect_near(biased.run(), {(11 + 21 * e) / (1 + e)});
}

// A query that may attend nothing gets zeros, whatever stands in the values.
TEST(Attention, NothingToAttend) {
  const HostTensor q = f32({1, 1, 2, 1}, {1, 1}), k = f32({1, 1, 2, 1}, {1, 2}),
                   v = f32({1, 1, 2, 1}, {3, 4});
  const HostTensor mask = converted(i64({2, 2}, {0, 0, 1, 0}), DType::bool_);
  expect_near(OneNode("Attention", {q, k, v, mask}, "").run(), {0, 3});
  const float forbidden = -std::numeric_limits<float>::infinity();
  expect_near(OneNode("Attention", {q, k, v, f32({2, 2}, {forbidden, 0, forbidden, forbidden})}, "").run(),
              {4, 0});
}

OneNode grouped(const std::vector<HostTensor>& inputs, int64_t total) {
  std::vector<HostTensor> all = inputs;
  all.push_back(HostTensor(TensorType{}));  // the total, a constant
  OneNode node("GroupQueryAttention", all);
  node.node().set_input(6, "total");
  node.model.initializer("total", HostTensor::of<int32_t>(DType::i32, {}, {static_cast<int32_t>(total)}));
  set_attribute(node.node(), "num_heads", 1);
  set_attribute(node.node(), "kv_num_heads", 1);
  return node;
}

// Queries of 0 see all keys alike: the mean of the values up to their own.
TEST(GroupQueryAttention, GrowsItsCache) {
  const HostTensor none = HostTensor(TensorType{}), zeros = f32({1, 1, 2}, {0, 0}),
                   v = f32({1, 1, 2}, {3, 4});
  const HostTensor past = f32({1, 1, 3, 2}, {1, 2, 9, 9, 9, 9});
  const auto lengths = [](const std::vector<int32_t>& values) {
    return HostTensor::of<int32_t>(DType::i32, {static_cast<int64_t>(values.size())}, values);
  };
  expect_near(grouped({zeros, zeros, v, past, past, lengths({1})}, 2).run(), {2, 3});
  const HostTensor two = f32({1, 2, 2}, {0, 0, 0, 0});
  expect_near(grouped({two, two, f32({1, 2, 2}, {1, 2, 3, 6}), none, none, lengths({1})}, 2).run(),
              {1, 2, 2, 4});
  OneNode packed = grouped({f32({1, 1, 6}, {0, 0, 0, 0, 3, 4}), none, none, past, past, lengths({2})}, 3);
  packed.model.output("values");
  for (const char* name : {"keys", "values"}) packed.node().add_output(name);
  const std::vector<HostTensor> results = interpret(import_onnx_bytes(packed.model.bytes()), packed.inputs);
  Values cache;
  for (int64_t i = 0; i < 6; ++i) cache.push_back(element_as_double(results[1], i));
  expect_near(cache, {1, 2, 9, 9, 3, 4});
  OneNode smooth = grouped({zeros, zeros, v, none, none, lengths({0})}, 1);
  set_attribute(smooth.node(), "smooth_softmax", 1);
  expect_refused(smooth.model, ErrorKind::unsupported, {"smooth_softmax"});
}

// Coordinates that are no numbers, or far away, address nothing.
TEST(GridSample, StrangeCoordinates) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const HostTensor x = f32({1, 1, 2, 2}, {1, 2, 3, 4});
  OneNode nearest("GridSample", {x, f32({1, 1, 4, 2}, {nan, 0, infinity, 0, 1e30f, -1e30f, -0.5f, 0.5f})},
                  "");
  set_attribute(nearest.node(), "mode", std::string("nearest"));
  expect_near(nearest.run(), {0, 0, 0, 3});
  set_attribute(nearest.node(), "padding_mode", std::string("border"));
  expect_near(nearest.run(), {0, 2, 2, 3});
}

TEST(Refused, WhatDependsOnData) {
  expect_refused(OneNode("Det", {HostTensor(TensorType{DType::f32, {5, 5}})}, "").model,
                 ErrorKind::unsupported, {"determinants of 5 rows"});
}

}  // namespace
}  // namespace korch
