// Operators that ONNX Runtime's optimizer and quantizers write in place of several. bench/ort_operators.py
// compares drawn ones with ONNX Runtime itself.
#include <gtest/gtest.h>

#include <cmath>

#include "one_node.h"

namespace korch {
namespace {

const HostTensor kNone(TensorType{});

HostTensor i32(const Shape& shape, const std::vector<int32_t>& values) {
  return HostTensor::of<int32_t>(DType::i32, shape, values);
}
HostTensor bytes(const Shape& shape, const std::vector<uint8_t>& values) {
  return HostTensor::of<uint8_t>(DType::u8, shape, values);
}
HostTensor signed_numbers(const Shape& shape, const std::vector<int8_t>& values) {
  return HostTensor::of<int8_t>(DType::i8, shape, values);
}
HostTensor one(float value) {
  return f32({1}, {value});
}

void set_numbers(onnx::proto::NodeProto& node, const std::string& name, const std::vector<float>& values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::proto::AttributeProto::FLOATS);
  for (float value : values) attribute->add_floats(value);
}

// -3 and -4, and a bias of 1; 5 and 1 are added.
OneNode convolution(const std::string& activation, const HostTensor& added = f32({1, 1, 1, 2}, {5, 1})) {
  OneNode node("FusedConv", {f32({1, 1, 1, 3}, {1, 2, 3}), f32({1, 1, 1, 2}, {1, -2}), f32({1}, {1}), added});
  set_attribute(node.node(), "activation", activation);
  return node;
}

TEST(FusedConv, AddsAndActivates) {
  expect_near(convolution("Relu").run(), {3, 0});
  expect_near(convolution("Relu", kNone).run(), {0, 0});
  OneNode leaky = convolution("LeakyRelu");
  set_numbers(leaky.node(), "activation_params", {0.5});
  expect_near(leaky.run(), {3, -1});
  OneNode clip = convolution("Clip");
  set_numbers(clip.node(), "activation_params", {-1, 2});
  expect_near(clip.run(), {2, -1});
}

TEST(FusedConv, RefusesByName) {
  expect_refused(convolution("Swoosh").model, ErrorKind::unsupported, {"FusedConv", "Swoosh"});
  expect_refused(convolution("Clip").model, ErrorKind::invalid, {"Clip needs 2 parameters, 0 are given"});
  expect_refused(convolution("Relu", f32({1, 1, 1, 1}, {5})).model, ErrorKind::invalid,
                 {"another shape than the convolution"});
}

TEST(FusedGemm, Activates) {
  OneNode node("FusedGemm", {f32({1, 2}, {1, 2}), f32({1, 2}, {3, 4}), f32({1}, {-21})});
  set_attribute(node.node(), "transB", 1);
  set_float(node.node(), "alpha", 2);
  set_attribute(node.node(), "activation", "HardSigmoid");
  set_float(node.node(), "activation_alpha", 0.25);
  set_float(node.node(), "activation_beta", 0.5);
  expect_near(node.run(), {0.75});  // of 22 - 21
}

// [M, batch, K] times [N, batch, K].
TEST(FusedMatMul, BatchesBehindRows) {
  OneNode node("FusedMatMul", {f32({2, 2, 1}, {1, 2, 3, 4}), f32({1, 2, 1}, {10, 100})});
  set_attribute(node.node(), "transBatchA", 1);
  set_attribute(node.node(), "transBatchB", 1);
  set_attribute(node.node(), "transB", 1);
  expect_near(node.run(), {10, 30, 200, 400});
}

// One head of size 1, whose queries, keys and values are x, x and 10 x.
OneNode attention(const std::vector<float>& x, const HostTensor& mask = kNone,
                  const HostTensor& past = kNone) {
  const auto length = static_cast<int64_t>(x.size());
  OneNode node("Attention", {f32({1, length, 1}, x), f32({1, 3}, {1, 1, 10}), kNone, mask, past});
  set_attribute(node.node(), "num_heads", 1);
  return node;
}
double mean_of_two(double weight) {  // of 0 and 20
  return 20 * weight / (1 + weight);
}

TEST(RuntimeAttention, ProjectsAndMasks) {
  const double e = std::exp(4.0);
  const Values all = {10, mean_of_two(e)};
  expect_near(attention({0, 2}).run(), all);
  expect_near(attention({0, 2}, i32({1}, {2})).run(), all);
  expect_near(attention({0, 2}, i32({1}, {1})).run(), {0, 0});       // the first key
  expect_near(attention({0, 2}, i32({2}, {2, 1})).run(), {20, 20});  // from the second on
  expect_near(attention({0, 2}, i32({1, 2}, {0, 1})).run(), {20, 20});
  expect_near(attention({0, 2}, i32({1, 2, 2}, {0, 1, 1, 0})).run(), {20, 0});
  OneNode causal = attention({0, 2});
  set_attribute(causal.node(), "unidirectional", 1);
  expect_near(causal.run(), {0, mean_of_two(e)});
  OneNode lenient = attention({0, 2}, i32({1, 2}, {1, 0}));
  set_float(lenient.node(), "mask_filter_value", -4);
  expect_near(lenient.run(), {mean_of_two(std::exp(-4.0)), 10});
}

TEST(RuntimeAttention, PastAndPresent) {
  OneNode node = attention({2}, kNone, f32({2, 1, 1, 1, 1}, {0, 0}));
  node.node().add_output("present");
  node.model.output("present");
  const std::vector<HostTensor> results = interpret(import_onnx_bytes(node.model.bytes()), node.inputs);
  EXPECT_NEAR(element_as_double(results[0], 0), mean_of_two(std::exp(4.0)), 1e-5);
  EXPECT_EQ(results[1].shape(), (Shape{2, 1, 1, 2, 1}));
  EXPECT_EQ(element_as_double(results[1], 1), 2);
  EXPECT_EQ(element_as_double(results[1], 3), 20);
}

TEST(RuntimeAttention, RefusesByName) {
  expect_refused(attention({0, 2}, i32({5}, {1, 0, 2, 0, 2})).model, ErrorKind::unsupported,
                 {"Attention", "a mask i32[5]"});
  expect_refused(attention({0, 2}, i32({1, 3}, {1, 1, 1})).model, ErrorKind::unsupported,
                 {"a mask i32[1x3] for 2 queries and 2 keys"});
  OneNode rotated = attention({0, 2});
  set_attribute(rotated.node(), "do_rotary", 1);
  expect_refused(rotated.model, ErrorKind::unsupported, {"do_rotary"});
  OneNode widths = attention({0, 2});
  set_attribute(widths.node(), "qkv_hidden_sizes", std::vector<int64_t>{1, 1, 2});
  expect_refused(widths.model, ErrorKind::invalid, {"not those of queries, keys and values of widths"});
}

// The same of bytes: data less 10, by scale 1; weights by 1 and 10.
TEST(RuntimeAttention, OfBytes) {
  OneNode node("QAttention",
               {bytes({1, 2, 1}, {10, 12}), signed_numbers({1, 3}, {1, 1, 1}), f32({3}, {0, 0, 0}), one(1),
                f32({3}, {1, 1, 10}), i32({1, 2}, {1, 1}), bytes({}, {10}), signed_numbers({3}, {0, 0, 0})});
  set_attribute(node.node(), "num_heads", 1);
  expect_near(node.run(), {10, mean_of_two(std::exp(4.0))});
}

// Queries, keys and values of one head beside each other; keys and values alone.
TEST(MultiHeadAttention, Packed) {
  const double e = std::exp(2.0);
  OneNode all("MultiHeadAttention", {f32({1, 2, 1, 3, 1}, {2, 0, 10, 2, 1, 20})});
  set_attribute(all.node(), "num_heads", 1);
  expect_near(all.run(), {(10 + 20 * e) / (1 + e), (10 + 20 * e) / (1 + e)});
  OneNode pairs("MultiHeadAttention", {f32({1, 1, 1}, {2}), f32({1, 2, 1, 2, 1}, {0, 10, 1, 20})});
  set_attribute(pairs.node(), "num_heads", 1);
  expect_near(pairs.run(), {(10 + 20 * e) / (1 + e)});
  OneNode odd("MultiHeadAttention", {f32({1, 1, 1}, {2}), f32({1, 2, 1, 3, 1}, {0, 10, 1, 20, 2, 3})});
  set_attribute(odd.node(), "num_heads", 1);
  expect_refused(odd.model, ErrorKind::invalid, {"is not [batch, positions, heads, 2, size]"});
}

// Sums 1 + 2 + 4 and 3 + 2 + 4, whose mean is 8 and deviation 1.
OneNode embedding(const std::vector<HostTensor>& more) {
  std::vector<HostTensor> given = {i32({1, 2}, {1, 0}),       i32({1, 2}, {0, 0}), f32({2, 2}, {0, 0, 1, 3}),
                                   f32({2, 2}, {2, 2, 5, 5}), f32({1, 2}, {4, 4}), f32({2}, {1, 10}),
                                   f32({2}, {0, 1})};
  given.insert(given.end(), more.begin(), more.end());
  return {"EmbedLayerNormalization", given};
}

TEST(EmbedLayerNormalization, SumsAndNormalizes) {
  expect_near(embedding({}).run(), {-1, 11, 0, 1}, 1e-3);
  OneNode counted = embedding({i32({1, 2}, {1, 0}), i32({1, 2}, {1, 1})});
  counted.node().add_output("count");
  counted.node().add_output("sum");
  counted.model.output("count").output("sum");
  const std::vector<HostTensor> results = interpret(import_onnx_bytes(counted.model.bytes()), counted.inputs);
  EXPECT_EQ(element_as_double(results[1], 0), 1);
  EXPECT_EQ(element_as_double(results[2], 0), 10);
  EXPECT_EQ(element_as_double(results[2], 3), 9);
  OneNode without = embedding({});
  without.node().set_input(1, "");
  expect_refused(without.model, ErrorKind::invalid, {"one of them is missing"});
}

TEST(Inverse, ByTheGreatestPivot) {
  expect_near(OneNode("Inverse", {f32({2, 2, 2}, {0, 2, 4, 0, 2, 1, 1, 1})}).run(),
              {0, 0.25, 0.5, 0, 1, -1, -1, 2});
  expect_refused(OneNode("Inverse", {f32({2, 3}, {1, 2, 3, 4, 5, 6})}).model, ErrorKind::invalid, {"square"});
  expect_refused(OneNode("Inverse", {f32({17, 17}, std::vector<float>(289, 1))}).model,
                 ErrorKind::unsupported, {"17 rows"});
}

TEST(CDist, BetweenRows) {
  OneNode node("CDist", {f32({2, 2}, {0, 0, 3, 4}), f32({1, 2}, {0, 0})});
  EXPECT_EQ(node.run(), (Values{0, 25}));
  set_attribute(node.node(), "metric", "euclidean");
  EXPECT_EQ(node.run(), (Values{0, 5}));
  expect_refused(OneNode("CDist", {f32({2}, {0, 0}), f32({1, 2}, {0, 0})}).model, ErrorKind::invalid,
                 {"two matrices"});
}

TEST(QuantizedLayers, Pool) {
  const HostTensor x = bytes({1, 1, 3, 1}, {12, 14, 10});  // 1, 2, 0
  OneNode average("QLinearAveragePool", {x, one(0.5), bytes({}, {10}), one(0.25), bytes({}, {1})});
  set_attribute(average.node(), "kernel_shape", std::vector<int64_t>{2, 1});
  EXPECT_EQ(average.run(), (Values{7, 5}));
  OneNode last("QLinearAveragePool",
               {bytes({1, 3, 1, 1}, {12, 14, 10}), one(0.5), bytes({}, {10}), one(0.25), bytes({}, {1})});
  set_attribute(last.node(), "kernel_shape", std::vector<int64_t>{2, 1});
  set_attribute(last.node(), "channels_last", 1);
  EXPECT_EQ(last.run(), (Values{7, 5}));
  OneNode most("NhwcMaxPool", {bytes({1, 3, 1, 1}, {12, 14, 10})});
  set_attribute(most.node(), "kernel_shape", std::vector<int64_t>{2, 1});
  EXPECT_EQ(most.run(), (Values{14, 14}));
  OneNode mean("QLinearReduceMean", {x, one(0.5), bytes({}, {10}), one(0.25), bytes({}, {1})});
  set_attribute(mean.node(), "axes", std::vector<int64_t>{2});
  set_attribute(mean.node(), "keepdims", 0);
  EXPECT_EQ(mean.run(), (Values{5}));
}

TEST(QuantizedLayers, Where) {
  const HostTensor chosen = HostTensor::of<uint8_t>(DType::bool_, {2}, {1, 0});
  EXPECT_EQ(OneNode("QLinearWhere", {chosen, bytes({2}, {3, 4}), one(1), bytes({}, {1}), bytes({1}, {9}),
                                     one(2), bytes({}, {5}), one(0.5), bytes({}, {0})})
                .run(),
            (Values{4, 16}));
}

// Two channels that a convolution of one tap adds, in the last axis.
TEST(QuantizedLayers, ConvolutionWithChannelsLast) {
  OneNode node("QLinearConv", {bytes({1, 1, 2, 2}, {1, 2, 3, 4}), one(1), bytes({}, {0}),
                               signed_numbers({1, 2, 1, 1}, {1, 10}), one(1), signed_numbers({}, {0}), one(1),
                               bytes({}, {0})});
  set_attribute(node.node(), "channels_last", 1);
  EXPECT_EQ(node.run(), (Values{21, 43}));
}

// Against LSTM of the floats that the weights stand for.
TEST(QuantizedLayers, DynamicLstm) {
  const HostTensor x = f32({2, 1, 2}, {1, -1, 0.5, 2}), scales = f32({1}, {0.25}), zeros = bytes({1}, {128});
  std::vector<uint8_t> w, r;
  std::vector<float> real_w(8), real_r(4);
  for (int i = 0; i < 8; ++i) w.push_back(static_cast<uint8_t>(125 + i));
  for (int i = 0; i < 4; ++i) r.push_back(static_cast<uint8_t>(130 - i));
  for (int i = 0; i < 8; ++i) real_w[i % 4 * 2 + i / 4] = 0.25F * (static_cast<float>(w[i]) - 128);
  for (int i = 0; i < 4; ++i) real_r[i] = 0.25F * (static_cast<float>(r[i]) - 128);
  OneNode node("DynamicQuantizeLSTM", {x, bytes({1, 2, 4}, w), bytes({1, 1, 4}, r), kNone, kNone, kNone,
                                       kNone, kNone, scales, zeros, scales, zeros});
  set_attribute(node.node(), "hidden_size", 1);
  OneNode floats("LSTM", {x, f32({1, 4, 2}, real_w), f32({1, 4, 1}, real_r)}, "");
  const Values expected = floats.run();
  EXPECT_GT(std::abs(expected[1]), 0.01);
  expect_near(node.run(), expected);
}

// Two numbers in a byte, the lower half first, blocks of 16; a row's second block has a scale of its own.
TEST(QuantizedLayers, GatherOfBlocks) {
  std::vector<uint8_t> table(20, 0x88);
  table[10] = 0x9A;
  table[18] = 0xF0;
  OneNode node("GatherBlockQuantized", {bytes({2, 10}, table), i64({1}, {1}), f32({2, 2}, {1, 2, 0.5, 4})});
  set_attribute(node.node(), "block_size", 16);
  Values expected(20, 0);
  expected[0] = 1, expected[1] = 0.5, expected[16] = -32, expected[17] = 28;
  EXPECT_EQ(node.run(), expected);
  set_attribute(node.node(), "gather_axis", 1);
  expect_refused(node.model, ErrorKind::unsupported, {"GatherBlockQuantized", "along the first axis"});
}

}  // namespace
}  // namespace korch
