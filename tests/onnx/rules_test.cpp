// Import rules: what ONNX's own node tests (tests/onnx_node) do not reach.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
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

// Integers beyond 2^53 have no double of their own.
constexpr int64_t kBeyondDouble = (int64_t{1} << 53) + 1;

std::vector<int64_t> run_ints(const ModelBuilder& b, const std::vector<HostTensor>& inputs) {
  return as_int_vector(interpret(import_onnx_bytes(b.bytes()), inputs)[0]);
}

TEST(Import, RangesOfIntegersAreExact) {
  const auto range = [](int64_t start, int64_t limit, int64_t delta) {
    ModelBuilder b;
    b.output("y");
    const int64_t bounds[] = {start, limit, delta};
    for (int i = 0; i < 3; ++i)
      b.initializer(std::string(1, static_cast<char>('a' + i)),
                    HostTensor::of<int64_t>(DType::i64, {}, {bounds[i]}));
    b.node("Range", {"a", "b", "c"}, {"y"}, "range");
    return b;
  };
  const auto values = [&](int64_t start, int64_t limit, int64_t delta) {
    return run_ints(range(start, limit, delta), {});
  };
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(values(kBeyondDouble, kBeyondDouble + 3, 1),
            (std::vector<int64_t>{kBeyondDouble, kBeyondDouble + 1, kBeyondDouble + 2}));
  EXPECT_EQ(values(-kBeyondDouble, -kBeyondDouble - 3, -2),
            (std::vector<int64_t>{-kBeyondDouble, -kBeyondDouble - 2}));
  EXPECT_EQ(values(kLeast, kMost, kMost), (std::vector<int64_t>{kLeast, -1, kMost - 1}));
  EXPECT_EQ(values(kMost, kLeast, kLeast), (std::vector<int64_t>{kMost, -1}));
  EXPECT_EQ(values(3, 3, 1), std::vector<int64_t>{});
  EXPECT_EQ(values(3, 4, -1), std::vector<int64_t>{});
  EXPECT_THROW(import_onnx_bytes(range(0, 4, 0).bytes()), Error);
  EXPECT_THROW(import_onnx_bytes(range(kLeast, kMost, 1).bytes()), Error);
}

TEST(Import, PaddingValuesOfIntegersAreExact) {
  ModelBuilder b;
  b.input("x", {2}, 7).output("y");
  b.ints("pads", {1, 2});
  b.initializer("value", HostTensor::of<int64_t>(DType::i64, {}, {kBeyondDouble}));
  b.node("Pad", {"x", "pads", "value"}, {"y"});
  EXPECT_EQ(run_ints(b, {HostTensor::of<int64_t>(DType::i64, {2}, {5, kBeyondDouble + 2})}),
            (std::vector<int64_t>{kBeyondDouble, 5, kBeyondDouble + 2, kBeyondDouble, kBeyondDouble}));
}

TEST(Import, PowersOfIntegersTakeTheWholeExponent) {
  ModelBuilder b;
  b.input("x", {3}, 6).input("e", {3}, 7).output("y");
  b.node("Pow", {"x", "e"}, {"y"});
  EXPECT_EQ(
      run_ints(b, {HostTensor::of<int32_t>(DType::i32, {3}, {2, -1, 3}),
                   HostTensor::of<int64_t>(DType::i64, {3}, {(int64_t{1} << 32) + 2, kBeyondDouble, 4})}),
      (std::vector<int64_t>{0, -1, 81}));
}

// A missing bound of Clip is the type's extreme number (ONNX 1.17, operator Clip).
TEST(Import, ClipWithoutABoundMakesInfinitiesFinite) {
  ModelBuilder b;
  b.input("x", {4}).output("y");
  b.floats("high", {}, {1});
  b.node("Clip", {"x", "", "high"}, {"y"});
  const HostTensor x = HostTensor::of<float>(DType::f32, {4}, {-INFINITY, -3, 5, NAN});
  const std::vector<double> y = run(b, {x});
  EXPECT_EQ(y[0], std::numeric_limits<float>::lowest());
  EXPECT_EQ(y[1], -3);
  EXPECT_EQ(y[2], 1);
  EXPECT_TRUE(std::isnan(y[3]));
  ModelBuilder neither(6);
  neither.input("x", {4}).output("y");
  neither.node("Clip", {"x"}, {"y"});
  const HostTensor infinities = HostTensor::of<float>(DType::f32, {4}, {-INFINITY, INFINITY, 5, 0});
  EXPECT_EQ(run(neither, {infinities})[1], std::numeric_limits<float>::max());
}

TEST(Import, DropoutThatDropsNothing) {
  const auto model = [](float ratio) {
    ModelBuilder b;
    b.input("x", {2}).output("y").output("mask");
    b.floats("ratio", {}, {ratio});
    b.initializer("training", converted(HostTensor::of<uint8_t>(DType::u8, {}, {1}), DType::bool_));
    b.node("Dropout", {"x", "ratio", "training"}, {"y", "mask"});
    return b;
  };
  const auto results = interpret(import_onnx_bytes(model(0).bytes()), {counting({2})});
  EXPECT_EQ(element_as_double(results[0], 1), 1);
  EXPECT_EQ(as_int_vector(results[1]), (std::vector<int64_t>{1, 1}));
  EXPECT_THROW(import_onnx_bytes(model(1.5f).bytes()), Error);
}

TEST(Import, SequencesVanish) {
  ModelBuilder b;
  b.input("x", {3, 2}).output("y").output("count");
  b.initializer("last", HostTensor::of<int64_t>(DType::i64, {}, {-1}));
  b.initializer("first", HostTensor::of<int64_t>(DType::i64, {}, {0}));
  set_attribute(b.node("SplitToSequence", {"x"}, {"rows"}), "keepdims", int64_t{0});
  b.node("SequenceAt", {"rows", "last"}, {"row"});               // x[2]
  b.node("SequenceErase", {"rows", "first"}, {"two"});           // x[1], x[2]
  b.node("SequenceInsert", {"two", "row", "first"}, {"three"});  // x[2], x[1], x[2]
  b.node("SequenceLength", {"three"}, {"count"});
  auto& joined = b.node("ConcatFromSequence", {"three"}, {"y"});
  set_attribute(joined, "axis", int64_t{-1});
  set_attribute(joined, "new_axis", int64_t{1});
  const Graph graph = import_onnx_bytes(b.bytes());
  const auto results = interpret(graph, {counting({3, 2})});
  EXPECT_EQ(results[0].shape(), (Shape{2, 3}));
  EXPECT_EQ(as_int_vector(converted(results[0].reshaped({6}), DType::i64)),
            (std::vector<int64_t>{4, 2, 4, 5, 3, 5}));
  EXPECT_EQ(element_as_int(results[1], 0), 3);
}

TEST(Import, SplitToSequenceBySizes) {
  const auto part = [](const HostTensor& split, int64_t at) {
    ModelBuilder b;
    b.input("x", {5}).output("y");
    b.initializer("split", split);
    b.initializer("at", HostTensor::of<int64_t>(DType::i64, {}, {at}));
    b.node("SplitToSequence", {"x", "split"}, {"parts"});
    b.node("SequenceAt", {"parts", "at"}, {"y"});
    return run(b, {counting({5})});
  };
  const HostTensor each = HostTensor::of<int64_t>(DType::i64, {}, {2});
  const HostTensor sizes = HostTensor::of<int64_t>(DType::i64, {2}, {1, 4});
  EXPECT_EQ(part(each, 0), (std::vector<double>{0, 1}));
  EXPECT_EQ(part(each, 2), std::vector<double>{4});
  EXPECT_EQ(part(sizes, 1), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_THROW(part(each, 3), Error);
  EXPECT_THROW(part(HostTensor::of<int64_t>(DType::i64, {2}, {1, 3}), 0), Error);
  EXPECT_THROW(part(HostTensor::of<int64_t>(DType::i64, {}, {0}), 0), Error);
}

// A sequence where a tensor is expected, or the other way round, or as an output.
TEST(Import, SequencesInTheWrongPlace) {
  const auto model = [](const char* reader) {
    ModelBuilder b(14);
    b.input("x", {2}).output("y");
    b.node("SequenceConstruct", {"x", "x"}, {"s"});
    b.node(reader, {"s"}, {"y"});
    return b;
  };
  EXPECT_THROW(import_onnx_bytes(model("Relu").bytes()), Error);
  ModelBuilder tensor(14), output(14);
  tensor.input("x", {2}).output("y").node("SequenceLength", {"x"}, {"y"});
  EXPECT_THROW(import_onnx_bytes(tensor.bytes()), Error);
  output.input("x", {2}).output("y").node("SequenceConstruct", {"x"}, {"y"});
  EXPECT_THROW(import_onnx_bytes(output.bytes()), Error);
}

// Weights that are standardized by a normalization in training mode are constants.
TEST(Import, BatchNormalizationOfConstantsInTraining) {
  ModelBuilder b(15);
  b.input("x", {1, 2}).output("y").output("mean");
  b.floats("w", {1, 2, 2}, {1, 3, 2, 6});
  b.floats("scale", {2}, {1, 10});
  b.floats("bias", {2}, {0, 1});
  b.floats("zeros", {2}, {0, 100});
  b.ints("shape", {2, 2});
  auto& norm = b.node("BatchNormalization", {"w", "scale", "bias", "zeros", "zeros"}, {"n", "mean"});
  set_attribute(norm, "training_mode", int64_t{1});
  b.node("Reshape", {"n", "shape"}, {"m"});
  b.node("MatMul", {"x", "m"}, {"y"});
  const Graph graph = import_onnx_bytes(b.bytes());
  EXPECT_EQ(ops(graph), std::vector<Op>{Op::MatMul});
  const auto results = interpret(graph, {HostTensor::of<float>(DType::f32, {1, 2}, {1, 0})});
  EXPECT_NEAR(element_as_double(results[0], 0), -1, 1e-4);
  EXPECT_NEAR(element_as_double(results[0], 1), 1, 1e-4);
  EXPECT_NEAR(element_as_double(results[1], 0), 0.2, 1e-6);
  EXPECT_NEAR(element_as_double(results[1], 1), 90.4, 1e-4);
}

TEST(Import, AxesOfTransposeMayCountFromTheEnd) {
  ModelBuilder b;
  b.input("x", {1, 2, 3}).output("y");
  set_attribute(b.node("Transpose", {"x"}, {"y"}), "perm", std::vector<int64_t>{-1, 0, -2});
  Shape shape;
  EXPECT_EQ(run(b, {counting({1, 2, 3})}, &shape), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(shape, (Shape{3, 1, 2}));
}

TEST(Import, GeluByTanh) {
  ModelBuilder b(20);
  b.input("x", {5}).output("y");
  set_attribute(b.node("Gelu", {"x"}, {"y"}, "gelu"), "approximate", "tanh");
  EXPECT_EQ(print(import_onnx_bytes(b.bytes())), R"(graph {
  input %x : f32[5] "x"
  %v1 = Mul(%x, %x) : f32[5] @ "gelu"
  %v2 = Constant() {value=[0.071354814]} : f32[] @ "gelu"
  %v3 = Mul(%v1, %v2) : f32[5] @ "gelu"
  %v4 = Constant() {value=[1.5957692]} : f32[] @ "gelu"
  %v5 = Add(%v3, %v4) : f32[5] @ "gelu"
  %v6 = Mul(%x, %v5) : f32[5] @ "gelu"
  %v7 = Sigmoid(%v6) : f32[5] @ "gelu"
  %y = Mul(%x, %v7) : f32[5] @ "gelu"
  output %y "y"
}
)");
  const std::vector<float> x = {-6, -1, 0, 0.5, 4};
  const std::vector<double> y = run(b, {HostTensor::of<float>(DType::f32, {5}, x)});
  for (size_t i = 0; i < x.size(); ++i) {
    const double u = std::sqrt(2 / M_PI) * (x[i] + 0.044715 * x[i] * x[i] * x[i]);
    EXPECT_NEAR(y[i], 0.5 * x[i] * (1 + std::tanh(u)), 1e-6) << x[i];
  }
}

TEST(Import, ConcatOfManyOperands) {
  ModelBuilder b;
  b.input("x", {2, 1}).output("y");
  std::vector<std::string> operands;
  for (int i = 0; i < 2000; ++i) {
    operands.push_back("c" + std::to_string(i));
    b.floats(operands.back(), {1}, {static_cast<float>(i)});
    b.node("Add", {"x", operands.back()}, {"s" + std::to_string(i)});
    operands.back()[0] = 's';
  }
  set_attribute(b.node("Concat", operands, {"y"}), "axis", int64_t{1});
  const std::vector<double> y = run(b, {HostTensor::of<float>(DType::f32, {2, 1}, {0, 5000})});
  for (int i = 0; i < 2000; ++i) {
    EXPECT_EQ(y[i], i);
    EXPECT_EQ(y[2000 + i], 5000 + i);
  }
}

// A window far larger than the data costs no more than the data under it.
TEST(Import, FoldsPoolsOfHugeWindows) {
  ModelBuilder b(12);
  b.output("y").output("at").output("mean");
  HostTensor x(TensorType{DType::f32, {1, 1, 5, 5}});
  for (int i = 0; i < 25; ++i) x.mutable_data<float>()[i] = static_cast<float>(i * 7 % 25);
  b.initializer("x", x);
  const int64_t side = 1 << 20;
  for (const char* op : {"MaxPool", "AveragePool"}) {
    const bool max = std::string(op) == "MaxPool";
    auto& node =
        b.node(op, {"x"}, max ? std::vector<std::string>{"y", "at"} : std::vector<std::string>{"mean"});
    set_attribute(node, "kernel_shape", std::vector<int64_t>{side, side});
    set_attribute(node, "pads", std::vector<int64_t>{side - 5, side - 5, side - 5, side - 5});
    set_attribute(node, "strides", std::vector<int64_t>{side - 5, side - 5});
  }
  const auto results = interpret(import_onnx_bytes(b.bytes()), {});
  EXPECT_EQ(results[0].shape(), (Shape{1, 1, 2, 2}));
  EXPECT_EQ(as_int_vector(results[0]), (std::vector<int64_t>{24, 24, 24, 24}));
  EXPECT_EQ(as_int_vector(results[1]), (std::vector<int64_t>{7, 7, 7, 7}));
  EXPECT_EQ(as_int_vector(results[2]), (std::vector<int64_t>{12, 12, 12, 12}));
}

TEST(Import, LongArithmeticIsNotFolded) {
  ModelBuilder b;
  b.output("y");
  const int64_t side = 1 << 11;
  b.ints("shape", {side, side});
  b.node("ConstantOfShape", {"shape"}, {"a"});
  b.node("MatMul", {"a", "a"}, {"y"});
  EXPECT_EQ(ops(import_onnx_bytes(b.bytes())), std::vector<Op>{Op::MatMul});
}

}  // namespace
}  // namespace korch
