// Nodes that are not what their operator takes: attributes, inputs, types and shapes.
#include <fmt/format.h>

#include <limits>

#include "expect_error.h"

namespace korch {
namespace {

TEST(BadAttribute, WrongTypeUnknownOrMissing) {
  ModelBuilder wrong;
  wrong.input("x", {2, 3}).output("y");
  set_attribute(wrong.node("Transpose", {"x"}, {"y"}, "t"), "perm", int64_t{1});
  expect_refused(wrong, ErrorKind::invalid, {"\"t\" (Transpose)", "perm", "type"});
  ModelBuilder unknown;
  unknown.input("x", {2, 3}).output("y");
  set_attribute(unknown.node("Relu", {"x"}, {"y"}, "r"), "slope", int64_t{1});
  expect_refused(unknown, ErrorKind::invalid, {"\"r\" (Relu)", "\"slope\""});
  ModelBuilder missing;
  missing.input("x", {2, 3}).output("y");
  missing.node("Concat", {"x", "x"}, {"y"}, "c");
  expect_refused(missing, ErrorKind::invalid, {"\"c\" (Concat)", "axis", "missing"});
}

TEST(BadAttribute, GivenTwice) {
  ModelBuilder b;
  b.input("x", {2, 3}).output("y");
  auto& node = b.node("Concat", {"x", "x"}, {"y"}, "c");
  set_attribute(node, "axis", int64_t{0});
  set_attribute(node, "axis", int64_t{1});
  expect_refused(b, ErrorKind::invalid, {"\"c\" (Concat)", "\"axis\"", "twice"});
}

// Flags are 0 or 1, and a float is a number.
TEST(BadAttribute, OutsideOfItsDomain) {
  const auto refuse = [](const char* op, const char* name, auto value, const char* word) {
    ModelBuilder b;
    b.input("x", {2, 3}).output("y");
    onnx::proto::NodeProto& node = b.node(op, {"x"}, {"y"}, "n");
    if constexpr (std::is_same_v<decltype(value), float>)
      set_float_attribute(node, name, value);
    else
      set_attribute(node, name, value);
    expect_refused(b, ErrorKind::invalid, {std::string("\"n\" (") + op + ")", name, word});
  };
  refuse("ArgMax", "keepdims", int64_t{7}, "neither 0 nor 1");
  refuse("ArgMax", "select_last_index", int64_t{-1}, "neither 0 nor 1");
  refuse("IsInf", "detect_negative", int64_t{2}, "neither 0 nor 1");
  refuse("Celu", "alpha", 0.F, "divided by it");
  refuse("Elu", "alpha", std::numeric_limits<float>::quiet_NaN(), "NaN");
}

TEST(BadNode, SurplusInputs) {
  ModelBuilder b;
  b.input("x", {2, 3}).output("y");
  b.node("Relu", {"x", "x"}, {"y"}, "r");
  expect_refused(b, ErrorKind::invalid, {"\"r\" (Relu)", "input 1 (\"x\")"});
  ModelBuilder old(10);  // bounds of Clip became inputs with opset 11
  old.input("x", {2, 3}).output("y");
  old.floats("low", {}, {0});
  old.node("Clip", {"x", "low"}, {"y"}, "c");
  expect_refused(old, ErrorKind::invalid, {"\"c\" (Clip)", "input 1"});
  ModelBuilder left_out;
  left_out.input("x", {2, 3}).output("y");
  left_out.node("Relu", {"x", "", ""}, {"y"});
  EXPECT_EQ(import_onnx_bytes(left_out.bytes()).live_node_count(), 1u);
}

TEST(BadNode, OperatorsThatTheOpsetHasNot) {
  ModelBuilder early(13);
  early.input("x", {2, 3}).output("y");
  early.floats("w", {3}, {1, 1, 1});
  early.node("LayerNormalization", {"x", "w"}, {"y"}, "norm");
  expect_refused(early, ErrorKind::invalid, {"\"norm\" (LayerNormalization)", "opset 13", "17 to 28"});
  ModelBuilder late(13);
  late.input("x", {1, 1, 3}).output("y");
  late.floats("scales", {3}, {1, 1, 2});
  late.node("Upsample", {"x", "scales"}, {"y"}, "up");
  expect_refused(late, ErrorKind::invalid, {"\"up\" (Upsample)", "opset 13", "7 to 9"});
}

TEST(BadNode, IntegersWhereOnlyFloatsAreDefined) {
  ModelBuilder conv;
  conv.input("x", {1, 1, 4, 4}, 6).input("w", {1, 1, 3, 3}, 6).output("y");
  conv.node("Conv", {"x", "w"}, {"y"}, "c");
  expect_refused(conv, ErrorKind::invalid, {"\"c\" (Conv)", "floats"});
  ModelBuilder softmax;
  softmax.input("x", {2, 3}, 7).output("y");
  softmax.node("Softmax", {"x"}, {"y"}, "s");
  expect_refused(softmax, ErrorKind::invalid, {"\"s\" (Softmax)", "float"});
}

// Refused where the node is known, not when it is broken into arithmetic.
TEST(BadNode, ArithmeticOnTruthValues) {
  for (const char* op : {"ReduceMean", "ReduceL1", "ReduceSumSquare", "Sum"}) {
    ModelBuilder b;
    b.input("x", {2, 3}, 9).output("y");
    b.node(op, op == std::string("Sum") ? std::vector<std::string>{"x", "x"} : std::vector<std::string>{"x"},
           {"y"}, "n");
    expect_refused(b, ErrorKind::invalid, {fmt::format("\"n\" ({})", op), "bool"});
  }
}

// Off the axis an index keeps its own coordinate: the data must have it.
TEST(BadShapes, IndicesBeyondTheDataOffTheAxis) {
  for (const bool constant : {true, false}) {
    for (const bool scatter : {true, false}) {
      ModelBuilder b;
      b.output("y");
      const std::vector<int64_t> indices(10, 0);
      if (constant) {
        b.floats("data", {1, 5}, {1, 2, 3, 4, 5});
        b.floats("updates", {2, 5}, std::vector<float>(10, 7));
        b.initializer("at", HostTensor::of<int64_t>(DType::i64, {2, 5}, indices));
      } else {
        b.input("data", {1, 5}).input("updates", {2, 5}).input("at", {2, 5}, 7);
      }
      std::vector<std::string> inputs = {"data", "at"};
      if (scatter) inputs.push_back("updates");
      const char* op = scatter ? "ScatterElements" : "GatherElements";
      set_attribute(b.node(op, inputs, {"y"}, "pick"), "axis", int64_t{1});
      expect_refused(b, ErrorKind::invalid, {"\"pick\"", op, "extent 2 on axis 0", "data's 1"});
    }
  }
}

TEST(BadAttribute, ExtremeValues) {
  const int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  for (int64_t value : {low, low + 1, int64_t{-7}, int64_t{0}, high}) {
    for (const char* attribute : {"strides", "dilations", "kernel_shape", "pads"}) {
      ModelBuilder b;
      b.input("x", {1, 2, 5, 5}).output("y");
      auto& node = b.node("AveragePool", {"x"}, {"y"}, "pool");
      if (std::string(attribute) != "kernel_shape")
        set_attribute(node, "kernel_shape", std::vector<int64_t>{2, 2});
      const size_t count = std::string(attribute) == "pads" ? 4 : 2;
      if (value == 0 && count == 4) continue;
      set_attribute(node, attribute, std::vector<int64_t>(count, value));
      expect_refused(b, ErrorKind::invalid, {"\"pool\" (AveragePool)"});
    }
    ModelBuilder axis;
    axis.input("x", {2, 3}).output("y");
    set_attribute(axis.node("Concat", {"x", "x"}, {"y"}, "c"), "axis", value == 0 ? 2 : value);
    expect_refused(axis, ErrorKind::invalid, {"\"c\" (Concat)", "axis"});
  }
}

TEST(BadShapes, NameTheNodeAndTheTypes) {
  ModelBuilder b;
  b.input("x", {2, 3}).input("z", {4, 5}).output("y");
  b.node("MatMul", {"x", "z"}, {"y"}, "product");
  expect_refused(b, ErrorKind::invalid, {"\"product\" (MatMul)", "f32[2x3]", "f32[4x5]"});
  ModelBuilder reshape;
  reshape.input("x", {2, 3}).output("y");
  reshape.ints("shape", {4, -1});
  reshape.node("Reshape", {"x", "shape"}, {"y"}, "r");
  expect_refused(reshape, ErrorKind::invalid, {"\"r\" (Reshape)", "6 elements"});
  ModelBuilder type;
  type.input("x", {2, 3}).output("y");
  type.model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(7);
  type.node("Relu", {"x"}, {"y"});
  expect_refused(type, ErrorKind::invalid, {"\"y\"", "INT64", "f32[2x3]"});
}

TEST(BadShapes, MissingInputs) {
  ModelBuilder b;
  b.input("x", {2, 3}).output("y");
  b.node("Add", {"x"}, {"y"}, "half");
  expect_refused(b, ErrorKind::invalid, {"\"half\" (Add)", "input 1 is missing"});
  ModelBuilder second = relu_model();
  second.model.mutable_graph()->mutable_node(0)->add_output("extra");
  second.output("extra");
  expect_refused(second, ErrorKind::invalid, {"(Relu)", "no output 1"});
}

TEST(ConstantFolding, OutOfRangeIndicesNameTheNode) {
  ModelBuilder b;
  b.output("y");
  b.floats("data", {3}, {1, 2, 3});
  b.ints("at", {5});
  set_attribute(b.node("GatherElements", {"data", "at"}, {"y"}, "pick"), "axis", int64_t{0});
  expect_refused(b, ErrorKind::invalid, {"\"pick\" (GatherElements)"});
}

}  // namespace
}  // namespace korch
