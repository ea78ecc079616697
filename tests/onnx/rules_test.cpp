// Import rules: what ONNX's own node tests (tests/onnx_node) do not reach.
#include <gtest/gtest.h>

#include <cmath>

#include "korch/interp/interpreter.h"
#include "korch/onnx/import.h"
#include "model_builder.h"

namespace korch {
namespace {

std::vector<double> run(const ModelBuilder& b, const std::vector<HostTensor>& inputs,
                        Shape* shape = nullptr) {
  const HostTensor result = interpret(import_onnx_bytes(b.bytes()), inputs)[0];
  if (shape != nullptr) *shape = result.shape();
  std::vector<double> values;
  for (int64_t i = 0; i < result.elements(); ++i) values.push_back(element_as_double(result, i));
  return values;
}

HostTensor counting(const Shape& shape) {
  HostTensor result(TensorType{DType::f32, shape});
  for (int64_t i = 0; i < result.elements(); ++i) result.mutable_data<float>()[i] = static_cast<float>(i);
  return result;
}

std::vector<Op> ops(const Graph& graph) {
  std::vector<Op> result;
  for (NodeId id : graph.topological_order()) {
    if (graph.node(id).op != Op::Constant) result.push_back(graph.node(id).op);
  }
  return result;
}

TEST(Import, ShapeArithmeticVanishes) {
  ModelBuilder b;
  b.input("x", {2, 3, 4}).output("y");
  b.node("Shape", {"x"}, {"shape"});
  b.ints("at", {0});
  b.ints("rest", {-1});
  b.node("Gather", {"shape", "at"}, {"batch"});
  b.node("Concat", {"batch", "rest"}, {"target"}).add_attribute();
  auto* axis = b.model.mutable_graph()->mutable_node(2)->mutable_attribute(0);
  axis->set_name("axis");
  axis->set_type(onnx::proto::AttributeProto::INT);
  axis->set_i(0);
  b.node("Reshape", {"x", "target"}, {"y"});
  const Graph graph = import_onnx_bytes(b.bytes());
  EXPECT_EQ(ops(graph), std::vector<Op>{Op::Reshape});
  EXPECT_EQ(graph.node_count(), 1u);  // no constant is left behind
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{2, 12}));
}

TEST(Import, NodesKnowTheirOrigin) {
  ModelBuilder b;
  b.input("x", {2, 3}).output("z");
  b.node("Clip", {"x", "low", "high"}, {"y"});
  b.node("Relu", {"y"}, {"z"}, "activation");
  b.floats("low", {}, {-1});
  b.floats("high", {}, {1});
  const Graph graph = import_onnx_bytes(b.bytes());
  EXPECT_EQ(ops(graph), (std::vector<Op>{Op::Max, Op::Min, Op::Relu}));
  std::vector<std::string> origins, names;
  for (NodeId id : graph.topological_order()) {
    if (graph.node(id).op == Op::Constant) continue;
    origins.push_back(graph.node(id).origins.at(0));
    names.push_back(graph.value(graph.node(id).outputs[0]).name);
  }
  EXPECT_EQ(origins, (std::vector<std::string>{"Clip_0", "Clip_0", "activation"}));
  EXPECT_EQ(names[1], "y");
  EXPECT_EQ(names[2], "z");
}

TEST(Import, InitializersThatAreInputsAreConstants) {
  ModelBuilder b;
  b.input("x", {2}).input("w", {2}).output("y");
  b.floats("w", {2}, {1, 2});
  b.node("Add", {"x", "w"}, {"y"});
  const Graph graph = import_onnx_bytes(b.bytes());
  ASSERT_EQ(graph.inputs().size(), 1u);
  EXPECT_EQ(graph.value(graph.inputs()[0]).name, "x");
}

TEST(Import, AliasesOfInputsAndConstantsAsOutputs) {
  ModelBuilder b;
  b.input("x", {2}).output("same").output("constant");
  b.floats("w", {2}, {3, 4});
  b.node("Identity", {"x"}, {"same"});
  b.node("Dropout", {"w"}, {"constant"});
  const Graph graph = import_onnx_bytes(b.bytes());
  EXPECT_EQ(graph.outputs()[0], graph.inputs()[0]);
  ASSERT_NE(graph.constant(graph.outputs()[1]), nullptr);
}

// A large result of small constants is not stored in the graph.
TEST(Import, FoldingDoesNotInflateTheModel) {
  ModelBuilder b;
  b.input("x", {1}).output("y");
  b.ints("shape", {1 << 14, 1 << 14});
  b.node("ConstantOfShape", {"shape"}, {"zeros"});
  b.node("Add", {"x", "zeros"}, {"y"});
  EXPECT_EQ(ops(import_onnx_bytes(b.bytes())), (std::vector<Op>{Op::Expand, Op::Add}));
}

TEST(Import, TypedFieldsOfEveryType) {
  const auto value_of = [](int32_t data_type, const std::function<void(onnx::proto::TensorProto&)>& fill) {
    ModelBuilder b;
    b.output("w");
    auto* tensor = b.model.mutable_graph()->add_initializer();
    tensor->set_name("w");
    tensor->set_data_type(data_type);
    fill(*tensor);
    const Graph graph = import_onnx_bytes(b.bytes());
    return element_as_double(*graph.constant(graph.outputs()[0]), 0);
  };
  EXPECT_EQ(value_of(1, [](auto& t) { t.add_float_data(1.5f); }), 1.5);
  EXPECT_EQ(value_of(2, [](auto& t) { t.add_int32_data(200); }), 200);
  EXPECT_EQ(value_of(3, [](auto& t) { t.add_int32_data(-100); }), -100);
  EXPECT_EQ(value_of(4, [](auto& t) { t.add_int32_data(60000); }), 60000);
  EXPECT_EQ(value_of(5, [](auto& t) { t.add_int32_data(-30000); }), -30000);
  EXPECT_EQ(value_of(6, [](auto& t) { t.add_int32_data(-7); }), -7);
  EXPECT_EQ(value_of(7, [](auto& t) { t.add_int64_data(1LL << 40); }), 0x1p40);
  EXPECT_EQ(value_of(9, [](auto& t) { t.add_int32_data(7); }), 1);
  EXPECT_EQ(value_of(10, [](auto& t) { t.add_int32_data(0x3e00); }), 1.5);
  EXPECT_EQ(value_of(11, [](auto& t) { t.add_double_data(0.1); }), 0.1);
  EXPECT_EQ(value_of(12, [](auto& t) { t.add_uint64_data(4000000000u); }), 4e9);
  EXPECT_EQ(value_of(13, [](auto& t) { t.add_uint64_data(1ull << 63); }), 0x1p63);
  EXPECT_EQ(value_of(16, [](auto& t) { t.add_int32_data(0x3fc0); }), 1.5);
}

TEST(Import, ClipPropagatesNaNAndItsUpperBoundWins) {
  ModelBuilder b;
  b.input("x", {4}).output("y");
  b.floats("low", {1}, {5});
  b.floats("high", {}, {3});
  b.node("Clip", {"x", "low", "high"}, {"y"});
  const HostTensor x = HostTensor::of<float>(DType::f32, {4}, {NAN, -1, 4, 9});
  const std::vector<double> y = run(b, {x});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(std::vector<double>(y.begin() + 1, y.end()), (std::vector<double>{3, 3, 3}));
}

TEST(Import, SliceWithExtremeBounds) {
  struct Row {
    int64_t start, end, step;
    std::vector<double> expected;
  };
  const int64_t low = INT64_MIN, high = INT64_MAX;
  for (const Row& row : {Row{0, high, 1, {0, 1, 2, 3, 4}}, Row{high, low, -1, {4, 3, 2, 1, 0}},
                         Row{-2, high, 1, {3, 4}}, Row{-1, -6, -2, {4, 2, 0}}, Row{low, high, high, {0}},
                         Row{3, low, low, {3}}, Row{1, -1, 2, {1, 3}}, Row{-100, 2, 1, {0, 1}}}) {
    ModelBuilder b;
    b.input("x", {5}).output("y");
    b.ints("start", {row.start});
    b.ints("end", {row.end});
    b.ints("axis", {-1});
    b.ints("step", {row.step});
    b.node("Slice", {"x", "start", "end", "axis", "step"}, {"y"});
    EXPECT_EQ(run(b, {counting({5})}), row.expected) << row.start << ":" << row.end << ":" << row.step;
  }
}

TEST(Import, NegativePadsCut) {
  ModelBuilder b;
  b.input("x", {5}).output("y");
  b.ints("pads", {-2, 1});
  b.floats("value", {}, {9});
  b.node("Pad", {"x", "pads", "value"}, {"y"});
  EXPECT_EQ(run(b, {counting({5})}), (std::vector<double>{2, 3, 4, 9}));
}

// Windows 0..1, 2..3 and the partial 4 (padding before: 1). The counted padding is the zero in front, not
// what ceil_mode adds behind.
TEST(Import, AveragePoolCountsPaddingButNotThatOfCeilMode) {
  const auto pooled = [](int64_t include_pad) {
    ModelBuilder b;
    b.input("x", {1, 1, 4}).output("y");
    auto& node = b.node("AveragePool", {"x"}, {"y"});
    set_attribute(node, "kernel_shape", std::vector<int64_t>{2});
    set_attribute(node, "strides", std::vector<int64_t>{2});
    set_attribute(node, "pads", std::vector<int64_t>{1, 0});
    set_attribute(node, "ceil_mode", int64_t{1});
    set_attribute(node, "count_include_pad", include_pad);
    return run(b, {HostTensor::of<float>(DType::f32, {1, 1, 4}, {2, 4, 6, 8})});
  };
  EXPECT_EQ(pooled(1), (std::vector<double>{1, 5, 8}));
  EXPECT_EQ(pooled(0), (std::vector<double>{2, 5, 8}));
}

// A window that would begin in the padding behind the data does not count.
TEST(Import, CeilModeDropsWindowsBehindTheData) {
  ModelBuilder b;
  b.input("x", {1, 1, 4}).output("y");
  auto& node = b.node("MaxPool", {"x"}, {"y"});
  set_attribute(node, "kernel_shape", std::vector<int64_t>{2});
  set_attribute(node, "strides", std::vector<int64_t>{3});
  set_attribute(node, "pads", std::vector<int64_t>{1, 1});
  set_attribute(node, "ceil_mode", int64_t{1});
  EXPECT_EQ(run(b, {counting({1, 1, 4})}), (std::vector<double>{0, 3}));
}

TEST(Import, AutoPadOfConvolutions) {
  for (const auto& [auto_pad, expected] :
       {std::pair<std::string, std::vector<double>>{"SAME_UPPER", {1, 5, 4}},
        {"SAME_LOWER", {0, 3, 7}},
        {"VALID", {1, 5}}}) {
    ModelBuilder b;
    b.input("x", {1, 1, 5}).output("y");
    b.floats("w", {1, 1, 2}, {1, 1});
    auto& node = b.node("Conv", {"x", "w"}, {"y"});
    set_attribute(node, "strides", std::vector<int64_t>{2});
    set_attribute(node, "auto_pad", auto_pad);
    EXPECT_EQ(run(b, {counting({1, 1, 5})}), expected) << auto_pad;
  }
}

TEST(Import, SoftmaxUntilOpset12TakesEverythingFromItsAxis) {
  ModelBuilder b(11);
  b.input("x", {2, 2, 2}).output("y");
  b.node("Softmax", {"x"}, {"y"});
  for (double value : run(b, {HostTensor(TensorType{DType::f32, {2, 2, 2}})})) EXPECT_EQ(value, 0.25);
}

TEST(Import, MatMulOfVectors) {
  ModelBuilder b;
  b.input("x", {3}).output("y");
  b.floats("w", {2, 3, 2}, {1, 0, 0, 1, 1, 1, 2, 0, 0, 2, 2, 2});
  b.node("MatMul", {"x", "w"}, {"y"});
  Shape shape;
  EXPECT_EQ(run(b, {counting({3})}, &shape), (std::vector<double>{2, 3, 4, 6}));
  EXPECT_EQ(shape, (Shape{2, 2}));
  ModelBuilder dot;
  dot.input("x", {3}).output("y");
  dot.node("MatMul", {"x", "x"}, {"y"});
  EXPECT_EQ(run(dot, {counting({3})}, &shape), (std::vector<double>{5}));
  EXPECT_EQ(shape, Shape{});
}

TEST(Import, UpsampleOfOpset9ShrinksByRoundingUp) {
  ModelBuilder b(10);
  b.input("x", {1, 1, 1, 4}).output("y");
  b.floats("scales", {4}, {1, 1, 1, 0.6f});
  b.node("Resize", {"x", "scales"}, {"y"});
  EXPECT_EQ(run(b, {counting({1, 1, 1, 4})}), (std::vector<double>{0, 2}));
}

TEST(Import, PowOfIntegersByFloats) {
  ModelBuilder b;
  b.input("x", {3}, 6).output("y");
  b.floats("half", {}, {0.5f});
  b.node("Pow", {"x", "half"}, {"y"});
  EXPECT_EQ(run(b, {HostTensor::of<int32_t>(DType::i32, {3}, {4, 9, 10})}), (std::vector<double>{2, 3, 3}));
}

}  // namespace
}  // namespace korch
