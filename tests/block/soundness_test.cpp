// Numbers against laws: what the e-graph calls equal is, and block graphs that it accepts compute the group.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "evaluate.h"
#include "groups.h"
#include "korch/block/enumerate.h"
#include "korch/block/prove.h"
#include "random_terms.h"

namespace korch::block {
namespace {

// Few values per axis, no two the same.
Terms shrunk(Terms terms) {
  for (size_t i = 0; i < terms.axes.size(); ++i)
    terms.axes[i].extent = terms.axes[i].name == "n" ? 5 : terms.axes[i].name == "d" ? 4 : 2 + (i % 2);
  return terms;
}

std::vector<Numbers> random_leaves(const Evaluator& evaluator, const std::vector<Leaf>& leaves,
                                   uint64_t seed) {
  std::vector<Numbers> numbers;
  for (size_t i = 0; i < leaves.size(); ++i)
    numbers.push_back(evaluator.random(leaves[i].axes, leaves[i].type, seed * 100 + i));
  return numbers;
}

TEST(BlockSoundness, StructuresComputeTheirGroupsBlockByBlock) {
  for (const auto& [name, group] : groups()) {
    const Terms small = shrunk(group);
    SearchLog log;
    const Evaluator evaluator(small.axes);
    const std::vector<Numbers> leaves = random_leaves(evaluator, small.leaves, 7);
    const std::vector<Numbers> terms = evaluator.evaluate(small, leaves);
    for (const BlockGraph& graph : structures(small, {}, log))
      for (int64_t block : {1, 2, 5}) {
        const std::vector<Numbers> results = evaluator.run(graph, leaves, block);
        for (size_t i = 0; i < results.size(); ++i)
          EXPECT_TRUE(close(results[i], terms[static_cast<size_t>(small.results[i])]))
              << name << " in blocks of " << block << "\n"
              << print(graph);
      }
  }
}

// A node by the values of its operands; nothing where one is not known.
std::optional<Numbers> value_of(const EGraph& graph, const ENode& node, const Evaluator& evaluator,
                                const std::vector<Numbers>& leaves,
                                const std::vector<std::optional<Numbers>>& classes) {
  using Kind = ENode::Kind;
  if (node.kind == Kind::leaf) return leaves[static_cast<size_t>(node.leaf)];
  if (node.kind == Kind::number) return Numbers(evaluator.points(), node.number);
  std::vector<const Numbers*> args;
  for (const ENode::Part& part : node.parts) {
    const std::optional<Numbers>& value = classes[static_cast<size_t>(graph.find(part.of))];
    if (!value) return std::nullopt;
    args.push_back(&*value);
  }
  if (node.kind == Kind::exp) return evaluator.call(Op::Exp, {}, args);
  if (node.kind == Kind::call) return evaluator.call(node.op, node.scalars, args);
  if (node.kind == Kind::fold) return evaluator.fold(node.combine, node.over, *args[0]);
  Numbers result(evaluator.points(), node.kind == Kind::sum ? node.number : 1);
  for (size_t i = 0; i < args.size(); ++i)
    for (size_t point = 0; point < result.size(); ++point) {
      const double x = (*args[i])[point], times = node.parts[i].times;
      if (node.kind == Kind::sum)
        result[point] += times * x;
      else
        result[point] *= std::pow(x, times);
    }
  return result;
}

bool tame(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double x) { return std::isfinite(x) && std::fabs(x) < 1e6; });
}

// Each node of each class of saturated random terms has the value of its class. How many were compared.
int compare_nodes(const Terms& terms, uint64_t seed) {
  EGraph graph(terms.leaves);
  graph.add(terms, terms.results);
  saturate(graph, {.nodes = 3000});
  if (graph.contradiction()) return 0;
  const Evaluator evaluator(terms.axes);
  const std::vector<Numbers> leaves = random_leaves(evaluator, terms.leaves, seed);
  std::vector<std::optional<Numbers>> classes(static_cast<size_t>(graph.class_slots()));
  int compared = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < graph.node_slots(); ++i) {
      std::optional<Numbers>& known = classes[static_cast<size_t>(graph.class_of(i))];
      if (!graph.is_live(i) || known) continue;
      known = value_of(graph, graph.node(i), evaluator, leaves, classes);
      changed = changed || known;
    }
  }
  for (int i = 0; i < graph.node_slots(); ++i) {
    const std::optional<Numbers>& known = classes[static_cast<size_t>(graph.class_of(i))];
    if (!graph.is_live(i) || !known || !tame(*known)) continue;
    const std::optional<Numbers> value = value_of(graph, graph.node(i), evaluator, leaves, classes);
    if (!value || !tame(*value)) continue;
    ++compared;
    EXPECT_TRUE(close(*known, *value)) << "seed " << seed << ": " << print(terms, terms.results[0]);
  }
  return compared;
}

TEST(BlockSoundness, NodesOfAClassAreEqual) {
  int compared = 0;
  for (uint64_t seed = 0; seed < 4000 && !testing::Test::HasFailure(); ++seed)
    compared += compare_nodes(RandomTerms(seed).terms, seed);
  EXPECT_GT(compared, 20000);
}

TEST(BlockSoundness, StructuresOfRandomGroupsComputeThem) {
  int compared = 0, looping = 0;
  for (uint64_t seed = 0; seed < 1500 && !testing::Test::HasFailure(); ++seed) {
    const Terms group = RandomTerms(seed).terms;
    const Evaluator evaluator(group.axes);
    const std::vector<Numbers> leaves = random_leaves(evaluator, group.leaves, seed);
    const Numbers expected = evaluator.evaluate(group, leaves)[static_cast<size_t>(group.results[0])];
    if (!tame(expected)) continue;
    SearchLog log;
    const SearchLimits limits = {.saturation = {.nodes = 2000}, .choices = 20};
    for (const BlockGraph& graph : structures(group, limits, log)) {
      EXPECT_TRUE(prove(group, graph).proven) << "seed " << seed << "\n" << print(graph);
      for (int64_t block : {1, 2}) {
        const std::vector<Numbers> results = evaluator.run(graph, leaves, block);
        EXPECT_TRUE(!tame(results[0]) || close(results[0], expected)) << "seed " << seed << "\n"
                                                                      << print(graph);
        ++compared;
        looping += !graph.loops.empty();
      }
    }
  }
  EXPECT_GT(compared, 2000);
  EXPECT_GT(looping, 900);
}

}  // namespace
}  // namespace korch::block
