// Isomorphic candidates have equal hashes and list their nodes, inputs and outputs alike; others do not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "korch/candidate/candidate.h"
#include "korch/codegen/implementation.h"
#include "korch/ir/text.h"

namespace korch {
namespace {

// The candidate of all primitives of a graph.
Candidate whole(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (NodeId id : graph.topological_order()) {
    if (info(graph.node(id).op).category != Category::constant) nodes.push_back(id);
  }
  return make_candidate(graph, nodes, graph.outputs());
}

Hash hash_of(const std::string& body) {
  const Graph graph =
      parse_graph("graph {\ninput %x : f32[4x8] \"x\"\ninput %y : f32[4x8] \"y\"\n" + body + "}");
  return canonical_hash(graph, whole(graph));
}

TEST(CanonicalHash, DependsOnWhatAKernelDependsOn) {
  const Hash base = hash_of("%a = Exp(%x)\n%r = Sub(%a, %y)\noutput %r \"r\"");
  EXPECT_EQ(
      base,
      hash_of("%q = Exp(%y) @ \"other\"\n%z = Sub(%q, %x)\noutput %z \"z\""));  // names and ids do not matter
  EXPECT_NE(base, hash_of("%a = Log(%x)\n%r = Sub(%a, %y)\noutput %r \"r\""));  // operator
  EXPECT_NE(base, hash_of("%a = Exp(%x)\n%r = Sub(%y, %a)\noutput %r \"r\""));  // operand order
  EXPECT_NE(base, hash_of("%a = Exp(%x)\n%r = Sub(%a, %x)\noutput %r \"r\""));  // one input read twice
  EXPECT_NE(base, hash_of("%a = Exp(%x)\n%r = Sub(%a, %y)\noutput %r \"r\"\noutput %a \"a\""));  // outputs
  const std::string reduce = "output %r \"r\"";
  EXPECT_NE(hash_of("%r = ReduceSum(%x) {axes=[0]}\n" + reduce),
            hash_of("%r = ReduceSum(%x) {axes=[1]}\n" + reduce));
  EXPECT_NE(hash_of("%r = LeakyRelu(%x) {alpha=0.1}\n" + reduce),
            hash_of("%r = LeakyRelu(%x) {alpha=0.2}\n" + reduce));
}

TEST(CanonicalHash, SmallConstantsByValueLargeOnesByType) {
  const auto with = [](const std::string& constant) {
    return hash_of("%c = Constant() {" + constant + "\n%r = Mul(%x, %c)\noutput %r \"r\"");
  };
  EXPECT_NE(with("value=[2]} : f32[]"), with("value=[3]} : f32[]"));
  EXPECT_NE(with("value=[2]} : f32[]"), with("value=[2]} : f32[1]"));
  EXPECT_EQ(with("splat=2} : f32[4x8]"), with("splat=3} : f32[4x8]"));
  EXPECT_NE(with("splat=2} : f32[4x8]"), with("splat=2} : f32[4x1]"));
}

// A random graph whose nodes are inserted in a random topological order.
Graph shuffled_graph(unsigned seed, std::mt19937& shuffle) {
  std::mt19937 random(seed);
  struct Plan {
    Op op;
    std::vector<int> operands;
  };
  constexpr int kInputs = 2;
  std::vector<Plan> plans;
  for (int i = 0; i < 9; ++i) {
    const Op ops[] = {Op::Exp, Op::Relu, Op::Add, Op::Sub, Op::Mul};
    Plan plan{ops[random() % 5], {}};
    for (int k = 0; k < info(plan.op).min_inputs; ++k)
      plan.operands.push_back(static_cast<int>(random() % (kInputs + i)));
    plans.push_back(plan);
  }
  Graph graph;
  std::vector<ValueId> values(kInputs + plans.size(), kNoId);
  for (int i = 0; i < kInputs; ++i) values[i] = graph.add_input({DType::f32, {4, 4}}, "x");
  std::vector<size_t> rest(plans.size());
  for (size_t i = 0; i < rest.size(); ++i) rest[i] = i;
  while (!rest.empty()) {
    std::shuffle(rest.begin(), rest.end(), shuffle);
    const auto ready = std::find_if(rest.begin(), rest.end(), [&](size_t i) {
      return std::all_of(plans[i].operands.begin(), plans[i].operands.end(),
                         [&](int v) { return values[v] != kNoId; });
    });
    std::vector<ValueId> operands;
    for (int v : plans[*ready].operands) operands.push_back(values[v]);
    values[kInputs + *ready] = graph.add(plans[*ready].op, NoAttrs{}, operands);
    rest.erase(ready);
  }
  std::vector<ValueId> outputs;
  std::vector<std::string> names;
  for (ValueId value : values) {
    if (!graph.value(value).users.empty()) continue;
    outputs.push_back(value);
    names.push_back("y");
  }
  graph.set_outputs(outputs, names);
  return graph;
}

std::vector<Hash> all_hashes(const Graph& graph) {
  std::vector<Hash> hashes;
  for (const Candidate& c : enumerate_candidates(graph, linear_context()).candidates)
    hashes.push_back(canonical_hash(graph, c));
  std::sort(hashes.begin(), hashes.end());
  return hashes;
}

TEST(CanonicalHash, InsertionOrderDoesNotMatter) {
  std::mt19937 shuffle(7);
  int different = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Graph a = shuffled_graph(seed, shuffle), b = shuffled_graph(seed, shuffle);
    different += print(a) != print(b) ? 1 : 0;
    EXPECT_EQ(all_hashes(a), all_hashes(b)) << print(a) << print(b);
  }
  EXPECT_GT(different, 40);
}

TEST(CanonicalHash, RepeatedBlocksShareCandidates) {
  std::string body = "graph {\ninput %x0 : f32[4x8] \"x\"\n";
  for (int i = 0; i < 6; ++i) {
    body += fmt::format(
        "%w{0} = Constant() {{splat={0}}} : f32[8x8]\n%m{0} = MatMul(%x{0}, %w{0})\n%e{0} = Exp(%m{0})\n"
        "%x{1} = Add(%e{0}, %x{0})\n",
        i, i + 1);
  }
  const Graph graph = parse_graph(body + "output %x6 \"y\"\n}");
  const Enumeration enumeration = enumerate_candidates(graph, linear_context());
  std::vector<Hash> hashes = all_hashes(graph);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  EXPECT_GT(enumeration.candidates.size(), 30u);
  EXPECT_LE(hashes.size(), enumeration.candidates.size() / 4);
}

}  // namespace
}  // namespace korch
