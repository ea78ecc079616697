// One graph for any extent within a range: it computes what the graph for that extent alone computes.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "expect_error.h"
#include "korch/interp/interpreter.h"
#include "open_extents.h"

namespace korch {
namespace {

constexpr int64_t kMostBatch = 3, kMostSteps = 5, kWidth = 4;

// Of one input x[batch, steps, kWidth].
struct Network {
  const char* name;
  std::function<void(ModelBuilder&)> build;
};

void opset_of(ModelBuilder& b, const char* domain, int64_t version) {
  auto* import = b.model.add_opset_import();
  import->set_domain(domain);
  import->set_version(version);
}

// y: `data` of so many steps, its rows cut into heads, which come before the steps. `s` is a shape with its
// batch. -1 heads: as many as there are.
void cut_into_heads(ModelBuilder& b, const std::string& data, const std::string& length, int64_t heads = -1) {
  b.ints("zero", {0});
  b.ints("heads", {heads, kWidth / 2});
  b.node("Gather", {"s", "zero"}, {"n"});
  set_attribute(b.node("Concat", {"n", length, "heads"}, {"to"}), "axis", 0);
  b.node("Reshape", {data, "to"}, {"h"});
  set_attribute(b.node("Transpose", {"h"}, {"y"}), "perm", std::vector<int64_t>{0, 2, 1, 3});
}

void expect_same_at_all_extents(const Network& network) {
  ModelBuilder b(17);
  b.input("x", {-1, -1, kWidth}, 1, {"batch", "steps", ""}).output("y");
  b.initializer("w", random_tensor({kWidth, kWidth}, 7));
  network.build(b);
  ImportOptions open;
  open.shapes = {{"batch", {kMostBatch}}, {"steps", {kMostSteps}}};
  open.least_shapes = {{"batch", {1}}, {"steps", {1}}};
  const Graph graph = import_onnx_bytes(b.bytes(), open);
  ASSERT_EQ(graph.open_dimensions().size(), 2u);
  for (int64_t batch = 1; batch <= kMostBatch; ++batch)
    for (int64_t steps = 1; steps <= kMostSteps; ++steps) {
      const HostTensor x = random_tensor({batch, steps, kWidth}, 10 * batch + steps);
      ImportOptions fixed;
      fixed.shapes = {{"batch", {batch}}, {"steps", {steps}}};
      const HostTensor wanted = interpret(import_onnx_bytes(b.bytes(), fixed), {x})[0];
      const std::vector<HostTensor> got =
          interpret(graph, {at_bounds(x, {kMostBatch, kMostSteps, kWidth}),
                            HostTensor::of<int64_t>(DType::i64, {}, {batch}),
                            HostTensor::of<int64_t>(DType::i64, {}, {steps})});
      const HostTensor result = got[0].cropped(output_shapes(graph, got)[0]);
      ASSERT_EQ(result.shape(), wanted.shape()) << network.name;
      for (int64_t i = 0; i < result.elements(); ++i)
        ASSERT_NEAR(element_as_double(result, i), element_as_double(wanted, i), 1e-9)
            << network.name << ", batch " << batch << ", steps " << steps << ", element " << i;
    }
}

TEST(OpenDimensions, ComputeWhatFixedOnesDo) {
  const std::vector<Network> networks = {
      {"pointwise", [](ModelBuilder& b) { b.node("Relu", {"x"}, {"y"}); }},
      {"attention",
       [](ModelBuilder& b) {
         set_attribute(b.node("Transpose", {"x"}, {"t"}), "perm", std::vector<int64_t>{0, 2, 1});
         b.node("MatMul", {"x", "t"}, {"scores"});
         set_attribute(b.node("Softmax", {"scores"}, {"p"}), "axis", -1);
         b.node("MatMul", {"p", "x"}, {"y"});
       }},
      {"attention of ONNX Runtime",
       [](ModelBuilder& b) {
         opset_of(b, "com.microsoft", 1);
         b.initializer("qkv", random_tensor({kWidth, 3 * kWidth}, 8));
         auto& node = b.node("Attention", {"x", "qkv"}, {"y"});
         node.set_domain("com.microsoft");
         set_attribute(node, "num_heads", 2);
         set_attribute(node, "unidirectional", 1);
       }},
      {"a forest",
       [](ModelBuilder& b) {
         opset_of(b, "ai.onnx.ml", 5);
         b.ints("rows", {-1, kWidth});
         b.node("Reshape", {"x", "rows"}, {"features"});
         auto& node = b.node("TreeEnsemble", {"features"}, {"y"});
         node.set_domain("ai.onnx.ml");
         const auto tensor = [&](const char* name, const HostTensor& value) {
           auto& attribute = *node.add_attribute();
           attribute.set_name(name);
           attribute.set_type(onnx::proto::AttributeProto::TENSOR);
           *attribute.mutable_t() = onnx::write_tensor(value, name);
         };
         for (const char* zeros : {"nodes_featureids", "nodes_truenodeids", "tree_roots"})
           set_attribute(node, zeros, std::vector<int64_t>{0});
         for (const char* ones : {"nodes_trueleafs", "nodes_falseleafs", "nodes_falsenodeids"})
           set_attribute(node, ones, std::vector<int64_t>{1});
         set_attribute(node, "leaf_targetids", std::vector<int64_t>{0, 0});
         tensor("nodes_splits", HostTensor::of<float>(DType::f32, {1}, {0.1F}));
         tensor("nodes_modes", HostTensor::of<uint8_t>(DType::u8, {1}, {0}));
         tensor("leaf_weights", HostTensor::of<float>(DType::f32, {2}, {3, 4}));
       }},
      {"sum over steps",
       [](ModelBuilder& b) {
         set_attribute(b.node("ReduceMean", {"x"}, {"m"}), "axes", std::vector<int64_t>{1});
         b.node("Sub", {"x", "m"}, {"y"});
       }},
      {"rows of both",
       [](ModelBuilder& b) {
         b.ints("shape", {-1, kWidth});
         set_attribute(b.node("Transpose", {"x"}, {"t"}), "perm", std::vector<int64_t>{1, 0, 2});
         set_attribute(b.node("ReduceMax", {"t"}, {"most"}), "axes", std::vector<int64_t>{0});
         b.node("MatMul", {"most", "w"}, {"y"});
       }},
      {"heads by the shape",
       [](ModelBuilder& b) {
         b.node("Shape", {"x"}, {"s"});
         b.ints("one", {1});
         b.node("Gather", {"s", "one"}, {"steps"});
         cut_into_heads(b, "x", "steps", 2);
       }},
      {"positions from an extent on",
       [](ModelBuilder& b) {
         b.node("Shape", {"x"}, {"s"});
         for (const auto& [name, value] :
              std::vector<std::pair<std::string, int64_t>>{{"one", 1}, {"two", 2}, {"seven", 7}})
           b.initializer(name, HostTensor::of<int64_t>(DType::i64, {}, {value}));
         b.node("Gather", {"s", "one"}, {"steps"});
         b.node("Add", {"steps", "one"}, {"next"});
         b.node("Add", {"steps", "seven"}, {"end"});
         b.node("Range", {"steps", "next", "one"}, {"this"});  // one number, wherever it is
         b.node("Range", {"one", "end", "two"}, {"odd"});
         set_attribute(b.node("Concat", {"this", "odd"}, {"all"}), "axis", 0);
         set_attribute(b.node("Cast", {"all"}, {"numbers"}), "to", 1);
         b.node("Neg", {"numbers"}, {"y"});
       }},
      {"positions from an extent downwards",
       [](ModelBuilder& b) {
         b.node("Shape", {"x"}, {"s"});
         for (const auto& [name, value] : std::vector<std::pair<std::string, int64_t>>{
                  {"one", 1}, {"zero", 0}, {"back", -1}, {"back_two", -2}, {"six", 6}})
           b.initializer(name, HostTensor::of<int64_t>(DType::i64, {}, {value}));
         b.node("Gather", {"s", "one"}, {"steps"});
         b.node("Neg", {"steps"}, {"end"});
         b.node("Sub", {"steps", "six"}, {"before"});
         b.node("Range", {"steps", "end", "back"}, {"each"});
         b.node("Range", {"steps", "zero", "back_two"}, {"half"});
         b.node("Range", {"steps", "before", "back_two"}, {"three"});
         set_attribute(b.node("Concat", {"each", "half", "three"}, {"all"}), "axis", 0);
         set_attribute(b.node("Cast", {"all"}, {"numbers"}), "to", 1);
         b.node("Neg", {"numbers"}, {"y"});
       }},
      {"heads by a length that is computed in another way",
       [](ModelBuilder& b) {
         b.node("Shape", {"x"}, {"s"});
         b.ints("one", {1});
         b.ints("three", {3});
         b.node("Gather", {"s", "one"}, {"steps"});
         b.node("Add", {"steps", "three"}, {"more"});
         b.node("Min", {"more", "steps"}, {"length"});
         cut_into_heads(b, "x", "length");
       }},
      {"numbers up to an extent as a float",
       [](ModelBuilder& b) {
         b.node("Shape", {"x"}, {"s"});
         b.initializer("one", HostTensor::of<int64_t>(DType::i64, {}, {1}));
         for (const auto& [name, value] :
              std::vector<std::pair<std::string, float>>{{"zero", 0}, {"half", 0.5}})
           b.initializer(name, HostTensor::of<float>(DType::f32, {}, {value}));
         b.node("Gather", {"s", "one"}, {"steps"});
         set_attribute(b.node("Cast", {"steps"}, {"limit"}), "to", 1);
         b.node("Range", {"zero", "limit", "half"}, {"halves"});
         b.node("Neg", {"halves"}, {"y"});
       }},
      {"twice as long",
       [](ModelBuilder& b) {
         set_attribute(b.node("Concat", {"x", "x"}, {"c"}), "axis", 1);
         set_attribute(b.node("CumSum", {"c", "axis"}, {"y"}), "exclusive", 0);
         b.ints("axis", {1});
         b.model.mutable_graph()->mutable_initializer(b.model.graph().initializer_size() - 1)->clear_dims();
       }},
      {"thirds, between positions that multiples say, that meet",
       [](ModelBuilder& b) {
         set_attribute(b.node("Concat", {"x", "x", "x"}, {"c"}), "axis", 1);
         b.node("Shape", {"c"}, {"s"});
         for (int64_t i = 0; i < 4; ++i) {
           b.ints("number" + std::to_string(i), {i});
           if (i == 3) b.node("Div", {"rows", "number3"}, {"third"});
           if (i == 1) b.node("Gather", {"s", "number1"}, {"rows"});
         }
         for (int64_t i = 0; i < 4; ++i)
           b.node("Mul", {"third", "number" + std::to_string(i)}, {"at" + std::to_string(i)});
         for (int64_t i = 0; i < 3; ++i)
           b.node("Slice", {"c", "at" + std::to_string(i), "at" + std::to_string(i + 1), "number1"},
                  {"part" + std::to_string(i)});
         set_attribute(b.node("Transpose", {"part1"}, {"t"}), "perm", std::vector<int64_t>{0, 2, 1});
         b.node("MatMul", {"t", "part2"}, {"squares"});
         set_attribute(b.node("Concat", {"part0", "part1", "part2"}, {"all"}), "axis", 2);
         b.initializer("w2", random_tensor({3 * kWidth, kWidth}, 9));
         b.node("MatMul", {"all", "w2"}, {"narrow"});
         b.node("MatMul", {"narrow", "squares"}, {"y"});
       }},
      {"heads of all but the first third",
       [](ModelBuilder& b) {
         set_attribute(b.node("Concat", {"x", "x", "x"}, {"c"}), "axis", 1);
         b.node("Shape", {"x"}, {"s"});
         b.node("Shape", {"c"}, {"three"});
         for (int64_t i = 0; i < 4; ++i) b.ints("number" + std::to_string(i), {i});
         b.ints("end", {INT64_MAX});
         b.ints("half", {kWidth / 2});
         b.ints("left", {-1});
         b.node("Gather", {"three", "number1"}, {"rows"});
         b.node("Div", {"rows", "number3"}, {"third"});
         b.node("Slice", {"c", "third", "end", "number1"}, {"rest"});
         b.node("Gather", {"s", "number0"}, {"n"});
         b.node("Gather", {"s", "number1"}, {"steps"});
         set_attribute(b.node("Concat", {"n", "number2", "steps", "left", "half"}, {"to"}), "axis", 0);
         b.node("Reshape", {"rest", "to"}, {"h"});
         set_attribute(b.node("ReduceMax", {"h"}, {"y"}), "axes", std::vector<int64_t>{1});
       }},
      {"the first step, which every run has",
       [](ModelBuilder& b) {
         b.ints("from", {0});
         b.ints("one", {1});
         b.node("Slice", {"x", "from", "one", "one"}, {"first"});
         b.node("Add", {"x", "first"}, {"y"});
       }},
      {"heads of one step more, counted in another order",
       [](ModelBuilder& b) {
         auto& mean = b.node("ReduceMean", {"x"}, {"m"});
         set_attribute(mean, "axes", std::vector<int64_t>{1});
         set_attribute(b.node("Concat", {"x", "m"}, {"c"}), "axis", 1);
         b.node("Shape", {"x"}, {"s"});
         b.ints("one", {1});
         b.node("Gather", {"s", "one"}, {"steps"});
         b.node("Add", {"one", "steps"}, {"more"});
         cut_into_heads(b, "c", "more");
       }},
      {"normalized",
       [](ModelBuilder& b) {
         b.floats("scale", {kWidth}, {1, 2, 3, 4});
         set_attribute(b.node("LayerNormalization", {"x", "scale"}, {"y"}), "axis", -1);
       }},
  };
  for (const Network& network : networks) expect_same_at_all_extents(network);
}

// What is left of one step less is another extent in each run.
TEST(OpenDimensions, WhatIsLeftOfAnotherLength) {
  ModelBuilder b(17);
  b.input("x", {-1, -1, kWidth}, 1, {"batch", "steps", ""}).output("y");
  b.node("Shape", {"x"}, {"s"});
  b.ints("zero", {0});
  b.ints("one", {1});
  b.ints("heads", {-1, kWidth / 2});
  b.node("Gather", {"s", "zero"}, {"n"});
  b.node("Gather", {"s", "one"}, {"steps"});
  b.node("Sub", {"steps", "one"}, {"fewer"});
  set_attribute(b.node("Concat", {"n", "fewer", "heads"}, {"to"}), "axis", 0);
  b.node("Reshape", {"x", "to"}, {"y"}, "it");
  ImportOptions open;
  open.shapes = {{"batch", {kMostBatch}}, {"steps", {kMostSteps}}};
  open.least_shapes = {{"batch", {1}}, {"steps", {2}}};
  expect_error([&] { import_onnx_bytes(b.bytes(), open); }, ErrorKind::unsupported, {"it", "Reshape", "-1"});
}

// Backwards, at steps, from and to positions that count from either end.
TEST(OpenDimensions, Slices) {
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min(), kLast = std::numeric_limits<int64_t>::max();
  struct Case {
    int64_t start, end, step;
  };
  for (const Case& c : std::vector<Case>{{2, kFirst, -1},
                                         {-1, kFirst, -1},
                                         {kLast, kFirst, -1},
                                         {-2, 0, -1},
                                         {3, -4, -1},
                                         {1, 3, -1},
                                         {4, 0, -3},
                                         {-1, kFirst, -2},
                                         {-1, 1, kFirst},
                                         {-3, kLast, 2},
                                         {1, -1, 2},
                                         {0, -1, kLast}}) {
    const std::string name =
        std::to_string(c.start) + ":" + std::to_string(c.end) + ":" + std::to_string(c.step);
    expect_same_at_all_extents({name.c_str(), [&](ModelBuilder& b) {
                                  b.ints("start", {c.start});
                                  b.ints("end", {c.end});
                                  b.ints("axis", {1});
                                  b.ints("step", {c.step});
                                  b.node("Slice", {"x", "start", "end", "axis", "step"}, {"y"});
                                }});
  }
}

// What every extent of a range has is no range.
TEST(OpenDimensions, TheFirstElementsOfLongAxes) {
  ModelBuilder b(17);
  b.input("x", {-1, kWidth}, 1, {"steps", ""}).output("y");
  b.ints("zero", {0});
  b.ints("two", {2});
  b.node("Slice", {"x", "zero", "two"}, {"y"});
  for (const int64_t least : {1, 2}) {
    ImportOptions open;
    open.shapes = {{"steps", {kMostSteps}}};
    open.least_shapes = {{"steps", {least}}};
    EXPECT_EQ(import_onnx_bytes(b.bytes(), open).extents().size(), least < 2 ? 1u : 0u);
  }
}

// Negative pads cut: the elements before each one, say, and the first before itself.
TEST(OpenDimensions, NegativePads) {
  const auto padded = [](const std::vector<int64_t>& pads, const char* mode) {
    return [=](ModelBuilder& b) {
      b.ints("pads", pads);
      set_attribute(b.node("Pad", {"x", "pads"}, {"y"}), "mode", std::string(mode));
    };
  };
  expect_same_at_all_extents({"the elements before", padded({0, 1, 0, 0, -1, 0}, "constant")});
  expect_same_at_all_extents({"the elements behind", padded({0, -1, 0, 0, 2, 0}, "constant")});
  expect_same_at_all_extents({"without the first batch", padded({-1, 0, 0, 1, 0, -2}, "constant")});
  ModelBuilder b(17);
  b.input("x", {-1, -1, kWidth}, 1, {"batch", "steps", ""}).output("y");
  padded({0, -1, 0, 0, -1, 0}, "constant")(b);
  ImportOptions open;
  open.shapes = {{"batch", {kMostBatch}}, {"steps", {kMostSteps}}};
  open.least_shapes = {{"batch", {1}}, {"steps", {1}}};
  expect_refused(b, ErrorKind::usage, {"(Pad)", "axis 1", "cut 2, can be 1", "begins higher"}, open);
}

// Sums of small floats leave their range where means do not.
TEST(OpenDimensions, MeansOfSmallFloats) {
  ModelBuilder b(17);
  b.input("x", {-1}, 10, {"n"}).output("y");
  set_attribute(b.node("ReduceMean", {"x"}, {"y"}), "keepdims", 0);
  ImportOptions options;
  options.shapes = {{"n", {2000}}};
  options.least_shapes = {{"n", {1}}};
  const HostTensor x =
      converted(HostTensor::of<float>(DType::f32, {2000}, std::vector<float>(2000, 100)), DType::f16);
  InterpretOptions native;
  native.precision = Precision::native;
  const Graph graph = import_onnx_bytes(b.bytes(), options);
  const HostTensor y = interpret(graph, {x, HostTensor::of<int64_t>(DType::i64, {}, {1500})}, native)[0];
  EXPECT_EQ(element_as_double(y, 0), 100);
}

// An extent of 1 is repeated.
TEST(OpenDimensions, ExpandToANumber) {
  ModelBuilder b(17);
  b.input("x", {-1}, 1, {"n"}).output("y");
  b.ints("to", {4});
  b.node("Expand", {"x", "to"}, {"y"});
  ImportOptions options;
  options.shapes = {{"n", {4}}};
  options.least_shapes = {{"n", {1}}};
  const Graph graph = import_onnx_bytes(b.bytes(), options);
  for (int64_t extent : {1, 4}) {
    const std::vector<HostTensor> got =
        interpret(graph, {f32({4}, {7, 8, 9, 10}), HostTensor::of<int64_t>(DType::i64, {}, {extent})});
    EXPECT_EQ(output_shapes(graph, got)[0], Shape{4});
    EXPECT_EQ(element_as_double(got[0], 3), extent == 1 ? 7 : 10);
  }
}

// Elements of a shape that a narrow type wraps are no extents.
TEST(OpenDimensions, NarrowCastsOfShapes) {
  ModelBuilder b(17);
  b.input("x", {-1}, 1, {"n"}).output("y");
  b.node("Shape", {"x"}, {"s"});
  set_attribute(b.node("Cast", {"s"}, {"truth"}), "to", 9);
  set_attribute(b.node("Cast", {"truth"}, {"one"}), "to", 7);
  b.node("ConstantOfShape", {"one"}, {"y"});
  ImportOptions options;
  options.shapes = {{"n", {4}}};
  options.least_shapes = {{"n", {2}}};
  const Graph graph = import_onnx_bytes(b.bytes(), options);
  const std::vector<HostTensor> got =
      interpret(graph, {f32({4}, {1, 2, 3, 4}), HostTensor::of<int64_t>(DType::i64, {}, {3})});
  EXPECT_EQ(output_shapes(graph, got)[0], Shape{1});
}

// Between the extent and its bound there is something, but nothing that counts.
TEST(OpenDimensions, IndicesBeyondTheExtentAreErrors) {
  ImportOptions options;
  options.shapes = {{"n", {4}}};
  options.least_shapes = {{"n", {1}}};
  const HostTensor x = f32({4, 1}, {1, 2, 3, 4}), two = HostTensor::of<int64_t>(DType::i64, {}, {2});
  const auto run = [&](const char* op, int64_t index) {
    ModelBuilder b(17);
    b.input("x", {-1, 1}, 1, {"n", ""}).input("i", {1, 1}, 7).output("y");
    std::vector<std::string> operands = {"x", "i"};
    if (std::string(op).starts_with("Scatter")) operands.push_back("u");
    b.floats("u", {1, 1}, {9});
    b.node(op, operands, {"y"}, "it");
    const HostTensor at = HostTensor::of<int64_t>(DType::i64, {1, 1}, {index});
    return interpret(import_onnx_bytes(b.bytes(), options), {x, at, two})[0];
  };
  for (const char* op : {"Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"}) {
    for (int64_t index : {-2, -1, 0, 1}) {
      const HostTensor y = run(op, index);
      const bool scatters = std::string(op).starts_with("Scatter");
      EXPECT_EQ(element_as_double(y, scatters ? (index + 2) % 2 : 0), scatters ? 9 : 1 + (index + 2) % 2)
          << op;
    }
    for (int64_t index : {-3, 2, 3, 4})
      expect_error([&] { run(op, index); }, ErrorKind::invalid, {"\"it\"", "out of range"});
  }
}

ModelBuilder two_inputs() {
  ModelBuilder b(17);
  b.input("x", {-1, 2}, 1, {"n", ""}).input("z", {-1, 2}, 1, {"n", ""}).output("y");
  b.node("Add", {"x", "z"}, {"y"});
  return b;
}

TEST(OpenDimensions, OneSymbolIsOneDimension) {
  ImportOptions options;
  options.shapes = {{"n", {8}}};
  options.least_shapes = {{"n", {2}}};
  const Graph graph = import_onnx_bytes(two_inputs().bytes(), options);
  const OpenDimension wanted{"n", 2, 8, {{0, 0}, {1, 0}}};
  EXPECT_EQ(graph.open_dimensions(), std::vector<OpenDimension>{wanted});
  EXPECT_EQ(graph.inputs().size(), 3u);
  EXPECT_EQ(graph.extents().size(), 1u);
}

// Keys of a cache and new ones, below a mask that counts both; names say nothing of that.
Graph cache_and_mask(int64_t total_least, int64_t total_most, std::vector<std::string>* warnings = nullptr) {
  ModelBuilder b(17);
  b.input("past", {-1, 2}, 1, {"n_past", ""})
      .input("fresh", {1, 2}, 1)
      .input("mask", {-1, 1}, 1, {"n_total", ""});
  b.output("y");
  set_attribute(b.node("Concat", {"past", "fresh"}, {"keys"}), "axis", 0);
  b.node("Mul", {"mask", "keys"}, {"y"});
  ImportOptions options;
  options.shapes = {{"n_past", {31}}, {"n_total", {total_most}}};
  options.least_shapes = {{"n_past", {0}}, {"n_total", {total_least}}};
  if (warnings != nullptr) options.on_warning = [=](const std::string& text) { warnings->push_back(text); };
  return import_onnx_bytes(b.bytes(), options);
}

TEST(OpenDimensions, AnExtentThatMustBeASumOfOthersIsThatSum) {
  const std::vector<OpenDimension> open = cache_and_mask(1, 32).open_dimensions();
  ASSERT_EQ(open.size(), 2u);
  EXPECT_EQ(open[0].sum, std::nullopt);
  EXPECT_EQ(open[1].sum, (ExtentSum{1, {{0, 1}}}));
  // A range that is not the sum's: said.
  std::vector<std::string> warnings;
  EXPECT_EQ(cache_and_mask(0, 32, &warnings).open_dimensions()[1].sum, (ExtentSum{1, {{0, 1}}}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("\"n_total\" is n_past + 1, 1..32, but its range is 0..32"), std::string::npos)
      << warnings[0];
}

// As exporters that give every axis a name of its own write it.
TEST(OpenDimensions, AnExtentThatMustBeAnotherOneIsThatOne) {
  ModelBuilder b(17);
  b.input("x", {-1, 2}, 1, {"s1", ""}).input("z", {-1, 2}, 1, {"s2", ""}).input("w", {-1, 2}, 1, {"s3", ""});
  b.output("y");
  b.node("Add", {"x", "z"}, {"u"});
  b.node("Add", {"w", "u"}, {"y"});
  ImportOptions options;
  options.shapes = {{"s1", {8}}, {"s2", {8}}, {"s3", {8}}};
  options.least_shapes = {{"s1", {2}}, {"s2", {2}}, {"s3", {2}}};
  const std::vector<OpenDimension> open = import_onnx_bytes(b.bytes(), options).open_dimensions();
  ASSERT_EQ(open.size(), 3u);
  EXPECT_EQ(open[0].sum, std::nullopt);
  EXPECT_EQ(open[1].sum, (ExtentSum{0, {{0, 1}}}));
  EXPECT_EQ(open[2].sum, (ExtentSum{0, {{0, 1}}}));
}

// Of a product what is summed, and the matrices of a batch.
TEST(OpenDimensions, ExtentsThatMeetInAProduct) {
  ModelBuilder b(17);
  b.input("x", {-1, 3, -1}, 1, {"n1", "", "k1"}).input("z", {-1, -1, 5}, 1, {"n2", "k2", ""}).output("y");
  b.node("MatMul", {"x", "z"}, {"y"});
  ImportOptions options;
  options.shapes = {{"n1", {4}}, {"n2", {4}}, {"k1", {8}}, {"k2", {8}}};
  options.least_shapes = {{"n1", {1}}, {"n2", {1}}, {"k1", {2}}, {"k2", {2}}};
  const std::vector<OpenDimension> open = import_onnx_bytes(b.bytes(), options).open_dimensions();
  ASSERT_EQ(open.size(), 4u);  // n1, k1, n2, k2
  EXPECT_EQ(open[2].sum, (ExtentSum{0, {{0, 1}}}));
  EXPECT_EQ(open[3].sum, (ExtentSum{0, {{1, 1}}}));
}

// As many updates as indices, and as large as what they replace; a batch of indices for a batch of data.
TEST(OpenDimensions, ExtentsThatMeetWhereIndicesTellPlaces) {
  for (const std::string op : {"ScatterElements", "ScatterND", "GatherND"}) {
    ModelBuilder b(17);
    const bool gathers = op == "GatherND";
    if (gathers)
      b.input("x", {-1, 4}, 1, {"n", ""}).input("at", {-1, 1}, 7, {"m", ""}).output("y");
    else
      b.input("x", {9, 3}).input("at", {-1, op == "ScatterND" ? 1 : 3}, 7, {"n", ""}).output("y");
    if (!gathers) b.input("with", {-1, 3}, 1, {"m", ""});
    auto& node = gathers ? b.node(op, {"x", "at"}, {"y"}) : b.node(op, {"x", "at", "with"}, {"y"});
    if (gathers) set_attribute(node, "batch_dims", int64_t{1});
    ImportOptions options;
    options.shapes = {{"n", {8}}, {"m", {8}}};
    options.least_shapes = {{"n", {2}}, {"m", {2}}};
    const std::vector<OpenDimension> open = import_onnx_bytes(b.bytes(), options).open_dimensions();
    ASSERT_EQ(open.size(), 2u) << op;
    EXPECT_EQ(open[1].sum, (ExtentSum{0, {{0, 1}}})) << op;
  }
}

// Two inputs' extents, of an operator whose results nobody reads, or of one whose extent alone is read.
TEST(OpenDimensions, ExtentsThatMeetWhereNothingIsReadNeedNotBeEqual) {
  ModelBuilder b(17);
  b.input("x", {-1, 2}, 1, {"n", ""}).input("z", {-1, 2}, 1, {"m", ""});
  b.output("y").output("v").output("s");
  b.node("Add", {"x", "z"}, {"nobody"});
  b.node("Mul", {"x", "z"}, {"u"});
  b.node("Shape", {"u"}, {"s"});
  b.node("Relu", {"x"}, {"y"});
  b.node("Relu", {"z"}, {"v"});
  ImportOptions options;
  options.shapes = {{"n", {8}}, {"m", {8}}};
  options.least_shapes = {{"n", {2}}, {"m", {2}}};
  const std::vector<OpenDimension> open = import_onnx_bytes(b.bytes(), options).open_dimensions();
  ASSERT_EQ(open.size(), 2u);
  EXPECT_EQ(open[0].sum, std::nullopt);
  EXPECT_EQ(open[1].sum, std::nullopt);
}

TEST(OpenDimensions, OptionsThatContradictEachOther) {
  const auto import = [](const std::map<std::string, Shape>& most,
                         const std::map<std::string, Shape>& least) {
    ImportOptions options;
    options.shapes = most;
    options.least_shapes = least;
    import_onnx_bytes(two_inputs().bytes(), options);
  };
  expect_error(
      [&] {
        import({{"x", { 8, 2 }}, { "z", { 8, 2 } }}, {{"x", { 2, 2 }}, { "z", { 3, 2 } }});
      },
      ErrorKind::usage, {"\"n\" is 2..8 for one input and 3..8 for \"z\""});
  expect_error(
      [&] {
        import({{"x", { 8, 2 }}, { "z", { 8, 2 } }}, {{ "x", { 2, 2 } }});
      },
      ErrorKind::usage, {"\"n\" is 2..8 for one input and 8..8 for \"z\""});
}

// An extent that decides what is computed is refused by name.
TEST(OpenDimensions, WhatTheyCannotBe) {
  ModelBuilder b(17);
  b.input("x", {-1, 4}, 1, {"n", ""}).output("y");
  b.node("Det", {"x"}, {"y"}, "it");
  ImportOptions options;
  options.shapes = {{"n", {4}}};
  options.least_shapes = {{"n", {2}}};
  expect_error([&] { import_onnx_bytes(b.bytes(), options); }, ErrorKind::unsupported,
               {"\"it\" (Det)", "the size of the matrices is a range", "--shape"});
}

// An open axis of at most one element is none of those that a reshape adds or takes away.
TEST(OpenDimensions, AnEmptyBatchIsToldFromAxesOfOneElement) {
  const auto shape_of = [](const char* op, const std::vector<int64_t>& axes, int64_t batch) {
    ModelBuilder b(17);
    b.input("x", {-1, 1, -1, kWidth}, 1, {"batch", "", "steps", ""}).output("y");
    b.ints("axes", axes);
    if (op == std::string("Flatten"))
      set_attribute(b.node(op, {"x"}, {"y"}), "axis", int64_t{0});
    else
      b.node(op, {"x", "axes"}, {"y"});
    ImportOptions open;
    open.shapes = {{"batch", {1}}, {"steps", {kMostSteps}}};
    open.least_shapes = {{"batch", {0}}, {"steps", {1}}};
    const Graph graph = import_onnx_bytes(b.bytes(), open);
    const auto got = interpret(graph, {random_tensor({1, 1, kMostSteps, kWidth}, 3),
                                       HostTensor::of<int64_t>(DType::i64, {}, {batch}),
                                       HostTensor::of<int64_t>(DType::i64, {}, {3})});
    return output_shapes(graph, got)[0];
  };
  for (int64_t batch : {0, 1}) {
    EXPECT_EQ(shape_of("Flatten", {}, batch), (Shape{1, batch * 3 * kWidth}));
    EXPECT_EQ(shape_of("Unsqueeze", {0}, batch), (Shape{1, batch, 1, 3, kWidth}));
    EXPECT_EQ(shape_of("Unsqueeze", {1, 4}, batch), (Shape{batch, 1, 1, 3, 1, kWidth}));
    EXPECT_EQ(shape_of("Squeeze", {1}, batch), (Shape{batch, 3, kWidth}));
  }
}

}  // namespace
}  // namespace korch
