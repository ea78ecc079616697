#include "korch/ir/graph.h"

#include <gtest/gtest.h>

#include "korch/ir/loops.h"
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
  verify(graph, GraphForm::primitive);

  const Graph compacted = graph.compact();
  EXPECT_EQ(compacted.node_count(), 2u);
  EXPECT_EQ(compacted.value_count(), 3u);
  verify(compacted, GraphForm::primitive);
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
  verify(graph, GraphForm::primitive);
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
  verify(graph, GraphForm::imported);
  EXPECT_NE(error_of([&] { verify(graph, GraphForm::primitive); }, ErrorKind::internal).find("Softmax"),
            std::string::npos);

  Graph stale;
  const ValueId s = stale.add_input(f32({4, 8}), "s");
  const ValueId t = stale.add(Op::Transpose, PermAttrs{{1, 0}}, {s});
  stale.set_outputs({t}, {"y"});
  stale.mutable_node(0).attrs = PermAttrs{{0, 1}};
  EXPECT_NE(error_of([&] { verify(stale, GraphForm::primitive); }, ErrorKind::internal).find("Transpose"),
            std::string::npos);
}

// What is wrong with the loops of a text's graph; empty: nothing, and the text is that of the graph again.
std::string loop_fault(const std::string& body) {
  const std::string text =
      "graph {\n  input %n : i64[] \"n\"\n  input %c : bool[] \"c\"\n  input %x : f32[2] \"x\"\n" + body +
      "}\n";
  const Graph graph = parse_graph(text, {});
  const std::string fault = Loops(graph).fault();
  if (fault.empty()) {
    EXPECT_EQ(print(parse_graph(print(graph), {})), print(graph));
  }
  return fault;
}

TEST(Loops, StandBetweenTheirEnds) {
  const std::string begin = "  %i, %g, %s = LoopBegin(%n, %c, %x) {carried=1}\n", step = "  %t = Neg(%s)\n",
                    end = "  %m, %h, %y = LoopEnd(%i, %n, %g, %t) {carried=1}\n";
  EXPECT_EQ(loop_fault(begin + step + end + "  output %y \"y\"\n"), "");
  EXPECT_NE(loop_fault(begin + step + end + "  output %t \"y\"\n"), "");  // leads out of the loop
  EXPECT_NE(loop_fault(begin + step + "  output %x \"y\"\n"), "");
  EXPECT_NE(loop_fault(begin + step + end +
                       "  %k, %l, %z = LoopEnd(%i, %n, %g, %t) {carried=1}\n  output %y \"y\"\n"),
            "");
  EXPECT_NE(loop_fault(begin + step +
                       "  %m, %h, %y = LoopEnd(%i, %n, %g, %t) {number=1, carried=1}\n  output %y \"y\"\n"),
            "");
  // Of two loops, neither of which is within the other.
  const std::string other = "  %j, %k, %u = LoopBegin(%n, %c, %x) {number=1, carried=1}\n";
  EXPECT_NE(loop_fault(begin + other + "  %t = Add(%s, %u)\n" + end + "  output %y \"y\"\n"), "");
}

// Whatever order they come in, nothing but a loop's items stands between its ends.
TEST(Loops, Order) {
  const Graph graph = parse_graph(R"(graph {
  input %n : i64[] "n"
  input %c : bool[] "c"
  input %x : f32[2] "x"
  %i, %g, %s = LoopBegin(%n, %c, %x) {carried=1}
  %j, %k, %u = LoopBegin(%n, %c, %x) {number=1, carried=1}
  %a = Neg(%s)
  %o = Abs(%x)
  %b = Neg(%u)
  %d = Add(%a, %o)
  %m, %h, %y = LoopEnd(%i, %n, %g, %d) {carried=1}
  %p, %q, %z = LoopEnd(%j, %n, %k, %b) {number=1, carried=1}
  %r = Add(%y, %z)
  output %r "r"
})",
                                  {});
  const Loops loops(graph);
  std::vector<LoopItem> items;
  for (NodeId id = 0; id < graph.node_count(); ++id) items.push_back(loops.item(id));
  EXPECT_EQ(order_by_loops(items, loops), (std::vector<size_t>{3, 0, 2, 5, 6, 1, 4, 7, 8}));
}

}  // namespace
}  // namespace korch
