// Enumeration against the definition: on small random graphs with the pruning off, against pairs of execution
// states (Korch, Theorem 1) and against all subsets where Values have several producers.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "korch/candidate/candidate.h"
#include "korch/candidate/execution_states.h"
#include "korch/codegen/implementation.h"
#include "korch/ir/text.h"

namespace korch {
namespace {

// The definition of a candidate alone.
EnumerateOptions unpruned() {
  constexpr int kNone = 1 << 20;
  EnumerateOptions options;
  options.max_primitives = kNone;
  options.max_outputs = kNone;
  options.max_candidates = kNone;
  options.recompute = false;
  options.rule_chain = false;
  options.rule_join = false;
  options.rule_linear_context = false;
  options.rule_weighted_window = false;
  options.rule_linear_parts = false;
  options.rule_sharing = false;
  options.rule_sinks = false;
  options.max_sets_per_sink = 0;
  return options;
}

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

// Dependency-closed sets of nodes, as bits.
std::vector<uint32_t> execution_states(const Graph& graph) {
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
  return states;
}

// Differences of nested execution states.
std::set<NodeSet> state_differences(const Graph& graph) {
  const std::vector<NodeId> nodes = primitives(graph);
  const std::vector<uint32_t> states = execution_states(graph);
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
  for (const Candidate& candidate : enumerate_candidates(graph, linear_context(), options).candidates)
    result.insert(NodeSet(candidate.nodes.begin(), candidate.nodes.end()));
  return result;
}

Graph random_graph(std::mt19937& random, int nodes, int alternatives) {
  Graph graph;
  const TensorType type{DType::f32, {1, 1, 4, 4}};
  std::vector<ValueId> values = {graph.add_input(type, "x"), graph.add_input(type, "y")};
  const auto pick = [&] { return values[random() % values.size()]; };
  const auto attrs_inputs = [&](Op* op, Attrs* attrs, std::vector<ValueId>* inputs) {
    const Op ops[] = {Op::Relu, Op::Add,       Op::Mul,       Op::MatMul,
                      Op::Exp,  Op::Transpose, Op::WindowMax, Op::WindowMax};
    *op = ops[random() % 8];
    *attrs = NoAttrs{};
    if (*op == Op::WindowMax) *attrs = PoolAttrs{{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, false};
    if (*op == Op::MatMul) *attrs = MatMulAttrs{};
    if (*op == Op::Transpose) *attrs = PermAttrs{{0, 1, 3, 2}};
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
    EXPECT_EQ(enumerated(graph, unpruned()), state_differences(graph)) << print(graph);
    EXPECT_EQ(count_execution_states(graph), static_cast<double>(execution_states(graph).size()))
        << print(graph);
  }
}

TEST(Enumerate, UnprunedIsTheDefinitionWithAlternatives) {
  std::mt19937 random(2);
  int with_circles = 0;
  for (int round = 0; round < 200; ++round) {
    const Graph graph = random_graph(random, 3 + round % 4, 1 + round % 3);
    EXPECT_EQ(enumerated(graph, unpruned()), legal_subsets(graph)) << print(graph);
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
  const Graph graph = parse_graph(text + "}");
  EXPECT_EQ(enumerated(graph, unpruned()).size(), 40u);
  EXPECT_EQ(count_execution_states(graph), 625);
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
    EnumerateOptions options;
    options.recompute = false;
    const Enumeration enumeration = enumerate_candidates(graph, linear_context(), options);
    expect_well_formed(graph, enumeration, options);
    const std::set<NodeSet> all = enumerated(graph, unpruned());
    for (const Candidate& c : enumeration.candidates)
      EXPECT_TRUE(all.contains(NodeSet(c.nodes.begin(), c.nodes.end())));
  }
}

struct RuleCase {
  const char* rule;
  std::function<void(EnumerateOptions&)> switch_off;
  const char* body;
};

TEST(Enumerate, EveryRuleBitesAndCanBeSwitchedOff) {
  const std::string fan =
      "%a = Exp(%x)\n%b = Exp(%x)\n%c = Relu(%x)\n%d = Neg(%x)\noutput %a \"a\"\noutput %b \"b\"\n"
      "output %c \"c\"\noutput %d \"d\"\n";
  const std::vector<RuleCase> cases = {
      {"size", [](auto& o) { o.max_primitives = 9; },
       "%a = Exp(%x)\n%b = Add(%a, %a)\n%y = Add(%a, %b)\noutput %y \"z\""},
      {"sinks", [](auto& o) { o.max_outputs = 9; }, fan.c_str()},
      {"outputs", [](auto& o) { o.max_outputs = 9; },
       "%a = Exp(%x)\n%b = Add(%a, %z)\noutput %a \"a\"\noutput %b \"b\""},
      {"linear", [](auto& o) { o.max_linear = 9; },
       "%a = MatMul(%x, %x)\n%b = MatMul(%a, %x)\noutput %b \"b\""},
      {"chain", [](auto& o) { o.rule_chain = false; },
       "%a = Exp(%x)\n%b = Relu(%a)\n%c = Relu(%b)\noutput %c \"c\""},
      {"linear_epilogue", [](auto& o) { o.rule_linear_context = false; },
       "%a = MatMul(%x, %x)\n%b = ReduceSum(%a) {axes=[1]}\noutput %b \"b\""},
      {"linear_prologue", [](auto& o) { o.rule_linear_context = false; },
       "%a = ReduceMax(%x) {axes=[1]}\n%b = MatMul(%x, %a)\noutput %b \"b\""},
      {"linear_sinks", [](auto& o) { o.rule_linear_context = false; },
       "%a = MatMul(%x, %x)\n%b = Exp(%a)\n%c = Relu(%a)\noutput %b \"b\"\noutput %c \"c\""},
      {"linear_parts", [](auto& o) { o.rule_linear_parts = false; },
       "%i = Reshape(%x) {shape=[1,1,4,4]}\n%w = Slice(%i) {starts=[0,0,0,0], sizes=[1,1,3,3], "
       "steps=[1,1,1,1]}\n"
       "%v = WinogradInput(%i) {tile=2}\n%p = WinogradProduct(%v, %w) {tile=2}\noutput %p \"p\""},
      {"weighted_window", [](auto& o) { o.rule_weighted_window = false; },
       "%a = Exp(%x)\n%i = Reshape(%a) {shape=[1,2,2,4]}\n%w = Reshape(%r) {shape=[2,2,2]}\n"
       "%d = WindowDot(%i, %w) {kernel=[2,2], strides=[1,1], dilations=[1,1], pads_before=[0,0], "
       "pads_after=[0,0], count_include_pad=false}\noutput %d \"d\""},
      {"sharing", [](auto& o) { o.rule_sharing = o.rule_sinks = false; },
       "%a = Transpose(%r) {perm=[1,0]}\n%b = Exp(%r)\noutput %a \"a\"\noutput %b \"b\""},
      {"sink_domains", [](auto& o) { o.rule_sinks = false; },
       "%a = Exp(%r)\n%b = Transpose(%a) {perm=[1,0]}\n%c = Neg(%a)\noutput %b \"b\"\noutput %c \"c\""},
      {"sets_per_sink", [](auto& o) { o.max_sets_per_sink = 0; },
       "%a = Exp(%x)\n%b = Add(%a, %a)\n%c = Add(%a, %b)\n%d = Add(%b, %c)\noutput %d \"d\""},
      {"max_candidates", [](auto& o) { o.max_candidates = 99; },
       "%a = Exp(%x)\n%b = Add(%a, %a)\n%c = Add(%a, %b)\noutput %c \"c\""},
  };
  for (const RuleCase& c : cases) {
    const Graph graph = parse_graph(
        "graph {\ninput %x : f32[4x4] \"x\"\ninput %z : f32[4x4] \"z\"\ninput %r : f32[2x4] \"r\"\n" +
        std::string(c.body) + "}");
    EnumerateOptions options;  // tight where the defaults are generous
    options.max_outputs = c.rule == std::string("outputs") ? 1 : 3;
    options.max_primitives = 2;
    if (c.rule != std::string("size")) options.max_primitives = 48;
    options.max_sets_per_sink = c.rule == std::string("sets_per_sink") ? 2 : 300;
    options.max_candidates = c.rule == std::string("max_candidates") ? 1 : 40000;
    EnumerateOptions off = options;
    c.switch_off(off);
    Enumeration with = enumerate_candidates(graph, linear_context(), options),
                without = enumerate_candidates(graph, linear_context(), off);
    EXPECT_GT(with.pruned[c.rule], 0) << c.rule;
    EXPECT_EQ(without.pruned[c.rule], 0) << c.rule;
    EXPECT_GT(without.candidates.size(), with.candidates.size()) << c.rule;
  }
}

// Every input of a candidate must be derivable without its outputs, by primitives alone.
bool is_schedulable(const Graph& graph, const Candidate& candidate) {
  std::set<ValueId> available(graph.inputs().begin(), graph.inputs().end());
  const std::set<ValueId> outputs(candidate.outputs.begin(), candidate.outputs.end());
  for (size_t before = SIZE_MAX; before != available.size();) {
    before = available.size();
    for (NodeId id : primitives(graph)) {
      const auto& inputs = graph.node(id).inputs;
      const bool ready =
          std::all_of(inputs.begin(), inputs.end(), [&](ValueId v) { return available.contains(v); });
      for (ValueId output : graph.node(id).outputs) {
        if (ready && !outputs.contains(output)) available.insert(output);
      }
    }
  }
  return std::all_of(candidate.inputs.begin(), candidate.inputs.end(),
                     [&](ValueId v) { return available.contains(v); });
}

TEST(Enumerate, RecomputingCandidatesCanBeScheduled) {
  std::mt19937 random(4);
  int not_convex = 0;
  for (int round = 0; round < 300; ++round) {
    const Graph graph = random_graph(random, 4 + round % 6, round % 3);
    const std::set<NodeSet> convex = enumerated(graph, unpruned());
    for (const Candidate& c : enumerate_candidates(graph, linear_context()).candidates) {
      EXPECT_TRUE(is_schedulable(graph, c)) << print(graph);
      not_convex += convex.contains(NodeSet(c.nodes.begin(), c.nodes.end())) ? 0 : 1;
    }
  }
  EXPECT_GT(not_convex, 20);
}

TEST(Enumerate, PrivateOperandsOfAJoinGoTogether) {
  const Graph graph = parse_graph(R"(graph {
    input %x : f32[4x4] "x"
    input %y : f32[4x4] "y"
    %a = Exp(%x)
    %b = Exp(%y)
    %c = Concat(%a, %b) {axis=0}
    output %c "c"
  })");
  EnumerateOptions options;
  EXPECT_EQ(enumerated(graph, options), (std::set<NodeSet>{{0}, {1}, {2}, {0, 1, 2}}));
  options.rule_join = false;
  EXPECT_EQ(enumerated(graph, options), (std::set<NodeSet>{{0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}}));
}

}  // namespace
}  // namespace korch
