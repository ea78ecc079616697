// Branches, which vanish while a model is read, and loops, which do so where they are short.
#include <gtest/gtest.h>

#include "expect_error.h"
#include "korch/ir/loops.h"
#include "one_node.h"
#include "subgraphs.h"

namespace korch {
namespace {

using onnx::proto::GraphProto;
using onnx::proto::NodeProto;

HostTensor flag(bool value) {
  return HostTensor::of<bool>(DType::bool_, {}, {value});
}

Values run_flow(const ModelBuilder& b, const std::vector<HostTensor>& inputs, size_t output = 0) {
  const HostTensor result = interpret(import_onnx_bytes(b.bytes()), inputs)[output];
  Values values;
  for (int64_t i = 0; i < result.elements(); ++i) values.push_back(element_as_double(result, i));
  return values;
}

// An If by c of which the else branch is -x.
NodeProto& add_choice(ModelBuilder& b) {
  NodeProto& node = b.node("If", {"c"}, {"y"}, "choice");
  add_outputs(body_of(node, "then_branch"), {"t"});
  GraphProto& no = body_of(node, "else_branch");
  add(no, "Neg", {"x"}, "t");
  add_outputs(no, {"t"});
  return node;
}
GraphProto& then_branch(NodeProto& node) {
  return *node.mutable_attribute(0)->mutable_g();
}

// y = c ? x + x : -x
ModelBuilder branches() {
  ModelBuilder b(21);
  b.input("x", {2}).output("y");
  add(then_branch(add_choice(b)), "Add", {"x", "x"}, "t");
  return b;
}

TEST(ControlFlow, BranchesThatAreKnownAndOthers) {
  const HostTensor x = f32({2}, {1, -3});
  for (bool c : {true, false}) {
    const Values expected = c ? Values{2, -6} : Values{-1, 3};
    ModelBuilder known = branches();
    known.initializer("c", flag(c));
    EXPECT_EQ(run_flow(known, {x}), expected);
    const Graph graph = import_onnx_bytes(known.bytes());
    ASSERT_EQ(graph.topological_order().size(), 1U);
    EXPECT_EQ(graph.node(graph.topological_order()[0]).origins[0],
              c ? "choice/then/Add_0" : "choice/else/Neg_0");
    ModelBuilder open = branches();
    open.input("c", {}, onnx::data_type_of(DType::bool_));
    EXPECT_EQ(run_flow(open, {x, flag(c)}), expected);
  }
}

// y = c ? (x * x)[row] : -x, of 64 x 256
ModelBuilder large_branches() {
  ModelBuilder b(21);
  b.input("x", {64, 256}).input("row", {64}, onnx::data_type_of(DType::i64)).output("y");
  b.input("c", {}, onnx::data_type_of(DType::bool_));
  GraphProto& yes = then_branch(add_choice(b));
  add(yes, "Mul", {"x", "x"}, "s");
  add(yes, "Gather", {"s", "row"}, "t");
  return b;
}

TEST(ControlFlow, OfLargeBranchesOnlyTheChosenOneIsComputed) {
  const Graph graph = import_onnx_bytes(large_branches().bytes());
  HostTensor x(TensorType{DType::f32, {64, 256}}), rows(TensorType{DType::i64, {64}}),
      none(TensorType{DType::i64, {64}});
  for (int64_t i = 0; i < x.elements(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i % 7);
  for (int64_t i = 0; i < 64; ++i) {
    rows.mutable_data<int64_t>()[i] = 63 - i;
    none.mutable_data<int64_t>()[i] = 64;  // there is no such row
  }
  const HostTensor squares = interpret(graph, {x, rows, flag(true)})[0];
  const HostTensor negated = interpret(graph, {x, none, flag(false)})[0];
  for (int64_t i = 0; i < x.elements(); ++i) {
    const double there = element_as_double(x, (63 - i / 256) * 256 + i % 256);
    EXPECT_EQ(element_as_double(squares, i), there * there);
    EXPECT_EQ(element_as_double(negated, i), -element_as_double(x, i));
  }
  EXPECT_THROW(interpret(graph, {x, none, flag(true)}), Error);
}

// y = d ? (c ? f(x) : g(x)) + x : x, where x is read behind it too
TEST(ControlFlow, LargeBranchesWithinOne) {
  ModelBuilder b = large_branches();
  NodeProto inner = b.model.graph().node(0);
  b.model.mutable_graph()->clear_node();
  inner.set_output(0, "u");
  b.input("d", {}, onnx::data_type_of(DType::bool_)).output("z");
  NodeProto& node = b.node("If", {"d"}, {"y"}, "outer");
  GraphProto& yes = body_of(node, "then_branch");
  *yes.add_node() = inner;
  add(yes, "Add", {"u", "x"}, "v");
  add_outputs(yes, {"v"});
  GraphProto& no = body_of(node, "else_branch");
  add(no, "Identity", {"x"}, "v");
  add_outputs(no, {"v"});
  b.node("Sub", {"y", "x"}, {"z"}, "rest");
  const Graph graph = import_onnx_bytes(b.bytes());
  HostTensor x(TensorType{DType::f32, {64, 256}}), rows(TensorType{DType::i64, {64}});
  for (int64_t i = 0; i < x.elements(); ++i) x.mutable_data<float>()[i] = 3;
  for (const bool c : {true, false})
    for (const bool d : {true, false}) {
      const std::vector<HostTensor> results = interpret(graph, {x, rows, flag(c), flag(d)});
      EXPECT_EQ(element_as_double(results[1], 77), !d ? 0 : c ? 9 : -3);
      EXPECT_EQ(element_as_double(results[0], 77), 3 + (!d ? 0 : c ? 9 : -3));
    }
}

TEST(ControlFlow, BranchesOfDifferentLengths) {
  ModelBuilder b = branches();
  b.input("c", {}, onnx::data_type_of(DType::bool_));
  GraphProto& other = *b.model.mutable_graph()->mutable_node(0)->mutable_attribute(1)->mutable_g();
  set_attribute(add(other, "Concat", {"t", "t"}, "u"), "axis", 0);
  other.mutable_output(0)->set_name("u");
  const Graph graph = import_onnx_bytes(b.bytes());
  for (const bool which : {true, false}) {
    const std::vector<HostTensor> results = interpret(graph, {f32({2}, {1, 2}), flag(which)});
    const HostTensor y = results[0].cropped(output_shapes(graph, results)[0]);
    EXPECT_EQ(y.shape(), which ? Shape{2} : Shape{4});
    EXPECT_EQ(element_as_double(y, 1), which ? 4 : -2);
  }
}

TEST(ControlFlow, BranchesOfDifferentRanksMustBeKnown) {
  ModelBuilder b = branches();
  b.input("c", {}, onnx::data_type_of(DType::bool_));
  b.ints("column", {1});
  GraphProto& other = *b.model.mutable_graph()->mutable_node(0)->mutable_attribute(1)->mutable_g();
  add(other, "Unsqueeze", {"t", "column"}, "u");
  other.mutable_output(0)->set_name("u");
  expect_refused(b, ErrorKind::unsupported, {"choice", "chooses between f32[2] and f32[2x1]"});
}

// s = s * x, as long as s < 100; rows: the s of each step.
ModelBuilder powers(bool rows) {
  ModelBuilder b(21);
  b.input("x", {1}).output("last");
  b.floats("one", {1}, {1});
  NodeProto& node = b.node("Loop", {"n", "c", "one"}, {"last"}, "powers");
  GraphProto& body = body_of(node, "body");
  add_inputs(body, {"i", "goes_on", "s"});
  add(body, "Mul", {"s", "x"}, "t");
  *body.add_initializer() = onnx::write_tensor(f32({1}, {100}), "limit");
  add(body, "Less", {"t", "limit"}, "below");
  add_outputs(body, {rows ? "goes_on" : "below", "t"});
  if (rows) {
    add_outputs(body, {"t"});
    node.add_output("rows");
    b.output("rows");
  }
  return b;
}

TEST(ControlFlow, LoopsOfKnownLength) {
  ModelBuilder b = powers(true);
  b.initializer("n", HostTensor::of<int64_t>(DType::i64, {}, {4}));
  b.initializer("c", flag(true));
  EXPECT_EQ(run_flow(b, {f32({1}, {3})}), (Values{81}));
  EXPECT_EQ(run_flow(b, {f32({1}, {3})}, 1), (Values{3, 9, 27, 81}));
}

TEST(ControlFlow, LoopsThatEndWhereTheDataSay) {
  ModelBuilder b = powers(false);
  b.initializer("n", HostTensor::of<int64_t>(DType::i64, {}, {6}));
  b.initializer("c", flag(true));
  EXPECT_EQ(run_flow(b, {f32({1}, {2})}), (Values{64}));     // six steps
  EXPECT_EQ(run_flow(b, {f32({1}, {5})}), (Values{125}));    // three
  EXPECT_EQ(run_flow(b, {f32({1}, {200})}), (Values{200}));  // one
}

int loops_in(const Graph& graph) {
  return static_cast<int>(Loops(graph).loops().size());
}

TEST(ControlFlow, LoopsRunWhereTheirLengthIsNotKnown) {
  ModelBuilder open = powers(false);
  open.input("n", {}, onnx::data_type_of(DType::i64)).input("c", {}, onnx::data_type_of(DType::bool_));
  EXPECT_EQ(loops_in(import_onnx_bytes(open.bytes())), 1);
  const auto steps = [](int64_t n) { return HostTensor::of<int64_t>(DType::i64, {}, {n}); };
  EXPECT_EQ(run_flow(open, {f32({1}, {2}), steps(3), flag(true)}), (Values{8}));
  EXPECT_EQ(run_flow(open, {f32({1}, {2}), steps(9), flag(true)}), (Values{128}));
  EXPECT_EQ(run_flow(open, {f32({1}, {2}), steps(0), flag(true)}), (Values{1}));
  EXPECT_EQ(run_flow(open, {f32({1}, {2}), steps(9), flag(false)}), (Values{1}));
  ModelBuilder uncounted = powers(false);
  uncounted.initializer("c", flag(true));
  uncounted.model.mutable_graph()->mutable_node(0)->set_input(0, "");
  EXPECT_EQ(run_flow(uncounted, {f32({1}, {3})}), (Values{243}));
}

// What is stacked has room for the most steps there can be.
TEST(ControlFlow, RowsOfALoopThatEndsWhereTheDataSay) {
  ModelBuilder b = powers(true);
  b.model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_output(0)->set_name(
      "below");
  b.initializer("n", HostTensor::of<int64_t>(DType::i64, {}, {6}));
  b.initializer("c", flag(true));
  const Graph graph = import_onnx_bytes(b.bytes());
  const std::vector<HostTensor> results = interpret(graph, {f32({1}, {5})});
  EXPECT_EQ(results[1].shape(), (Shape{6, 1}));
  const HostTensor rows = results[1].cropped(output_shapes(graph, results)[1]);
  EXPECT_EQ(rows.shape(), (Shape{3, 1}));
  EXPECT_EQ(element_as_double(rows, 1), 25);
}

// (a, b) = (b, a + b), and within each step b times: c = c + a.
TEST(ControlFlow, LoopsWithinLoopsAndStatesThatChangePlaces) {
  ModelBuilder b(21);
  b.input("n", {}, onnx::data_type_of(DType::i64)).output("fib").output("sum");
  b.initializer("c", flag(true));
  b.initializer("zero", HostTensor::of<int64_t>(DType::i64, {}, {0}));
  b.initializer("one", HostTensor::of<int64_t>(DType::i64, {}, {1}));
  NodeProto& node = b.node("Loop", {"n", "c", "zero", "one", "zero"}, {"fib", "next", "sum"}, "outer");
  GraphProto& body = body_of(node, "body");
  add_inputs(body, {"i", "goes_on", "a", "b", "s"});
  add(body, "Add", {"a", "b"}, "both");
  NodeProto& inner = add(body, "Loop", {"b", "", "s"}, "grown");
  GraphProto& within = body_of(inner, "body");
  add_inputs(within, {"j", "inner_goes_on", "t"});
  add(within, "Add", {"t", "a"}, "more");
  add_outputs(within, {"inner_goes_on", "more"});
  add_outputs(body, {"goes_on", "b", "both", "grown"});
  EXPECT_EQ(loops_in(import_onnx_bytes(b.bytes())), 2);
  const auto steps = [](int64_t n) { return HostTensor::of<int64_t>(DType::i64, {}, {n}); };
  EXPECT_EQ(run_flow(b, {steps(7)}), (Values{13}));
  EXPECT_EQ(run_flow(b, {steps(7)}, 1), (Values{0 + 1 + 1 * 2 + 2 * 3 + 3 * 5 + 5 * 8 + 8 * 13}));
}

// A sequence that grows by an item in each step is stacked while the loop runs; one that is read in it is
// not.
TEST(ControlFlow, SequencesThatGrow) {
  for (const std::string reader : {"nobody", "the body", "a subgraph of the body"}) {
    ModelBuilder b(21);
    b.input("x", {1}).output("rows");
    b.initializer("n", HostTensor::of<int64_t>(DType::i64, {}, {600}));
    b.initializer("c", flag(true));
    b.node("SequenceEmpty", {}, {"none"});
    NodeProto& node = b.node("Loop", {"n", "c", "x", "none"}, {"last", "all"}, "grow");
    GraphProto& body = body_of(node, "body");
    add_inputs(body, {"i", "goes_on", "s", "before"});
    *body.add_initializer() = onnx::write_tensor(f32({1}, {1}), "one");
    add(body, "Add", {"s", "one"}, "t");
    add(body, "SequenceInsert", {"before", "t"}, "after");
    if (reader == "the body") add(body, "SequenceLength", {"before"}, "length");
    if (reader == "a subgraph of the body") {
      NodeProto& choice = add(body, "If", {"goes_on"}, "length");
      for (const char* branch : {"then_branch", "else_branch"}) {
        GraphProto& inner = body_of(choice, branch);
        add(inner, "SequenceLength", {"before"}, "inner_length");
        add_outputs(inner, {"inner_length"});
      }
    }
    add_outputs(body, {"goes_on", "t", "after"});
    set_attribute(b.node("ConcatFromSequence", {"all"}, {"rows"}), "axis", 0);
    const Graph graph = import_onnx_bytes(b.bytes());
    EXPECT_EQ(loops_in(graph), reader == "nobody" ? 1 : 0) << reader;
    const Values rows = run_flow(b, {f32({1}, {5})});
    ASSERT_EQ(rows.size(), 600U);
    EXPECT_EQ((Values{rows[0], rows[599]}), (Values{6, 605}));
  }
}

TEST(ControlFlow, BodiesThatAreNone) {
  ModelBuilder b = powers(false);
  b.input("n", {}, onnx::data_type_of(DType::i64)).initializer("c", flag(true));
  ModelBuilder few = b;
  GraphProto& without = *few.model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  without.mutable_input()->RemoveLast();
  without.mutable_node(0)->set_input(0, "x");
  expect_refused(few, ErrorKind::invalid, {"powers", "fewer inputs or outputs"});
  // A sequence's insertion that reads itself, of one operand.
  ModelBuilder circle = b;
  NodeProto& loop = *circle.model.mutable_graph()->mutable_node(0);
  loop.set_input(2, "none");
  circle.node("SequenceEmpty", {}, {"none"});
  GraphProto& body = *loop.mutable_attribute(0)->mutable_g();
  body.clear_node();
  add(body, "SequenceInsert", {"s"}, "s");
  body.mutable_output(0)->set_name("goes_on");
  expect_refused(circle, ErrorKind::invalid, {});
  body.mutable_node(0)->add_input("s");
  expect_refused(circle, ErrorKind::invalid, {});
}

TEST(ControlFlow, LoopsWhoseLengthIsNotKnownAreRefused) {
  ModelBuilder open = powers(true);
  open.input("n", {}, onnx::data_type_of(DType::i64));
  open.initializer("c", flag(true));
  expect_refused(open, ErrorKind::unsupported, {"powers", "number of steps", "depends on the data"});
  ModelBuilder long_one = powers(true);
  long_one.initializer("n", HostTensor::of<int64_t>(DType::i64, {}, {int64_t{1} << 60}));
  long_one.initializer("c", flag(true));
  expect_refused(long_one, ErrorKind::unsupported, {"powers", "steps of 2 nodes"});
}

// A running sum, from the last row to the first.
TEST(ControlFlow, Scan) {
  ModelBuilder b(21);
  b.input("zero", {2}).input("x", {3, 2}).output("sum").output("sums");
  NodeProto& node = b.node("Scan", {"zero", "x"}, {"sum", "sums"});
  set_attribute(node, "num_scan_inputs", 1);
  set_attribute(node, "scan_input_directions", std::vector<int64_t>{1});
  set_attribute(node, "scan_output_axes", std::vector<int64_t>{-1});
  GraphProto& body = body_of(node, "body");
  add_inputs(body, {"before", "row"});
  add(body, "Add", {"before", "row"}, "after");
  add_outputs(body, {"after", "after"});
  const std::vector<HostTensor> inputs = {f32({2}, {0, 0}), f32({3, 2}, {1, 2, 3, 4, 5, 6})};
  EXPECT_EQ(run_flow(b, inputs), (Values{9, 12}));
  EXPECT_EQ(run_flow(b, inputs, 1), (Values{5, 8, 9, 6, 10, 12}));
}

// So many rows that the steps run.
TEST(ControlFlow, LongScan) {
  ModelBuilder b(21);
  b.input("zero", {2}).input("x", {2, 2000}).output("sum").output("sums");
  NodeProto& node = b.node("Scan", {"zero", "x"}, {"sum", "sums"});
  set_attribute(node, "num_scan_inputs", 1);
  set_attribute(node, "scan_input_axes", std::vector<int64_t>{1});
  set_attribute(node, "scan_input_directions", std::vector<int64_t>{1});
  set_attribute(node, "scan_output_axes", std::vector<int64_t>{1});
  set_attribute(node, "scan_output_directions", std::vector<int64_t>{1});
  GraphProto& body = body_of(node, "body");
  add_inputs(body, {"before", "row"});
  add(body, "Add", {"before", "row"}, "after");
  add_outputs(body, {"after", "after"});
  EXPECT_EQ(loops_in(import_onnx_bytes(b.bytes())), 1);
  std::vector<float> x(4000, 1);
  x[2001] = 5;
  const std::vector<HostTensor> inputs = {f32({2}, {0, 0}), HostTensor::of<float>(DType::f32, {2, 2000}, x)};
  EXPECT_EQ(run_flow(b, inputs), (Values{2000, 2004}));
  const Values sums = run_flow(b, inputs, 1);
  EXPECT_EQ((Values{sums[0], sums[1999], sums[2000], sums[2001], sums[2002]}),
            (Values{2000, 1, 2004, 2003, 1998}));
}

// Of opset 8, [batches, rows, columns]: the running sum of each batch.
ModelBuilder batched_scan(int64_t states, const Shape& x, const std::string& lengths = {}) {
  ModelBuilder b(8);
  b.input("zero", {states, 1}).input("x", x).output("sum").output("sums");
  NodeProto& node = b.node("Scan", {lengths, "zero", "x"}, {"sum", "sums"}, "batches");
  set_attribute(node, "num_scan_inputs", 1);
  GraphProto& body = body_of(node, "body");
  add_inputs(body, {"before", "row"});
  add(body, "Add", {"before", "row"}, "after");
  add_outputs(body, {"after", "after"});
  return b;
}

TEST(ControlFlow, ScanOfBatches) {
  ModelBuilder b = batched_scan(2, {2, 3, 1});
  const std::vector<HostTensor> inputs = {f32({2, 1}, {0, 10}), f32({2, 3, 1}, {1, 2, 3, 4, 5, 6})};
  EXPECT_EQ(run_flow(b, inputs), (Values{6, 25}));
  EXPECT_EQ(run_flow(b, inputs, 1), (Values{1, 3, 6, 14, 19, 25}));
  set_attribute(*b.model.mutable_graph()->mutable_node(0), "directions", std::vector<int64_t>{1});
  EXPECT_EQ(run_flow(b, inputs, 1), (Values{3, 5, 6, 16, 21, 25}));
  ModelBuilder long_one = batched_scan(2, {2, 2000, 1});
  EXPECT_EQ(loops_in(import_onnx_bytes(long_one.bytes())), 2);
  EXPECT_EQ(run_flow(long_one, {f32({2, 1}, {0, 1}), HostTensor::of<float>(DType::f32, {2, 2000, 1},
                                                                           std::vector<float>(4000, 1))}),
            (Values{2000, 2001}));
}

TEST(ControlFlow, ScanOfBatchesRefused) {
  expect_refused(batched_scan(2, {3, 3, 1}), ErrorKind::invalid, {"batches", "input 2", "2 batches"});
  ModelBuilder some = batched_scan(2, {2, 3, 1}, "lengths");
  some.ints("lengths", {3, 2});
  expect_refused(some, ErrorKind::unsupported, {"batches", "sequence_lens"});
  expect_refused(batched_scan(60000, {60000, 1, 1}), ErrorKind::unsupported, {"batches", "60000 steps"});
}

// A function's subgraph calls another function and reads the function's values.
TEST(ControlFlow, InsideFunctions) {
  ModelBuilder b(21);
  b.input("x", {1}).output("y").initializer("yes", flag(true));
  for (const char* name : {"outer", "twice"}) {
    onnx::proto::FunctionProto& function = *b.model.add_functions();
    function.set_name(name);
    function.set_domain("local");
    function.add_input("a");
    function.add_input("c");
    function.add_output("r");
    function.add_opset_import()->set_version(21);
    NodeProto& node = *function.add_node();
    node.set_op_type(name == std::string("outer") ? "If" : "Add");
    node.add_output("r");
    if (node.op_type() == "Add") {
      node.add_input("a");
      node.add_input("a");
      continue;
    }
    node.add_input("c");
    for (const char* branch : {"then_branch", "else_branch"}) {
      GraphProto& body = body_of(node, branch);
      add(body, "twice", {"a", "c"}, "t").set_domain("local");
      add_outputs(body, {"t"});
    }
  }
  b.model.add_opset_import()->set_domain("local");
  b.node("outer", {"x", "yes"}, {"y"}).set_domain("local");
  EXPECT_EQ(run_flow(b, {f32({1}, {3})}), (Values{6}));
}

}  // namespace
}  // namespace korch
