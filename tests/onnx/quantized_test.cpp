// Quantized operators of ONNX Runtime's domain, and what ONNX's own cases (tests/onnx_node) leave out.
#include <gtest/gtest.h>

#include <cmath>

#include "one_node.h"

namespace korch {
namespace {

HostTensor u8(const Shape& shape, const std::vector<uint8_t>& values) {
  return HostTensor::of<uint8_t>(DType::u8, shape, values);
}
HostTensor signed_bytes(const Shape& shape, const std::vector<int8_t>& values) {
  return HostTensor::of<int8_t>(DType::i8, shape, values);
}
HostTensor scale(float value) {
  return f32({1}, {value});
}
HostTensor zero(uint8_t value) {
  return u8({}, {value});
}

TEST(Quantized, RoundsHalfToEvenAndSaturates) {
  const HostTensor x = f32({6}, {0.5, 1.5, 2.5, -1, 300, -300});
  EXPECT_EQ(OneNode("QuantizeLinear", {x, scale(1), zero(2)}, "").run(), (Values{2, 4, 4, 1, 255, 0}));
}

TEST(Quantized, ScalesMustBeNumbersOtherThanZero) {
  for (float wrong : {0.0F, std::nanf(""), INFINITY}) {
    OneNode node("QuantizeLinear", {f32({2}, {1, 2})}, "");
    node.model.floats("scale", {}, {wrong});
    node.node().add_input("scale");
    expect_refused(node.model, ErrorKind::invalid, {"QuantizeLinear_0", "scale"});
  }
}

TEST(Quantized, ZeroPointsAreOfTheNumbersType) {
  expect_refused(OneNode("DequantizeLinear", {u8({2}, {1, 2}), scale(1), signed_bytes({1}, {-3})}, "").model,
                 ErrorKind::invalid, {"a zero point of type i8 for numbers of type u8"});
  expect_refused(OneNode("MatMulInteger",
                         {u8({1, 2}, {1, 2}), signed_bytes({2, 1}, {1, 2}), signed_bytes({1}, {-3})}, "")
                     .model,
                 ErrorKind::invalid, {"a zero point of type i8 for numbers of type u8"});
}

// Every third place of an axis of five has a scale of its own, the last block being short.
TEST(Quantized, Blocks) {
  OneNode node("DequantizeLinear",
               {signed_bytes({5}, {1, 2, 3, 4, 5}), f32({2}, {1, 10}), signed_bytes({2}, {0, 1})}, "");
  set_attribute(node.node(), "axis", 0);
  set_attribute(node.node(), "block_size", 3);
  EXPECT_EQ(node.run(), (Values{1, 2, 3, 30, 40}));
  OneNode wrong("DequantizeLinear", {signed_bytes({5}, {1, 2, 3, 4, 5}), f32({3}, {1, 1, 1})}, "");
  set_attribute(wrong.node(), "axis", 0);
  set_attribute(wrong.node(), "block_size", 3);
  expect_refused(wrong.model, ErrorKind::invalid, {"do not fit blocks of 3"});
}

// More products of the largest numbers than float32 counts exactly.
TEST(Quantized, ProductsAreExact) {
  const int64_t depth = 4001;
  std::vector<uint8_t> row(depth, 255), column(depth, 255);
  row[7] = 254;
  EXPECT_EQ(OneNode("MatMulInteger", {u8({1, depth}, row), u8({depth, 1}, column)}, "").run(),
            (Values{255.0 * 255 * depth - 255}));
  EXPECT_EQ(
      OneNode("ConvInteger", {u8({1, depth, 1, 1}, row), u8({1, depth, 1, 1}, column), zero(1)}, "").run(),
      (Values{255.0 * 254 * depth - 255}));
}

TEST(Quantized, ConvolutionPadsWithTheZeroPoint) {
  OneNode node("QLinearConv",
               {u8({1, 1, 1, 2}, {12, 14}), scale(0.5), zero(10),
                signed_bytes({2, 1, 1, 3}, {1, 1, 1, 2, 0, -2}), f32({2}, {1, 2}), signed_bytes({2}, {0, 0}),
                scale(1), zero(100), HostTensor::of<int32_t>(DType::i32, {2}, {2, 0})},
               "");
  set_attribute(node.node(), "pads", std::vector<int64_t>{0, 1, 0, 1});
  // Channel 0: (2 + 4 + 2) * 0.5; channel 1: -8 and 4 times 0.5 * 2.
  EXPECT_EQ(node.run(), (Values{104, 104, 92, 104}));
}

TEST(Quantized, OperatorsOfTheRuntime) {
  const HostTensor x = u8({1, 2, 1, 2}, {10, 20, 30, 50});
  EXPECT_EQ(OneNode("QLinearAdd", {x, scale(1), zero(10), x, scale(0.5), zero(0), scale(1), zero(0)}).run(),
            (Values{5, 20, 35, 65}));
  EXPECT_EQ(OneNode("QLinearMul", {x, scale(1), zero(10), x, scale(0.1), zero(0), scale(1), zero(1)}).run(),
            (Values{1, 21, 61, 201}));
  EXPECT_EQ(OneNode("QLinearGlobalAveragePool", {x, scale(1), zero(0), scale(0.5), zero(3)}).run(),
            (Values{33, 83}));
  EXPECT_EQ(OneNode("QLinearSigmoid", {x, scale(1), zero(20), scale(1.0F / 256), zero(0)}).run(),
            (Values{0, 128, 255, 255}));
  OneNode leaky("QLinearLeakyRelu", {x, scale(1), zero(20), scale(0.5), zero(100)});
  set_float(leaky.node(), "alpha", 0.5);
  EXPECT_EQ(leaky.run(), (Values{90, 100, 120, 160}));
  OneNode concat("QLinearConcat",
                 {scale(1), zero(0), u8({1}, {4}), scale(2), zero(1), u8({2}, {3, 5}), scale(1), zero(0)});
  set_attribute(concat.node(), "axis", 0);
  EXPECT_EQ(concat.run(), (Values{6, 3, 5}));
}

TEST(Quantized, Gemm) {
  OneNode node("QGemm",
               {u8({1, 2}, {3, 5}), scale(0.5), zero(1), signed_bytes({2, 2}, {1, 2, 3, 4}), f32({2}, {1, 2}),
                signed_bytes({2}, {0, 1}), HostTensor::of<int32_t>(DType::i32, {2}, {4, 0})});
  set_attribute(node.node(), "transB", 1);
  // (2 + 8 + 4) * 0.5 and (2 * 2 + 4 * 3) * 1.
  EXPECT_EQ(node.run(), (Values{7, 16}));
}

TEST(Quantized, DynamicProducts) {
  const HostTensor x = f32({1, 2}, {255, 128}), w = signed_bytes({2, 1}, {3, -2});
  EXPECT_EQ(OneNode("DynamicQuantizeMatMul", {x, w, scale(0.5)}).run(), (Values{(255 * 3 - 128 * 2) * 0.5}));
  EXPECT_EQ(OneNode("MatMulIntegerToFloat", {u8({1, 2}, {4, 2}), w, scale(0.5), scale(2), zero(1)}).run(),
            (Values{3 * 3 - 1 * 2}));
}

// Four bits each, two in a byte, in blocks of four of which the second is short.
TEST(Quantized, MatMulOfFewBits) {
  const auto node = [](bool with_zero_point) {
    OneNode result("MatMulNBits", {f32({1, 6}, {1, 1, 1, 1, 1, 2})});
    ModelBuilder& b = result.model;
    b.initializer("w", u8({1, 2, 2}, {0x98, 0xBA, 0x7F, 0x00}));  // 8 9 10 11, 15 7
    b.floats("s", {2}, {1, 0.5});
    if (with_zero_point) b.initializer("z", u8({1}, {0x79}));  // 9, 7
    auto& proto = result.node();
    proto.clear_input();
    for (const char* name : {"x0", "w", "s", with_zero_point ? "z" : ""}) proto.add_input(name);
    for (const auto& [name, value] :
         {std::pair("K", 6), std::pair("N", 1), std::pair("bits", 4), std::pair("block_size", 4)})
      set_attribute(proto, name, value);
    return result;
  };
  EXPECT_EQ(node(false).run(), (Values{0 + 1 + 2 + 3 + 0.5 * (7 - 2 * 1)}));
  EXPECT_EQ(node(true).run(), (Values{-1 + 0 + 1 + 2 + 0.5 * (8 + 2 * 0)}));
}

// QuantizeLinear and DequantizeLinear around a product: one of whole numbers, which are multiplied by the
// scales once.
struct QuantizedProduct {
  ModelBuilder b{21};

  QuantizedProduct(const Shape& data, const HostTensor& weights, const std::vector<float>& scales,
                   int64_t axis) {
    b.input("x", data);
    b.initializer("xs", f32({}, {0.5}));
    b.initializer("xz", zero(3));
    b.initializer("w", weights);
    b.initializer("ws",
                  f32(scales.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(scales.size())}, scales));
    b.node("QuantizeLinear", {"x", "xs", "xz"}, {"xq"});
    b.node("DequantizeLinear", {"xq", "xs", "xz"}, {"xd"});
    set_attribute(b.node("DequantizeLinear", {"w", "ws"}, {"wd"}), "axis", axis);
    b.output("y");
  }
  Graph graph() { return import_onnx_bytes(b.bytes()); }
};

Values values_of(const HostTensor& tensor) {
  Values values;
  for (int64_t i = 0; i < tensor.elements(); ++i) values.push_back(element_as_double(tensor, i));
  return values;
}

bool multiplies(const Graph& graph, Op op, const std::vector<double>& weights) {
  for (NodeId id = 0; id < graph.node_count(); ++id)
    if (graph.node(id).op == op) return values_of(*graph.constant(graph.node(id).inputs[1])) == weights;
  return false;
}

TEST(Quantized, ProductsOfDequantizedNumbersAreOfWholeOnes) {
  const HostTensor w = signed_bytes({2, 2}, {1, -2, 3, 4});
  QuantizedProduct columns({1, 2}, w, {0.25, 2}, 1);
  columns.b.node("MatMul", {"xd", "wd"}, {"y"});
  EXPECT_TRUE(multiplies(columns.graph(), Op::MatMul, {1, -2, 3, 4}));
  EXPECT_EQ(values_of(interpret(columns.graph(), {f32({1, 2}, {2, 1})})[0]),
            (Values{(4 * 1 + 2 * 3) * 0.125, (4 * -2 + 2 * 4) * 1.0}));

  QuantizedProduct rows({1, 2}, w, {0.25, 2}, 0);
  rows.b.node("MatMul", {"xd", "wd"}, {"y"});  // whose scales change along what is summed
  EXPECT_FALSE(multiplies(rows.graph(), Op::MatMul, {1, -2, 3, 4}));
  EXPECT_EQ(values_of(interpret(rows.graph(), {f32({1, 2}, {2, 1})})[0]), (Values{0.5 + 6, -1 + 8}));

  QuantizedProduct gemm({1, 2}, w, {0.25, 2}, 0);
  gemm.b.initializer("bias", f32({2}, {10, 20}));
  set_attribute(gemm.b.node("Gemm", {"xd", "wd", "bias"}, {"y"}), "transB", 1);
  EXPECT_TRUE(multiplies(gemm.graph(), Op::Gemm, {1, -2, 3, 4}));
  EXPECT_EQ(values_of(interpret(gemm.graph(), {f32({1, 2}, {2, 1})})[0]), (Values{10, 20.0 + 12 + 8}));

  QuantizedProduct conv({1, 2, 1, 1}, signed_bytes({2, 2, 1, 1}, {1, -2, 3, 4}), {0.25, 2}, 0);
  conv.b.initializer("bias", f32({2}, {10, 20}));
  conv.b.node("Conv", {"xd", "wd", "bias"}, {"y"});
  EXPECT_TRUE(multiplies(conv.graph(), Op::Conv, {1, -2, 3, 4}));
  EXPECT_EQ(values_of(interpret(conv.graph(), {f32({1, 2, 1, 1}, {2, 1})})[0]), (Values{10, 40}));
}

// A power of two that is no smaller; -0 and what is too small become the least.
TEST(Float8E8M0, Cast) {
  const auto cast = [] {
    OneNode node("Cast", {f32({6}, {1, 1.0001F, 3, 1e-45F, 3e38F, 0.5F})}, "");
    set_attribute(node.node(), "to", 24);
    return node;
  };
  const HostTensor result = interpret(import_onnx_bytes(cast().model.bytes()), cast().inputs)[0];
  EXPECT_EQ(as_int_vector(result.retyped(DType::u8)), (std::vector<int64_t>{127, 128, 129, 0, 254, 126}));
  OneNode down = cast(), wrong = cast(), strict = cast();
  set_attribute(down.node(), "round_mode", std::string("down"));
  expect_refused(down.model, ErrorKind::unsupported, {"Cast", "FLOAT8E8M0", "rounding up"});
  set_attribute(strict.node(), "saturate", 0);
  expect_refused(strict.model, ErrorKind::unsupported, {"Cast", "FLOAT8E8M0", "saturating"});
  set_attribute(wrong.node(), "round_mode", std::string("sideways"));
  expect_refused(wrong.model, ErrorKind::invalid, {"round_mode", "sideways"});
}

}  // namespace
}  // namespace korch
