// Greedy groups: what they cost in questions, what they are in graphs of any form, and how large they get.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "korch/search/strategy.h"

namespace korch {
namespace {

const TensorType kType{DType::f32, {4, 8}};

ValueId scalar(Graph& graph, float value) {
  return graph.add_constant(HostTensor::of<float>(DType::f32, {}, {value}));
}

// Relu, a sum and a product in turn, every constant another one.
Graph chain(int length) {
  Graph graph;
  ValueId x = graph.add_input(kType, "x");
  for (int i = 0; i < length; ++i)
    x = i % 3 == 0 ? graph.add(Op::Relu, NoAttrs{}, {x})
                   : graph.add(i % 3 == 1 ? Op::Add : Op::Mul, NoAttrs{}, {x, scalar(graph, 1 + 0.5f * i)});
  graph.set_outputs({x}, {"y"});
  return graph;
}

// Matrix products, each with a bias and an activation.
Graph layers(int count) {
  Graph graph;
  ValueId x = graph.add_input(kType, "x");
  for (int i = 0; i < count; ++i) {
    const ValueId weight = graph.add_constant(HostTensor(TensorType{DType::f32, {8, 8}}));
    x = graph.add(Op::MatMul, MatMulAttrs{}, {x, weight});
    x = graph.add(Op::Relu, NoAttrs{}, {graph.add(Op::Add, NoAttrs{}, {x, scalar(graph, 1 + 0.5f * i)})});
  }
  graph.set_outputs({x}, {"y"});
  return graph;
}

Graph random_graph(uint64_t seed) {
  std::mt19937_64 random(seed);
  Graph graph;
  std::vector<ValueId> values = {graph.add_input(kType, "x")};
  const auto any = [&] { return values[values.size() - 1 - random() % std::min<size_t>(values.size(), 6)]; };
  for (int i = 0; i < 60; ++i) {
    const uint64_t kind = random() % 8;
    if (kind == 0) {
      const ValueId weight = graph.add_constant(HostTensor(TensorType{DType::f32, {8, 8}}));
      values.push_back(graph.add(Op::MatMul, MatMulAttrs{}, {any(), weight}));
    } else if (kind == 1) {
      const ValueId sum = graph.add(Op::ReduceSum, ReduceAttrs{{1}, true}, {any()});
      values.push_back(graph.add(Op::Sub, NoAttrs{}, {any(), sum}));
    } else if (kind < 5) {
      values.push_back(graph.add(Op::Add, NoAttrs{}, {any(), any()}));
    } else {
      values.push_back(graph.add(Op::Tanh, NoAttrs{}, {any()}));
    }
  }
  graph.set_outputs({values.back(), any()}, {"y", "z"});
  graph.remove_dead_nodes();
  return graph;
}

struct Asked {
  Enumeration groups;
  int questions = 0;
  size_t nodes_shown = 0;
};

Asked ask(const Graph& graph, const HasKernel& has_kernel, const GreedyOptions& options = {}) {
  Asked result;
  result.groups = greedy_candidates(
      graph,
      [&](const Candidate& candidate) {
        ++result.questions;
        result.nodes_shown += candidate.nodes.size();
        return has_kernel(candidate);
      },
      options);
  return result;
}

bool always(const Candidate&) {
  return true;
}

TEST(Greedy, AsksTwicePerGroupOfAPointwiseChain) {
  constexpr int kLength = 5000;
  const Asked asked = ask(chain(kLength), always);
  const int most = GreedyOptions().max_primitives;
  const int groups = (kLength + most - 1) / most;
  EXPECT_EQ(asked.groups.candidates.size(), static_cast<size_t>(groups));
  EXPECT_LE(asked.questions, 2 * groups);  // its first merge, and the whole
  EXPECT_EQ(asked.groups.pruned.at("greedy_group_size"), groups - 1);
  for (const Candidate& group : asked.groups.candidates)
    EXPECT_LE(group.nodes.size(), static_cast<size_t>(most));
}

TEST(Greedy, AskingIsLinearInTheNumberOfLayers) {
  const Asked few = ask(layers(100), always), many = ask(layers(1000), always);
  EXPECT_LE(many.questions, 10 * few.questions + 10);
  EXPECT_LE(many.nodes_shown, 10 * few.nodes_shown + 10);
}

// A kernel may be refused for what nobody can tell from its primitives (it proved wrong before).
TEST(Greedy, AGroupThatIsRefusedAfterAllIsMadeAnew) {
  const Asked asked = ask(chain(30), [](const Candidate& candidate) {
    return candidate.nodes.size() != 30 && candidate.nodes.size() != 7;
  });
  ASSERT_EQ(asked.groups.candidates.size(), 5u);
  for (const Candidate& group : asked.groups.candidates) EXPECT_EQ(group.nodes.size(), 6u);
}

// A limit that does not bite changes nothing, and is not reported.
TEST(Greedy, ReportsItsLimitOnlyWhereItBites) {
  const Graph graph = chain(20);
  EXPECT_EQ(ask(graph, always, {.max_primitives = 20}).groups.pruned.size(), 0u);
  const Asked limited = ask(graph, always, {.max_primitives = 7});
  EXPECT_EQ(limited.groups.candidates.size(), 3u);
  EXPECT_EQ(limited.groups.pruned.at("greedy_group_size"), 2);
}

// What is not asked would have been answered by yes: another operation per element over memory that the
// group's nest reads already.
TEST(Greedy, AsksWhereANodeReadsMemoryInANewWay) {
  Graph graph;
  ValueId x = graph.add_input(kType, "x");
  const ValueId row = graph.add_input({DType::f32, {8}}, "row");
  for (int i = 0; i < 6; ++i) x = graph.add(Op::Relu, NoAttrs{}, {x});
  x = graph.add(Op::Add, NoAttrs{}, {x, row});
  for (int i = 0; i < 6; ++i) x = graph.add(Op::Tanh, NoAttrs{}, {x});
  graph.set_outputs({x}, {"y"});
  const auto reads_row = [&](const Candidate& candidate) {
    return std::find(candidate.inputs.begin(), candidate.inputs.end(), row) != candidate.inputs.end();
  };
  const Asked asked = ask(graph, [&](const Candidate& candidate) { return !reads_row(candidate); });
  EXPECT_EQ(asked.groups.candidates.size(), 3u);  // the sum is alone
}

// Every node in one group; the groups in some order, each after what it reads.
TEST(Greedy, GroupsOfRandomGraphsCanBeScheduled) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Graph graph = random_graph(seed);
    std::mt19937_64 random(seed);
    const Asked asked =
        ask(graph, [&](const Candidate&) { return random() % 4 != 0; }, {.max_primitives = 9});
    std::vector<int> group_of(graph.node_count(), -1);
    const std::vector<Candidate>& groups = asked.groups.candidates;
    for (size_t g = 0; g < groups.size(); ++g)
      for (NodeId node : groups[g].nodes) {
        EXPECT_EQ(group_of[node], -1) << seed;
        group_of[node] = static_cast<int>(g);
      }
    std::set<ValueId> made(graph.inputs().begin(), graph.inputs().end());
    std::vector<bool> done(groups.size());
    size_t count = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t g = 0; g < groups.size(); ++g) {
        if (done[g] || !std::all_of(groups[g].inputs.begin(), groups[g].inputs.end(),
                                    [&](ValueId v) { return made.count(v) != 0; }))
          continue;
        done[g] = moved = true;
        ++count;
        made.insert(groups[g].outputs.begin(), groups[g].outputs.end());
      }
    }
    EXPECT_EQ(count, groups.size()) << seed;
    for (NodeId id : graph.topological_order())
      EXPECT_EQ(group_of[id] >= 0, info(graph.node(id).op).category != Category::constant) << seed;
  }
}

}  // namespace
}  // namespace korch
