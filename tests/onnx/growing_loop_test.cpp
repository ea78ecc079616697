// Loops whose states change their extents: what is put behind a state is stacked, others are carried at
// bounds of them.
#include <gtest/gtest.h>

#include "korch/ir/loops.h"
#include "own_extents.h"
#include "subgraphs.h"

namespace korch {
namespace {

using onnx::proto::GraphProto;
using onnx::proto::NodeProto;

constexpr int kOnnxInt64 = 7;
HostTensor number(int64_t value) {
  return i64({}, {value});
}
int loops_in(const ModelBuilder& b) {
  return static_cast<int>(Loops(import_onnx_bytes(b.bytes())).loops().size());
}

// n, an input, as a number of steps up to 8.
void add_count(ModelBuilder& b) {
  b.input("n", {}, kOnnxInt64);
  b.initializer("none", number(0));
  b.initializer("eight", number(8));
  b.node("Max", {"n", "none"}, {"some"});
  b.node("Min", {"some", "eight"}, {"steps"});
  b.initializer("yes", HostTensor::of<bool>(DType::bool_, {}, {true}));
}

// s = concat(s, [x[i], -x[i]]) along the axis, of s at first [1, 2] or [2, 1].
ModelBuilder appending(int64_t axis) {
  ModelBuilder b(21);
  b.input("x", {8, 2}).input("s", axis == 0 ? Shape{1, 2} : Shape{2, 1}).output("z");
  add_count(b);
  NodeProto& node = b.node("Loop", {"steps", "yes", "s"}, {"z"}, "it");
  GraphProto& body = body_of(node, "body");
  add_inputs(body, {"i", "goes_on", "before"});
  *body.add_initializer() = onnx::write_tensor(
      i64({2}, axis == 0 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2, 1}), "one");
  add(body, "Gather", {"x", "i"}, "flat");
  add(body, "Reshape", {"flat", "one"}, "row");
  add(body, "Neg", {"row"}, "negative");
  set_attribute(add(body, "Cast", {"before"}, "same"), "to", 1);
  set_attribute(add(body, "Concat", {"same", "row", "negative"}, "after"), "axis", axis - 2);
  add(body, "Identity", {"after"}, "behind");
  add_outputs(body, {"goes_on", "behind"});
  return b;
}

TEST(GrowingLoop, WhatIsPutBehindAStateIsStacked) {
  HostTensor x(TensorType{DType::f32, {8, 2}});
  for (int i = 0; i < 16; ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
  const ModelBuilder rows = appending(0), columns = appending(1);
  EXPECT_EQ(loops_in(rows), 1);
  expect(run_cropped(rows, {x, f32({1, 2}, {7, 8}), number(2)})[0], {5, 2},
         {7, 8, 0, 1, -0., -1, 2, 3, -2, -3});
  expect(run_cropped(rows, {x, f32({1, 2}, {7, 8}), number(0)})[0], {1, 2}, {7, 8});
  EXPECT_EQ(run_cropped(rows, {x, f32({1, 2}, {7, 8}), number(50)})[0].shape(), (Shape{17, 2}));
  expect(run_cropped(columns, {x, f32({2, 1}, {7, 8}), number(2)})[0], {2, 5},
         {7, 0, -0., 2, -2, 8, 1, -1, 3, -3});
  // Nothing is carried but the count: no step copies what is there.
  const Graph graph = import_onnx_bytes(rows.bytes());
  const Loops loops(graph);
  EXPECT_EQ(std::get<LoopAttrs>(graph.node(loops.loops()[0].begin).attrs).carried, 0);
}

TEST(GrowingLoop, OfAKnownLengthTheShapeIsKnown) {
  ModelBuilder b = appending(0);
  b.model.mutable_graph()->mutable_node(2)->set_input(0, "many");
  b.initializer("many", number(8));
  GraphProto& body = *b.model.mutable_graph()->mutable_node(2)->mutable_attribute(0)->mutable_g();
  for (int i = 0; i < 200; ++i)  // too many nodes to be written out for each step
    add(body, "Neg", {i == 0 ? "negative" : "n" + std::to_string(i - 1)}, "n" + std::to_string(i));
  body.mutable_node(4)->set_input(2, "n199");
  const Graph graph = import_onnx_bytes(b.bytes());
  EXPECT_EQ(loops_in(b), 1);
  EXPECT_TRUE(graph.extents().empty());
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{17, 2}));
}

// before -> what a step makes of it, with i, x f32[8], and n f32[1] = 2.
ModelBuilder varying(const std::vector<std::vector<std::string>>& nodes, const Shape& first) {
  ModelBuilder b(21);
  b.input("x", {8}).input("s", first).output("z").output("total");
  add_count(b);
  NodeProto& node = b.node("Loop", {"steps", "yes", "s"}, {"z"}, "it");
  GraphProto& body = body_of(node, "body");
  add_inputs(body, {"i", "goes_on", "before"});
  for (const auto& [name, value] : std::vector<std::pair<const char*, int64_t>>{
           {"0", 0}, {"1", 1}, {"2", 2}, {"6", 6}, {"9", 9}, {"-1", -1}})
    *body.add_initializer() = onnx::write_tensor(i64({1}, {value}), name);
  for (const std::vector<std::string>& each : nodes) {
    NodeProto& made = add(body, each[0], {each.begin() + 2, each.end()}, each[1]);
    if (each[0] == "Concat") set_attribute(made, "axis", 0);
  }
  add_outputs(body, {"goes_on", "after"});
  b.node("ReduceSum", {"z"}, {"total"});
  return b;
}
const HostTensor kX = f32({8}, {1, 2, 3, 4, 5, 6, 7, 8});

// A state that is put before what is new, and read: s = [sum(s), s...]
TEST(GrowingLoop, AStateThatGrowsAndIsRead) {
  const ModelBuilder b = varying({{"ReduceSum", "sum", "before"}, {"Concat", "after", "sum", "before"}}, {2});
  EXPECT_EQ(loops_in(b), 1);
  const std::vector<HostTensor> results = run_cropped(b, {kX, f32({2}, {1, 2}), number(3)});
  expect(results[0], {5}, {12, 6, 3, 1, 2});
  expect(results[1], {1}, {24});
  EXPECT_EQ(import_onnx_bytes(b.bytes()).value(import_onnx_bytes(b.bytes()).outputs()[0]).type.shape,
            (Shape{10}));
  expect(run_cropped(b, {kX, f32({2}, {1, 2}), number(0)})[0], {2}, {1, 2});
}

// By as much as the data say, up to a bound: s = [x[: i], s...]
TEST(GrowingLoop, AStateThatGrowsByWhatDependsOnTheData) {
  const ModelBuilder b = varying(
      {{"Reshape", "to", "i", "1"}, {"Slice", "some", "x", "0", "to"}, {"Concat", "after", "some", "before"}},
      {1});
  expect(run_cropped(b, {kX, f32({1}, {9}), number(4)})[0], {7}, {1, 2, 3, 1, 2, 1, 9});
}

// s = s[1 :], from what was found as well.
TEST(GrowingLoop, AStateThatShrinks) {
  ModelBuilder b = varying({{"Slice", "after", "before", "1", "9"}}, {6});
  expect(run_cropped(b, {kX, f32({6}, {1, 2, 3, 4, 5, 6}), number(2)})[0], {4}, {3, 4, 5, 6});
  expect(run_cropped(b, {kX, f32({6}, {1, 2, 3, 4, 5, 6}), number(8)})[0], {0}, {});
  b.node("NonZero", {"s"}, {"found"});
  b.ints("row", {0});
  b.node("Gather", {"s", "places"}, {"taken"});
  b.node("Squeeze", {"found", "row"}, {"places"});
  b.model.mutable_graph()->mutable_node(2)->set_input(2, "taken");
  expect(run_cropped(b, {kX, f32({6}, {1, 0, 3, 0, 5, 6}), number(2)})[0], {2}, {5, 6});
}

// s = the elements of x that lie above i: as long as it may be, whatever it was.
TEST(GrowingLoop, AStateWhoseExtentIsNew) {
  const ModelBuilder b = varying({{"CastLike", "least", "i", "x"},
                                  {"Greater", "above", "x", "least"},
                                  {"Compress", "after", "x", "above"}},
                                 {1});
  expect(run_cropped(b, {kX, f32({1}, {9}), number(6)})[0], {3}, {6, 7, 8});
  expect(run_cropped(b, {kX, f32({1}, {9}), number(0)})[0], {1}, {9});
}

// Rows whose extents depend on the data, the same in each step.
TEST(GrowingLoop, RowsOfABoundedExtent) {
  ModelBuilder b(21);
  b.input("x", {4}).input("c", {4}, 9).output("z");
  add_count(b);
  b.node("Compress", {"x", "c"}, {"y"});
  NodeProto& node = b.node("Loop", {"steps", "yes"}, {"z"}, "it");
  GraphProto& body = body_of(node, "body");
  add_inputs(body, {"i", "goes_on"});
  add(body, "CastLike", {"i", "x"}, "number");
  add(body, "Mul", {"y", "number"}, "row");
  add_outputs(body, {"goes_on", "row"});
  const HostTensor some = HostTensor::of<bool>(DType::bool_, {4}, {true, false, true, true});
  expect(run_cropped(b, {f32({4}, {1, 2, 3, 4}), some, number(3)})[0], {3, 3}, {0, 0, 0, 1, 3, 4, 2, 6, 8});
}

TEST(GrowingLoop, RefusedByName) {
  // Twice as long after each step.
  expect_error(
      [] {
        import_onnx_bytes(varying({{"Concat", "after", "before", "before"}}, {2}).bytes());
      },
      ErrorKind::unsupported, {"it", "grows by what depends on how long it is"});
  ModelBuilder endless = varying({{"ReduceSum", "sum", "before"}, {"Concat", "after", "sum", "before"}}, {2});
  endless.model.mutable_graph()->mutable_node(2)->set_input(0, "n");
  expect_error([&] { import_onnx_bytes(endless.bytes()); }, ErrorKind::unsupported,
               {"it", "no bound of the number of steps is known"});
  ModelBuilder other = varying({{"Unsqueeze", "after", "before", "0"}}, {2});
  expect_error([&] { import_onnx_bytes(other.bytes()); }, ErrorKind::unsupported,
               {"it", "f32[2]", "f32[1x2]"});
  ModelBuilder inside = varying({{"StringNormalizer", "after", "before"}}, {2});
  expect_error([&] { import_onnx_bytes(inside.bytes()); }, ErrorKind::unsupported,
               {"it", "cannot run as a loop", "StringNormalizer"});
}

}  // namespace
}  // namespace korch
