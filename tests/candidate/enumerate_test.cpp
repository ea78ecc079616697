// Enumeration against the definition: on small random graphs with the pruning off, against pairs of execution
// states (Korch, Theorem 1) and against all subsets where Values have several producers.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "korch/candidate/candidate.h"
#include "korch/ir/text.h"

namespace korch {
namespace {

using NodeSet = std::set<NodeId>;

std::vector<NodeId> primitives(const Graph& graph) {
  std::vector<NodeId> result;
  for (NodeId id : graph.topological_order()) {
    if (info(graph.node(id).op).category != Category::constant) result.push_back(id);
  }
  return result;
}

bool makes(const Graph& graph, NodeId node, ValueId value) {
  const auto& producers = graph.value(value).producers;
  return std::find(producers.begin(), producers.end(), node) != producers.end();
}

bool linked(const Graph& graph, NodeId a, NodeId b) {
  for (ValueId x : graph.node(a).inputs) {
    for (ValueId y : graph.node(b).inputs) {
      if (x == y && graph.constant(x) == nullptr) return true;
    }
    if (makes(graph, b, x)) return true;
  }
  return std::any_of(graph.node(b).inputs.begin(), graph.node(b).inputs.end(),
                     [&](ValueId y) { return makes(graph, a, y); });
}

bool connected(const Graph& graph, const NodeSet& set) {
  NodeSet reached = {*set.begin()};
  for (size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (NodeId a : NodeSet(reached)) {
      for (NodeId b : set) {
        if (linked(graph, a, b)) reached.insert(b);
      }
    }
  }
  return reached.size() == set.size();
}

int count_linear(const Graph& graph, const NodeSet& set) {
  return static_cast<int>(std::count_if(set.begin(), set.end(), [&](NodeId id) {
    return info(graph.node(id).op).category == Category::linear;
  }));
}

// Differences of nested execution states: dependency-closed sets of nodes.
std::set<NodeSet> state_differences(const Graph& graph) {
  const std::vector<NodeId> nodes = primitives(graph);
  std::vector<uint32_t> states;
  for (uint32_t mask = 0; mask < (1u << nodes.size()); ++mask) {
    bool closed = true;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if ((mask >> i & 1) == 0) continue;
      for (size_t j = 0; j < nodes.size(); ++j) {
        for (ValueId input : graph.node(nodes[i]).inputs)
          closed = closed && ((mask >> j & 1) != 0 || !makes(graph, nodes[j], input));
      }
    }
    if (closed) states.push_back(mask);
  }
  std::set<NodeSet> result;
  for (uint32_t before : states) {
    for (uint32_t after : states) {
      if ((before & after) != before || before == after) continue;
      NodeSet set;
      for (size_t i = 0; i < nodes.size(); ++i) {
        if (((after & ~before) >> i & 1) != 0) set.insert(nodes[i]);
      }
      if (count_linear(graph, set) <= 1 && connected(graph, set)) result.insert(set);
    }
  }
  return result;
}

// Whether the nodes of the set can be ordered, and its inputs derived without what it makes.
bool is_legal_with_alternatives(const Graph& graph, const NodeSet& set) {
  std::set<ValueId> made, available(graph.inputs().begin(), graph.inputs().end());
  for (NodeId id : set) {
    for (ValueId output : graph.node(id).outputs) {
      if (!made.insert(output).second) return false;
    }
  }
  const std::vector<NodeId> nodes = primitives(graph);
  const auto run = [&](bool inside) {
    for (size_t before = SIZE_MAX; before != available.size();) {
      before = available.size();
      for (NodeId id : nodes) {
        if (set.contains(id) != inside) continue;
        const auto& inputs = graph.node(id).inputs;
        const bool ready =
            std::all_of(inputs.begin(), inputs.end(), [&](ValueId v) { return available.contains(v); });
        for (ValueId output : graph.node(id).outputs) {
          if (ready && (inside || !made.contains(output))) available.insert(output);
        }
      }
    }
  };
  run(false);
  run(true);
  return std::all_of(made.begin(), made.end(), [&](ValueId v) { return available.contains(v); });
}

std::set<NodeSet> legal_subsets(const Graph& graph) {
  const std::vector<NodeId> nodes = primitives(graph);
  std::set<NodeSet> result;
  for (uint32_t mask = 1; mask < (1u << nodes.size()); ++mask) {
    NodeSet set;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if ((mask >> i & 1) != 0) set.insert(nodes[i]);
    }
    if (count_linear(graph, set) <= 1 && connected(graph, set) && is_legal_with_alternatives(graph, set))
      result.insert(set);
  }
  return result;
}

std::set<NodeSet> enumerated(const Graph& graph, const EnumerateOptions& options) {
  std::set<NodeSet> result;
  for (const Candidate& candidate : enumerate_candidates(graph, options).candidates)
    result.insert(NodeSet(candidate.nodes.begin(), candidate.nodes.end()));
  return result;
}

Graph random_graph(std::mt19937& random, int nodes, int alternatives) {
  Graph graph;
  const TensorType type{DType::f32, {4, 4}};
  std::vector<ValueId> values = {graph.add_input(type, "x"), graph.add_input(type, "y")};
  const auto pick = [&] { return values[random() % values.size()]; };
  const auto attrs_inputs = [&](Op* op, Attrs* attrs, std::vector<ValueId>* inputs) {
    const Op ops[] = {Op::Relu, Op::Add, Op::Mul, Op::MatMul, Op::Exp, Op::Transpose};
    *op = ops[random() % 6];
    *attrs = NoAttrs{};
    if (*op == Op::MatMul) *attrs = MatMulAttrs{};
    if (*op == Op::Transpose) *attrs = PermAttrs{{1, 0}};
    inputs->clear();
    for (int i = 0; i < info(*op).min_inputs; ++i) inputs->push_back(pick());
  };
  Op op;
  Attrs attrs;
  std::vector<ValueId> inputs;
  for (int i = 0; i < nodes; ++i) {
    attrs_inputs(&op, &attrs, &inputs);
    values.push_back(graph.add(op, attrs, inputs));
  }
  for (int i = 0; i < alternatives; ++i) {
    attrs_inputs(&op, &attrs, &inputs);
    graph.add_alternative(op, attrs, inputs, {values[2 + random() % nodes]});
  }
  std::vector<ValueId> outputs;
  std::vector<std::string> names;
  for (ValueId value : values) {
    if (graph.value(value).users.empty() || random() % 8 == 0) {
      outputs.push_back(value);
      names.push_back("out" + std::to_string(outputs.size()));
    }
  }
  graph.set_outputs(outputs, names);
  graph.remove_dead_nodes();
  return graph;
}

TEST(Enumerate, UnprunedIsTheStatePairDefinition) {
  std::mt19937 random(1);
  for (int round = 0; round < 150; ++round) {
    const Graph graph = random_graph(random, 3 + round % 6, 0);
    EXPECT_EQ(enumerated(graph, EnumerateOptions::unpruned()), state_differences(graph)) << print(graph);
  }
}

TEST(Enumerate, UnprunedIsTheDefinitionWithAlternatives) {
  std::mt19937 random(2);
  int with_circles = 0;
  for (int round = 0; round < 200; ++round) {
    const Graph graph = random_graph(random, 3 + round % 4, 1 + round % 3);
    EXPECT_EQ(enumerated(graph, EnumerateOptions::unpruned()), legal_subsets(graph)) << print(graph);
    std::map<NodeId, size_t> position;
    for (NodeId id : graph.topological_order()) position.emplace(id, position.size());
    for (const auto& [id, place] : position) {
      for (ValueId input : graph.node(id).inputs) {
        for (NodeId producer : graph.value(input).producers)
          with_circles += position[producer] >= place ? 1 : 0;
      }
    }
  }
  EXPECT_GT(with_circles, 20);
}

TEST(Enumerate, FourChainsOfFour) {
  std::string text = "graph {\n";
  for (int chain = 0; chain < 4; ++chain) {
    const std::string c = std::to_string(chain);
    text += "input %x" + c + " : f32[4] \"x" + c + "\"\n%a" + c + " = Exp(%x" + c + ")\n%b" + c +
            " = Exp(%a" + c + ")\n%c" + c + " = Exp(%b" + c + ")\n%d" + c + " = Exp(%c" + c + ")\noutput %d" +
            c + " \"y" + c + "\"\n";
  }
  EXPECT_EQ(enumerated(parse_graph(text + "}"), EnumerateOptions::unpruned()).size(), 40u);
}

// Every candidate must satisfy the contract, whatever the pruning.
void expect_well_formed(const Graph& graph, const Enumeration& enumeration, const EnumerateOptions& options) {
  std::set<std::pair<NodeSet, std::set<ValueId>>> seen;
  NodeSet alone;
  for (const Candidate& c : enumeration.candidates) {
    const NodeSet set(c.nodes.begin(), c.nodes.end());
    EXPECT_TRUE(seen.emplace(set, std::set<ValueId>(c.outputs.begin(), c.outputs.end())).second) << "twice";
    if (set.size() == 1) alone.insert(*set.begin());
    EXPECT_LE(static_cast<int>(c.outputs.size()), options.max_outputs);
    EXPECT_LE(static_cast<int>(c.nodes.size()), options.max_primitives);
    EXPECT_FALSE(c.outputs.empty());
    std::set<ValueId> known(c.inputs.begin(), c.inputs.end());
    known.insert(c.constants.begin(), c.constants.end());
    for (NodeId id : c.nodes) {
      for (ValueId input : graph.node(id).inputs) EXPECT_TRUE(known.contains(input));
      known.insert(graph.node(id).outputs.begin(), graph.node(id).outputs.end());
    }
    for (ValueId output : c.outputs) EXPECT_TRUE(known.contains(output));
  }
  NodeSet derivable;  // a producer that needs its own result is none
  for (NodeId id : primitives(graph)) {
    if (is_legal_with_alternatives(graph, {id})) derivable.insert(id);
  }
  EXPECT_EQ(alone, derivable);
}

TEST(Enumerate, PrunedIsASubsetAndWellFormed) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    const Graph graph = random_graph(random, 3 + round % 6, round % 3);
    const EnumerateOptions options;
    const Enumeration enumeration = enumerate_candidates(graph, options);
    expect_well_formed(graph, enumeration, options);
    const std::set<NodeSet> all = enumerated(graph, EnumerateOptions::unpruned());
    for (const Candidate& c : enumeration.candidates)
      EXPECT_TRUE(all.contains(NodeSet(c.nodes.begin(), c.nodes.end())));
  }
}

}  // namespace
}  // namespace korch
