// Enumeration where graphs are long, or where thousands of primitives meet in one place: in counts, not
// seconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "korch/candidate/enumerate.h"
#include "korch/codegen/implementation.h"

namespace korch {
namespace {

const TensorType kType{DType::f32, {4}};

Graph chain(int length) {
  Graph graph;
  ValueId x = graph.add_input(kType, "x");
  for (int i = 0; i < length; ++i) x = graph.add(i % 2 == 0 ? Op::Relu : Op::Tanh, NoAttrs{}, {x});
  graph.set_outputs({x}, {"y"});
  return graph;
}

std::vector<NodeId> nodes_of(const Graph& graph) {
  std::vector<NodeId> nodes(graph.node_count());
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

// One Value that `count` primitives read, each with a reader of its own.
Graph fan_out(int count) {
  Graph graph;
  const ValueId x = graph.add(Op::Relu, NoAttrs{}, {graph.add_input(kType, "x")});
  std::vector<ValueId> outputs;
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    const ValueId y = graph.add(Op::Mul, NoAttrs{}, {x, graph.add_input(kType, "x" + std::to_string(i))});
    outputs.push_back(graph.add(Op::Tanh, NoAttrs{}, {y}));
    names.push_back("y" + std::to_string(i));
  }
  graph.set_outputs(outputs, names);
  return graph;
}

// A Concat of many: private operands, or slices of one Value.
Graph concat(int count, bool of_slices) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {count}}, "x");
  std::vector<ValueId> parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(of_slices
                        ? graph.add(Op::Slice, SliceAttrs{{i}, {1}, {1}}, {x})
                        : graph.add(Op::Relu, NoAttrs{}, {graph.add_input(kType, "x" + std::to_string(i))}));
  graph.set_outputs({graph.add(Op::Concat, AxisAttrs{0}, parts)}, {"y"});
  return graph;
}

// Deep: an order by recursion ends on the stack's end here.
TEST(Scale, ACandidateOfAnyLengthHasAnOrder) {
  constexpr int kLength = 300000;
  const Graph graph = chain(kLength);
  std::vector<NodeId> nodes = nodes_of(graph);
  std::reverse(nodes.begin(), nodes.end());
  const Candidate candidate = make_candidate(graph, nodes, graph.outputs());
  EXPECT_EQ(candidate.nodes, graph.topological_order());
  EXPECT_EQ(candidate.outputs, graph.outputs());
}

TEST(Scale, AtomsAreNoLongerThanCandidates) {
  constexpr int kLength = 3000;
  const Graph graph = chain(kLength);
  const EnumerateOptions options;
  const Enumeration found = enumerate_candidates(graph, linear_context(), options);
  size_t longest = 0;
  for (const Candidate& candidate : found.candidates) longest = std::max(longest, candidate.nodes.size());
  EXPECT_EQ(longest, static_cast<size_t>(options.max_primitives));
  EXPECT_LE(found.candidates.size(), static_cast<size_t>(kLength + kLength / options.max_primitives + 1));
}

TEST(Scale, OfManyReadersOfOneValueTheNearOnesAreNeighbours) {
  const Enumeration few = enumerate_candidates(fan_out(500), linear_context()),
                    many = enumerate_candidates(fan_out(1000), linear_context());
  EXPECT_GT(many.pruned.at("readers"), 0);
  EXPECT_LE(many.candidates.size(), 2 * few.candidates.size() + 100);
  EXPECT_EQ(enumerate_candidates(fan_out(20), linear_context()).pruned.count("readers"), 0u);
}

TEST(Scale, AConcatOfThousandsIsOneCandidateAndItsPartsAreOthers) {
  constexpr int kParts = 2000;
  for (const bool of_slices : {false, true}) {
    const Enumeration found = enumerate_candidates(concat(kParts, of_slices), linear_context());
    size_t concats = 0, parts = 0;
    for (const Candidate& candidate : found.candidates) {
      concats += candidate.nodes.size() == 1 && candidate.inputs.size() + candidate.constants.size() > 1;
      parts += candidate.nodes.size() == 1 && candidate.inputs.size() == 1;
    }
    EXPECT_EQ(concats, 1u);
    EXPECT_EQ(parts, static_cast<size_t>(kParts));
  }
}

TEST(Scale, AfterTheDeadlineEveryPrimitiveIsStillACandidate) {
  const Graph graph = fan_out(50);
  const Enumeration found = enumerate_until(graph, linear_context(), {}, Deadline(-1));
  EXPECT_EQ(found.candidates.size(), graph.live_node_count());
  EXPECT_GT(found.pruned.at("budget"), 0);
}

}  // namespace
}  // namespace korch
