// What real files have that is no harm: it is read, with a warning, and what would do harm is refused still.
#include <gtest/gtest.h>

#include "expect_error.h"
#include "korch/interp/interpreter.h"
#include "one_node.h"
#include "subgraphs.h"

namespace korch {
namespace {

struct Tolerated {
  Graph graph;
  std::vector<std::string> warnings;
};

Tolerated import_with_warnings(const ModelBuilder& b, ImportOptions options = {}) {
  Tolerated result;
  options.on_warning = [&](const std::string& text) { result.warnings.push_back(text); };
  result.graph = import_onnx_bytes(b.bytes(), options);
  return result;
}

void expect_warning(const Tolerated& read, const std::vector<std::string>& words) {
  ASSERT_EQ(read.warnings.size(), 1U);
  for (const std::string& word : words)
    EXPECT_NE(read.warnings[0].find(word), std::string::npos) << read.warnings[0];
}

ModelBuilder relu_declared_as(const std::vector<int64_t>& extents, int32_t data_type = 1) {
  ModelBuilder b = relu_model();
  auto* type = b.model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type();
  type->set_elem_type(data_type);
  type->mutable_shape();
  for (int64_t extent : extents) {
    auto* dimension = type->mutable_shape()->add_dim();
    if (extent >= 0) dimension->set_dim_value(extent);
  }
  return b;
}

TEST(Tolerated, StaleShapesOfOutputs) {
  expect_warning(import_with_warnings(relu_declared_as({2, 4})), {"\"y\"", "[2x4]", "f32[2x3]"});
  expect_warning(import_with_warnings(relu_declared_as({2, 3, 1})), {"\"y\"", "[2x3x1]"});
  expect_warning(import_with_warnings(relu_declared_as({-1})), {"\"y\"", "[?]"});
  EXPECT_TRUE(import_with_warnings(relu_declared_as({2, -1})).warnings.empty());
  expect_refused(relu_declared_as({2, 3}, 11), ErrorKind::invalid, {"\"y\"", "DOUBLE", "f32[2x3]"});
}

TEST(Tolerated, AnOutputThatIsListedTwice) {
  ModelBuilder b = relu_model();
  b.output("y");
  const std::vector<HostTensor> outputs =
      interpret(import_onnx_bytes(b.bytes()), {f32({2, 3}, {-1, 2, -3, 4, -5, 6})});
  ASSERT_EQ(outputs.size(), 2U);
  for (const HostTensor& output : outputs) EXPECT_EQ(element_as_double(output, 3), 4);
}

TEST(Tolerated, StringsThatNothingReads) {
  ModelBuilder b = relu_model();
  b.input("label", {2}, 8);
  const Tolerated read = import_with_warnings(b);
  expect_warning(read, {"\"label\"", "STRING", "nothing reads it"});
  EXPECT_EQ(read.graph.inputs().size(), 1U);
  ModelBuilder weight = relu_model();
  weight.initializer("w", f32({1}, {1})).set_data_type(8);
  expect_warning(import_with_warnings(weight), {"\"w\"", "STRING"});
  b.node("Identity", {"label"}, {"z"});
  b.output("z");
  expect_refused(b, ErrorKind::unsupported, {"\"label\"", "STRING"});
}

TEST(Tolerated, AxesWithoutElements) {
  ModelBuilder b(18);
  b.input("x", {2, 3}).input("axes", {0}, 7).output("y");
  b.node("ReduceSum", {"x", "axes"}, {"y"});
  const Graph graph = import_onnx_bytes(b.bytes());
  const HostTensor none(TensorType{DType::i64, {0}});
  EXPECT_EQ(element_as_double(interpret(graph, {f32({2, 3}, {1, 2, 3, 4, 5, 6}), none})[0], 0), 21);
}

// Of each operator what is left of it over no axes.
TEST(Tolerated, ReductionsOverNoAxes) {
  const auto reduced = [](const char* op, double x) {
    ModelBuilder b(18);
    b.input("x", {1}).output("y");
    auto* attribute = b.node(op, {"x"}, {"y"}).add_attribute();
    attribute->set_name("noop_with_empty_axes");
    attribute->set_type(onnx::proto::AttributeProto::INT);
    attribute->set_i(1);
    return element_as_double(interpret(import_onnx_bytes(b.bytes()), {f32({1}, {static_cast<float>(x)})})[0],
                             0);
  };
  for (const char* op :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceLogSumExp"})
    EXPECT_EQ(reduced(op, -3), -3) << op;
  EXPECT_EQ(reduced("ReduceL1", -3), 3);
  EXPECT_EQ(reduced("ReduceL2", -3), 3);
  EXPECT_EQ(reduced("ReduceSumSquare", -3), 9);
  EXPECT_EQ(reduced("ReduceLogSum", 1), 0);
}

// y = Reshape(x, [rows, columns]) if c, else x [2, 3].
ModelBuilder choice_of_shapes(const std::vector<int64_t>& yes, const std::vector<int64_t>& no) {
  ModelBuilder b(21);
  b.input("x", {2, 3}).input("c", {}, 9).output("y");
  b.ints("yes", yes);
  b.ints("no", no);
  onnx::proto::NodeProto& node = b.node("If", {"c"}, {"y"}, "choice");
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& body = body_of(node, branch);
    add(body, "Reshape", {"x", branch[0] == 't' ? "yes" : "no"}, "t");
    add_outputs(body, {"t"});
  }
  return b;
}

TEST(Tolerated, ABranchThatDoesNotFitIsAnErrorWhereItIsTaken) {
  const HostTensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const bool fits : {true, false}) {
    const std::vector<int64_t> right{3, 2}, wrong{4, 2};
    const Tolerated read =
        import_with_warnings(fits ? choice_of_shapes(right, wrong) : choice_of_shapes(wrong, right));
    expect_warning(read, {"\"choice\"", fits ? "else branch" : "then branch", "[4x2]"});
    const HostTensor taken = HostTensor::of<bool>(DType::bool_, {}, {fits}),
                     other = HostTensor::of<bool>(DType::bool_, {}, {!fits});
    const HostTensor y = interpret(read.graph, {x, taken})[0];
    EXPECT_EQ(y.shape(), (Shape{3, 2}));
    EXPECT_EQ(element_as_double(y, 5), 6);
    expect_error(
        [&] {
          interpret(read.graph, {x, other});
        },
        ErrorKind::invalid, {"\"choice\" takes its", "does not fit the shapes", "[4x2]"});
  }
  expect_refused(choice_of_shapes({4, 2}, {5, 2}), ErrorKind::invalid, {"\"choice\"", "neither branch fits"});
}

// Reflecting three elements needs four, and the range begins with one.
TEST(Tolerated, ABranchThatTheLeastExtentDoesNotFitIsAnErrorWhereItIsTaken) {
  const auto choice = [](bool both) {
    ModelBuilder b(21);
    b.input("c", {}, 9).input("x", {-1}, 1, {"n"}).output("y");
    b.ints("pads", {0, 3});
    b.ints("none", {0, 0});
    onnx::proto::NodeProto& node = b.node("If", {"c"}, {"y"}, "choice");
    for (const char* branch : {"then_branch", "else_branch"}) {
      auto& body = body_of(node, branch);
      add(body, "Pad", {"x", both || branch[0] == 't' ? "pads" : "none"}, "t");
      set_attribute(*body.mutable_node(body.node_size() - 1), "mode", std::string("reflect"));
      add_outputs(body, {"t"});
    }
    return b;
  };
  ImportOptions options;
  options.shapes["n"] = {4};
  options.least_shapes["n"] = {1};
  const Tolerated read = import_with_warnings(choice(false), options);
  expect_warning(read, {"\"choice\"", "then branch", "as short as 1, not 4", "begins higher"});
  const auto run = [&](bool then) {
    return interpret(read.graph, {HostTensor::of<bool>(DType::bool_, {}, {then}), f32({4}, {1, 2, 3, 4}),
                                  HostTensor::of<int64_t>(DType::i64, {}, {4})})[0];
  };
  EXPECT_EQ(element_as_double(run(false), 3), 4);
  expect_error([&] { run(true); }, ErrorKind::invalid, {"\"choice\"", "takes its then branch, which does not fit"});
  expect_refused(choice(true), ErrorKind::usage, {"\"choice\"", "neither branch fits", "begins higher"},
                 options);
}

// A condition on extents alone is known where all extents of a range agree.
TEST(Tolerated, ConditionsOnARange) {
  ModelBuilder b(21);
  b.input("x", {-1, 3}, 1, {"n"}).output("y");
  b.ints("axis", {0});
  b.initializer("four", HostTensor::of<int64_t>(DType::i64, {}, {4}));
  b.node("Shape", {"x"}, {"s"});
  b.initializer("zero", HostTensor::of<int64_t>(DType::i64, {}, {0}));
  b.node("Gather", {"s", "zero"}, {"n"});
  b.node("Greater", {"n", "four"}, {"c"});
  onnx::proto::NodeProto& node = b.node("If", {"c"}, {"y"}, "choice");
  auto& yes = body_of(node, "then_branch");
  add(yes, "Squeeze", {"x", "axis"}, "t");
  add_outputs(yes, {"t"});
  auto& no = body_of(node, "else_branch");
  add(no, "Neg", {"x"}, "t");
  add_outputs(no, {"t"});
  ImportOptions options;
  options.shapes["n"] = {4};
  options.least_shapes["n"] = {1};
  const Tolerated read = import_with_warnings(b, options);
  EXPECT_TRUE(read.warnings.empty());
  EXPECT_EQ(read.graph.node(read.graph.topological_order().back()).op, Op::Neg);
}

}  // namespace
}  // namespace korch
