#include "check.h"

namespace korch {
namespace {

const TensorType kPair{DType::f32, {2}};

std::string error_text(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Interpret, RunsAGraphAndShowsEveryValue) {
  Graph graph;
  const ValueId x = graph.add_input(kPair, "x");
  const ValueId one = graph.add_constant(f32({}, {1}), "one");
  const ValueId sum = graph.add(Op::Add, NoAttrs{}, {x, one});
  const ValueId square = graph.add(Op::Mul, NoAttrs{}, {sum, sum});
  graph.set_outputs({square, x, one}, {"square", "x", "one"});
  std::vector<ValueId> seen;
  InterpretOptions options;
  options.observe = [&](ValueId id, const HostTensor& value) {
    seen.push_back(id);
    EXPECT_EQ(value.dtype(), DType::f64);
  };
  for (const bool observed : {true, false}) {
    if (!observed) options.observe = nullptr;
    const auto outputs = interpret(graph, {f32({2}, {2, 3})}, options);
    expect_values(outputs[0], {9, 16});
    expect_values(outputs[1], {2, 3});
    expect_values(outputs[2], {1});
  }
  EXPECT_EQ(seen, (std::vector<ValueId>{x, one, sum, square}));
}

TEST(Interpret, UsesTheFirstOfSeveralProducers) {
  Graph graph;
  const ValueId x = graph.add_input(kPair, "x");
  const ValueId y = graph.add(Op::Neg, NoAttrs{}, {x});
  graph.add_alternative(Op::Abs, NoAttrs{}, {x}, {y});  // not equal, so that the choice shows
  graph.set_outputs({y}, {"y"});
  expect_values(interpret(graph, {f32({2}, {1, 2})})[0], {-1, -2});
}

TEST(Interpret, FreesDeadValues) {
#ifdef KORCH_SANITIZED
  GTEST_SKIP() << "the address sanitizer keeps freed memory from being used again";
#endif
  Graph graph;
  ValueId value = graph.add_input({DType::f32, {1024}}, "x");
  for (int i = 0; i < 8; ++i) value = graph.add(Op::Neg, NoAttrs{}, {value});
  graph.set_outputs({value}, {"y"});
  InterpretOptions options;
  options.precision = Precision::native;
  const void* recycled = nullptr;
  std::vector<const void*> addresses;
  options.observe = [&](ValueId, const HostTensor& tensor) { addresses.push_back(tensor.raw()); };
  interpret(graph, {counting({1024})}, options);
  std::sort(addresses.begin(), addresses.end());
  for (size_t i = 1; i < addresses.size(); ++i)
    if (addresses[i] == addresses[i - 1]) recycled = addresses[i];
  EXPECT_NE(recycled, nullptr) << "no memory was used twice along a chain of eight nodes";
}

TEST(Interpret, ChecksItsInputs) {
  Graph graph;
  const ValueId x = graph.add_input(kPair, "image");
  graph.set_outputs({graph.add(Op::Neg, NoAttrs{}, {x})}, {"y"});
  EXPECT_EQ(error_text([&] { interpret(graph, {}); }), "the graph has 1 inputs, 0 were given");
  EXPECT_EQ(error_text([&] {
              interpret(graph, {f32({3}, {1, 2, 3})});
            }),
            "input 'image' must be f32[2], not f32[3]");
  EXPECT_EQ(error_text([&] {
              interpret(graph, {i64({2}, {1, 2})});
            }),
            "input 'image' must be f32[2], not i64[2]");
  const HostTensor wide = tensor(DType::f64, {2}, {1, 2});
  expect_values(interpret(graph, {wide})[0], {-1, -2});
  InterpretOptions native;
  native.precision = Precision::native;
  EXPECT_EQ(error_text([&] { interpret(graph, {wide}, native); }),
            "input 'image' must be f32[2], not f64[2]");
}

TEST(Interpret, NamesTheNodeThatFailed) {
  Graph graph;
  const ValueId x = graph.add_input(kPair, "x");
  const ValueId index = graph.add_input({DType::i64, {}}, "index");
  graph.set_outputs({graph.add(Op::Gather, AxisAttrs{0}, {x, index}, {}, "picked")}, {"y"});
  EXPECT_EQ(error_text([&] {
              interpret(graph, {f32({2}, {1, 2}), i64({}, {5})});
            }),
            "node \"picked\": Gather: index 5 is out of range for an axis of 2");
}

TEST(FoldConstants, FoldsChainsAndKeepsTheRest) {
  Graph graph;
  const ValueId x = graph.add_input(kPair, "x");
  const ValueId two = graph.add_constant(f32({}, {2}));
  const ValueId four = graph.add(Op::Mul, NoAttrs{}, {two, two});
  const ValueId half = graph.add(Op::Reciprocal, NoAttrs{}, {four});
  const ValueId y = graph.add(Op::Mul, NoAttrs{}, {x, half});
  graph.set_outputs({y, four}, {"y", "four"});
  EXPECT_EQ(fold_constants(graph, 1024), 2);
  EXPECT_EQ(graph.live_node_count(), 3u);  // two constants and the product with x
  const auto outputs = interpret(graph, {f32({2}, {4, 8})});
  expect_values(outputs[0], {1, 2});
  expect_values(outputs[1], {4});
  EXPECT_NE(graph.constant(graph.outputs()[1]), nullptr);
  EXPECT_EQ(fold_constants(graph, 1024), 0);
}

TEST(FoldConstants, LeavesWhatWouldGrowTooMuch) {
  const auto folded = [](int64_t max_growth_bytes) {
    Graph graph;
    const ValueId one = graph.add_constant(f32({}, {1}));
    graph.set_outputs({graph.add(Op::Expand, ShapeAttrs{{100}}, {one})}, {"y"});
    return fold_constants(graph, max_growth_bytes);
  };
  EXPECT_EQ(folded(396), 1);
  EXPECT_EQ(folded(395), 0);
}

TEST(FoldConstants, FoldsNodesWithSeveralOutputs) {
  Graph graph;
  const ValueId x = graph.add_constant(f32({3}, {1, 3, 2}));
  const NodeId top = graph.add_node(Op::TopK, TopKAttrs{0, 2, true, true}, {x});
  const std::vector<ValueId> found = graph.node(top).outputs;
  graph.set_outputs(found, {"values", "indices"});
  EXPECT_EQ(fold_constants(graph, 1024), 1);
  expect_values(*graph.constant(graph.outputs()[0]), {3, 2});
  expect_values(*graph.constant(graph.outputs()[1]), {1, 2});
}

}  // namespace
}  // namespace korch
