#include "korch/ir/graph.h"

#include <gtest/gtest.h>

#include "korch/ir/text.h"

namespace korch {
namespace {

TensorType f32(Shape shape) {
  return {DType::f32, std::move(shape)};
}

std::string error_of(const std::function<void()>& action, ErrorKind kind) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(Graph, UsersAndProducersFollowEdits) {
  Graph graph;
  const ValueId x = graph.add_input(f32({4}), "x");
  const ValueId a = graph.add(Op::Relu, NoAttrs{}, {x});
  const ValueId b = graph.add(Op::Add, NoAttrs{}, {a, a});
  graph.set_outputs({b}, {"y"});
  EXPECT_EQ(graph.value(a).users, std::vector<NodeId>{1});
  const ValueId c = graph.add(Op::Abs, NoAttrs{}, {x});
  graph.replace_uses(a, c);
  EXPECT_EQ(graph.node(1).inputs, (std::vector<ValueId>{c, c}));
  EXPECT_TRUE(graph.value(a).users.empty());
  graph.remove_dead_nodes();
  EXPECT_TRUE(graph.node(0).dead);
  EXPECT_EQ(graph.value(x).users, std::vector<NodeId>{2});
  EXPECT_EQ(graph.topological_order(), (std::vector<NodeId>{2, 1}));
  verify(graph, Stage::primitive);

  const Graph compacted = graph.compact();
  EXPECT_EQ(compacted.node_count(), 2u);
  EXPECT_EQ(compacted.value_count(), 3u);
  verify(compacted, Stage::primitive);
}

TEST(Graph, CycleIsAnErrorThatNamesItsNodes) {
  Graph graph;
  const ValueId x = graph.add_input(f32({4}), "x");
  const ValueId a = graph.add(Op::Add, NoAttrs{}, {x, x}, {}, "a");
  const ValueId b = graph.add(Op::Relu, NoAttrs{}, {a}, {}, "b");
  graph.set_outputs({b}, {"y"});
  graph.replace_uses(x, b);
  const std::string message = error_of([&] { graph.topological_order(); }, ErrorKind::invalid);
  EXPECT_NE(message.find("%a"), std::string::npos) << message;
  EXPECT_NE(message.find("Relu"), std::string::npos) << message;
}

TEST(Graph, AlternativesMayCloseACircleWhileSomethingEntersIt) {
  Graph graph;
  const ValueId x = graph.add_input(f32({4}), "x");
  const ValueId a = graph.add(Op::Relu, NoAttrs{}, {x});
  const ValueId b = graph.add(Op::Neg, NoAttrs{}, {a});
  graph.add_alternative(Op::Neg, NoAttrs{}, {b}, {a});  // a = -b
  graph.set_outputs({b}, {"y"});
  EXPECT_EQ(graph.topological_order(), (std::vector<NodeId>{0, 1, 2}));
  EXPECT_EQ(graph.value(a).producers, (std::vector<NodeId>{0, 2}));
  verify(graph, Stage::primitive);
  graph.kill_node(0);
  error_of([&] { graph.topological_order(); }, ErrorKind::invalid);
}

TEST(Graph, AlternativeOfAnotherTypeIsABug) {
  Graph graph;
  const ValueId x = graph.add_input(f32({4}), "x");
  const ValueId a = graph.add(Op::Relu, NoAttrs{}, {x});
  EXPECT_NE(
      error_of([&] { graph.add_alternative(Op::Cast, CastAttrs{DType::f64}, {x}, {a}); }, ErrorKind::internal)
          .find("f64[4]"),
      std::string::npos);
}

TEST(Verify, FindsStaleTypesAndCompositesAfterFission) {
  Graph graph;
  const ValueId x = graph.add_input(f32({4, 8}), "x");
  const ValueId a = graph.add(Op::Softmax, AxisAttrs{1}, {x});
  graph.set_outputs({a}, {"y"});
  verify(graph, Stage::imported);
  EXPECT_NE(error_of([&] { verify(graph, Stage::primitive); }, ErrorKind::internal).find("Softmax"),
            std::string::npos);

  Graph stale;
  const ValueId s = stale.add_input(f32({4, 8}), "s");
  const ValueId t = stale.add(Op::Transpose, PermAttrs{{1, 0}}, {s});
  stale.set_outputs({t}, {"y"});
  stale.mutable_node(0).attrs = PermAttrs{{0, 1}};
  EXPECT_NE(error_of([&] { verify(stale, Stage::primitive); }, ErrorKind::internal).find("Transpose"),
            std::string::npos);
}

}  // namespace
}  // namespace korch
