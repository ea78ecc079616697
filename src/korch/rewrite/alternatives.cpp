#include "korch/rewrite/alternatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "korch/rewrite/bfloat16_products.h"
#include "korch/rewrite/bfloat16_storage.h"

namespace korch {
namespace {

bool is_wanted(const RewriteRule& rule, const RewriteOptions& options) {
  const bool named = options.only.empty() ||
                     std::find(options.only.begin(), options.only.end(), rule.name) != options.only.end();
  return named && (rule.strict || !options.strict) && (options.bytes || !rule.for_bytes) &&
         (options.floats || !rule.for_floats);
}

std::vector<const RewriteRule*> wanted_rules(const RewriteOptions& options,
                                             const std::vector<RewriteRule>& rules) {
  for (const std::string& name : options.only) {
    const bool known =
        std::any_of(rules.begin(), rules.end(), [&](const RewriteRule& rule) { return rule.name == name; });
    if (known) continue;
    std::string names;
    for (const RewriteRule& rule : rules) names += fmt::format("{}{}", names.empty() ? "" : ", ", rule.name);
    throw Error(ErrorKind::usage, fmt::format("there is no rewrite rule \"{}\"; there are {}", name, names));
  }
  std::vector<const RewriteRule*> wanted;
  for (const RewriteRule& rule : rules)
    if (is_wanted(rule, options)) wanted.push_back(&rule);
  return wanted;
}

// The outputs of a graph of constants: exact, then rounded once.
std::vector<HostTensor> computed(const Graph& constants) {
  std::vector<HostTensor> exact(constants.value_count());
  for (NodeId id : constants.topological_order()) {
    const Node& node = constants.node(id);
    const ValueId value = node.outputs[0];
    if (const HostTensor* constant = constants.constant(value)) {
      exact[value] = constant->dtype() == DType::f32 ? converted(*constant, DType::f64) : *constant;
      continue;
    }
    std::vector<HostTensor> inputs;
    for (ValueId input : node.inputs) inputs.push_back(exact[input]);
    exact[value] = evaluate_node(node, inputs, {constants.value(value).type}, Precision::float64)[0];
  }
  std::vector<HostTensor> results;
  for (ValueId output : constants.outputs())
    results.push_back(converted(exact[output], constants.value(output).type.dtype));
  return results;
}

// Values that follow from constants alone become constants.
class ConstantFolder {
 public:
  // Nodes from `first` on.
  ConstantFolder(Graph& graph, NodeId first) : graph_(graph), first_(first) {}

  // What the constants follow from (Rewritten::folded).
  Graph run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (id < first_ || node.op == Op::Constant || !all_constant(node.inputs)) continue;
      constant_.emplace(node.outputs[0], id);
    }
    std::vector<ValueId> needed, outputs;
    for (const auto& [value, id] : constant_)
      if (is_read(value)) needed.push_back(value);
    std::sort(needed.begin(), needed.end());
    for (ValueId value : needed) outputs.push_back(copied(value));
    std::vector<std::string> names(outputs.size());
    folded_.set_outputs(outputs, names);
    std::vector<HostTensor> tensors = computed(folded_);
    for (size_t i = 0; i < needed.size(); ++i) {
      names[i] = constant_hash(tensors[i]);
      graph_.kill_node(constant_.at(needed[i]));
      graph_.add_alternative(Op::Constant, ConstantAttrs{std::move(tensors[i])}, {}, {needed[i]});
    }
    graph_.remove_dead_nodes();
    folded_.set_outputs(std::move(outputs), std::move(names));
    return std::move(folded_);
  }

 private:
  bool all_constant(const std::vector<ValueId>& values) const {
    return std::all_of(values.begin(), values.end(), [&](ValueId value) {
      return graph_.constant(value) != nullptr || constant_.count(value) != 0;
    });
  }

  // By what is not constant itself.
  bool is_read(ValueId value) const {
    const auto& users = graph_.value(value).users;
    return std::any_of(users.begin(), users.end(),
                       [&](NodeId user) { return constant_.count(graph_.node(user).outputs[0]) == 0; }) ||
           std::count(graph_.outputs().begin(), graph_.outputs().end(), value) != 0;
  }

  // The same Value in `folded_`.
  ValueId copied(ValueId value) {
    if (const auto found = copies_.find(value); found != copies_.end()) return found->second;
    ValueId copy = kNoId;
    if (const auto folded = constant_.find(value); folded == constant_.end()) {
      copy = folded_.add_constant(*graph_.constant(value));
    } else {
      const Node& node = graph_.node(folded->second);
      std::vector<ValueId> inputs;
      for (ValueId input : node.inputs) inputs.push_back(copied(input));
      copy = folded_.node(folded_.add_node(node.op, node.attrs, std::move(inputs))).outputs[0];
    }
    copies_.emplace(value, copy);
    return copy;
  }

  Graph& graph_;
  const NodeId first_;
  std::unordered_map<ValueId, NodeId> constant_;  // Values that follow from constants, with their nodes
  Graph folded_;
  std::unordered_map<ValueId, ValueId> copies_;
};

int64_t live_constant_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (NodeId id = 0; id < graph.node_count(); ++id)
    if (!graph.node(id).dead && graph.node(id).op == Op::Constant)
      bytes += graph.value(graph.node(id).outputs[0]).type.bytes();
  return bytes;
}

// Applies the rules to all nodes until nothing new comes of it.
void saturate(Graph& graph, Rewriter& rewriter, const std::vector<const RewriteRule*>& rules,
              const RewriteOptions& options, Rewritten& result) {
  bool grew = true;
  for (int round = 0; grew && round < options.limits.rounds; ++round) {
    for (NodeId id : graph.topological_order()) {
      if (options.deadline.is_over()) {
        ++result.limited["alternatives_budget"];
        return;
      }
      for (const RewriteRule* rule : rules) {
        // A rule may have taken the node's place since the sweep began.
        if (graph.node(id).dead || rewriter.is_constant(graph.node(id).outputs[0])) break;
        if (std::count(rule->roots.begin(), rule->roots.end(), graph.node(id).op) == 0) continue;
        if (!rewriter.has_room()) return;
        rewriter.begin(rule->name, id, rule->dominates);
        rule->apply(rewriter, id);
      }
    }
    grew = rewriter.grew();
    graph.remove_dead_nodes();  // what nobody reads any more is no reader either
  }
  if (grew) ++result.limited["alternatives_rounds"];
}

}  // namespace

std::map<std::string, HostTensor> folded_constants(const Graph& graph) {
  std::map<std::string, HostTensor> result;
  std::vector<HostTensor> tensors = computed(graph);
  for (size_t i = 0; i < tensors.size(); ++i) result.emplace(graph.output_names()[i], std::move(tensors[i]));
  return result;
}

Rewritten add_alternatives(Graph graph, const RewriteOptions& options,
                           const std::vector<RewriteRule>& rules) {
  const std::vector<const RewriteRule*> wanted = wanted_rules(options, rules);
  Rewritten result;
  for (const RewriteRule* rule : wanted) result.rules.push_back(rule->name);
  const auto first_fresh = static_cast<NodeId>(graph.node_count());
  const int64_t bytes_before = live_constant_bytes(graph);
  Rewriter rewriter(graph, options.limits);
  const auto finish = [&] {
    graph.remove_dead_nodes();
    if (options.fold) result.folded.push_back(ConstantFolder(graph, first_fresh).run());
  };
  // What dominates takes its place first, so that no alternative is made of what nobody wants.
  std::vector<const RewriteRule*> dominating = wanted;
  std::erase_if(dominating, [](const RewriteRule* rule) { return !rule->dominates; });
  saturate(graph, rewriter, dominating, options, result);
  finish();
  result.base = graph;
  if (options.alternatives) {
    rewriter.keep_nodes();
    saturate(graph, rewriter, wanted, options, result);
    // Last, so that no rule moves what is rounded.
    if (options.bfloat16_products) add_bfloat16_products(graph, rewriter, options.float_products);
    if (options.bfloat16_storage) add_bfloat16_storage(result.base, rewriter, options.float_results);
    finish();
  }
  result.applied = rewriter.applied();
  result.limited.merge(std::map(rewriter.limited()));
  result.rule_of = rewriter.rule_of();
  result.constant_bytes = live_constant_bytes(graph) - bytes_before;
  result.graph = std::move(graph);
  return result;
}

}  // namespace korch
