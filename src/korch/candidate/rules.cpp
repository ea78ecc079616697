#include "korch/candidate/rules.h"

#include <algorithm>

namespace korch {
namespace {

bool contains(const std::vector<AtomId>& ids, AtomId id) {
  return std::binary_search(ids.begin(), ids.end(), id);
}

int64_t primitives(const AtomGraph& graph, const AtomSet& set) {
  int64_t count = 0;
  for (AtomId id : set) count += static_cast<int64_t>(graph.atom(id).nodes.size());
  return count;
}

// Every primitive of the atom satisfies the predicate.
template <typename P>
bool all_nodes(const AtomGraph& graph, AtomId id, P&& predicate) {
  const auto& nodes = graph.atom(id).nodes;
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](NodeId node) { return predicate(graph.graph().node(node)); });
}

int64_t elements_made(const AtomGraph& graph, AtomId id) {
  return graph.graph().value(graph.atom(id).makes[0]).type.elements();
}

// Atoms of the set that satisfy the predicate or depend, within the set, on one that does.
template <typename P>
AtomSet depending_on(const AtomGraph& graph, const AtomSet& set, P&& predicate) {
  AtomSet part;
  for (bool grew = true; grew;) {
    grew = false;
    for (AtomId id : set) {
      if (contains(part, id)) continue;
      const auto& producers = graph.atom(id).producers;
      const bool depends =
          std::any_of(producers.begin(), producers.end(), [&](AtomId p) { return contains(part, p); });
      if (!predicate(graph.atom(id)) && !depends) continue;
      part.insert(std::lower_bound(part.begin(), part.end(), id), id);
      grew = true;
    }
  }
  return part;
}

// Whether a weighted window of the set is fused with what it reads, which every tap would compute again, or
// is not read by a linear primitive of the set: alone it has faster kernels, as a convolution.
bool misplaces_window(const AtomGraph& graph, const AtomSet& set, bool linear) {
  return std::any_of(set.begin(), set.end(), [&](AtomId id) {
    if (all_nodes(graph, id, [](const Node& node) { return !info(node.op).fusing.weighs_window; }))
      return false;
    const auto& producers = graph.atom(id).producers;
    return !linear ||
           std::any_of(producers.begin(), producers.end(), [&](AtomId p) { return contains(set, p); });
  });
}

LinearPart part_of(const AtomGraph& graph, AtomId id) {
  return info(graph.graph().node(graph.atom(id).nodes[0]).op).fusing.part;
}

// The atom whose result the linear atom's kernel has before its epilogue.
AtomId core_result(const AtomGraph& graph, const AtomSet& set, AtomId linear) {
  if (part_of(graph, linear) != LinearPart::product) return linear;
  for (AtomId id : graph.atom(linear).consumers)
    if (contains(set, id)) return id;
  return linear;
}

// Whether the set has some, but not all, of a linear operation's three parts: kernels hold all of them, or
// one alone.
bool splits_parts(const AtomGraph& graph, const AtomSet& set) {
  const auto any_inside = [&](const std::vector<AtomId>& ids) {
    return std::any_of(ids.begin(), ids.end(), [&](AtomId id) {
      return contains(set, id) && part_of(graph, id) != LinearPart::whole;
    });
  };
  return std::any_of(set.begin(), set.end(), [&](AtomId id) {
    const LinearPart part = part_of(graph, id);
    const bool before = part == LinearPart::product || part == LinearPart::result,
               after = part == LinearPart::product || part == LinearPart::data;
    return (before && !any_inside(graph.atom(id).producers)) ||
           (after && !any_inside(graph.atom(id).consumers));
  });
}

std::optional<Rule> broken_around_linear(const AtomGraph& graph, const AtomSet& set,
                                         const LinearContext& context) {
  if (sinks_of(graph, set).size() > 1) return Rule::linear_sinks;
  const AtomSet after = linear_part(graph, set);
  int64_t elements = 0, operands = 0;
  std::vector<const Node*> linear;
  AtomSet before;
  for (AtomId id : set) {
    if (graph.atom(id).linear) {
      linear.push_back(&graph.graph().node(graph.atom(id).nodes[0]));
      elements = elements_made(graph, core_result(graph, set, id));
      operands += static_cast<int64_t>(linear.back()->inputs.size());
    }
    if (!contains(after, id)) before.push_back(id);
  }
  for (AtomId id : after) {
    if (graph.atom(id).linear || part_of(graph, id) == LinearPart::result) continue;
    const bool follow = all_nodes(
        graph, id, [&](const Node& node) { return context.may_follow(graph.graph(), node, elements); });
    if (!follow) return Rule::linear_epilogue;
  }
  for (AtomId id : before) {
    if (!all_nodes(graph, id, context.may_precede)) return Rule::linear_prologue;
  }
  if (primitives(graph, before) > operands * context.most_before) return Rule::linear_prologue;
  return std::nullopt;
}

}  // namespace

const char* name(Rule rule) {
  static constexpr const char* kNames[] = {
      "size",         "linear",          "opaque",          "loops",          "sinks",           "outputs",
      "linear_sinks", "linear_epilogue", "linear_prologue", "linear_parts",   "weighted_window", "sharing",
      "sink_domains", "readers",         "sets_per_sink",   "max_candidates", "budget"};
  static_assert(std::size(kNames) == static_cast<size_t>(Rule::budget) + 1);
  return kNames[static_cast<size_t>(rule)];
}

std::optional<Rule> broken_rule(const AtomGraph& graph, const AtomSet& set, const LinearContext& context,
                                const EnumerateOptions& options) {
  if (set.size() == 1) return std::nullopt;
  if (primitives(graph, set) > options.max_primitives) return Rule::size;
  int linear = 0;
  for (AtomId id : set) {
    if (graph.atom(id).opaque) return Rule::opaque;
    if (graph.atom(id).loop != graph.atom(set[0]).loop) return Rule::loops;
    linear += graph.atom(id).linear ? 1 : 0;
  }
  if (linear > options.max_linear) return Rule::linear;
  const AtomSet sinks = sinks_of(graph, set);
  if (static_cast<int>(sinks.size()) > options.max_outputs) return Rule::sinks;
  if (options.rule_weighted_window && misplaces_window(graph, set, linear > 0)) return Rule::weighted_window;
  if (options.rule_linear_parts && splits_parts(graph, set)) return Rule::linear_parts;
  if (options.rule_linear_context && linear > 0) return broken_around_linear(graph, set, context);
  if (options.rule_sinks) {
    for (AtomId sink : sinks) {
      if (graph.atom(sink).domain != graph.atom(sinks[0]).domain) return Rule::sink_domains;
    }
  }
  return std::nullopt;
}

bool may_recompute(const AtomGraph& graph, const AtomSet& set, const EnumerateOptions& options) {
  if (!options.recompute || sinks_of(graph, set).size() != 1) return false;  // 0: a circle
  if (std::any_of(set.begin(), set.end(), [&](AtomId id) { return graph.atom(id).reduces; })) return false;
  bool reduces = false;
  for (AtomId id : graph.detour(set)) {
    if (graph.atom(id).linear || graph.atom(id).opaque) return false;
    reduces = reduces || graph.atom(id).reduces;
  }
  return reduces && graph.is_legal(set, graph.atom(sinks_of(graph, set)[0]).makes);
}

bool may_share(const AtomGraph& graph, AtomId first, AtomId second, const EnumerateOptions& options) {
  if (!options.rule_sharing) return true;
  const Atom &a = graph.atom(first), &b = graph.atom(second);
  if (graph.has_alternatives() && graph.are_related(first, second)) return false;
  return !a.linear && !b.linear && !a.opaque && !b.opaque && a.domain == b.domain;
}

AtomSet sinks_of(const AtomGraph& graph, const AtomSet& set) {
  AtomSet sinks;
  for (AtomId id : set) {
    const AtomSet& consumers = graph.atom(id).consumers;
    // The shorter list is gone through: one Value may have thousands of readers.
    const AtomSet& shorter = consumers.size() < set.size() ? consumers : set;
    const AtomSet& longer = consumers.size() < set.size() ? set : consumers;
    if (std::none_of(shorter.begin(), shorter.end(), [&](AtomId other) { return contains(longer, other); }))
      sinks.push_back(id);
  }
  return sinks;
}

AtomSet linear_part(const AtomGraph& graph, const AtomSet& set) {
  return depending_on(graph, set, [](const Atom& atom) { return atom.linear; });
}

AtomSet reduced_part(const AtomGraph& graph, const AtomSet& set) {
  return depending_on(graph, set, [](const Atom& atom) { return atom.reduces; });
}

int64_t traffic_bytes(const AtomGraph& graph, const AtomSet& set) {
  std::vector<ValueId> made, read;
  int64_t bytes = 0;
  for (AtomId id : set) {
    const Atom& atom = graph.atom(id);
    read.insert(read.end(), atom.reads.begin(), atom.reads.end());
    for (ValueId value : atom.makes) {
      made.push_back(value);
      if (graph.needed_outside(value, set)) bytes += graph.graph().value(value).type.bytes();
    }
  }
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  for (ValueId value : read) {
    if (std::find(made.begin(), made.end(), value) == made.end())
      bytes += graph.graph().value(value).type.bytes();
  }
  return bytes;
}

bool has_linear(const AtomGraph& graph, const AtomSet& set) {
  return std::any_of(set.begin(), set.end(), [&](AtomId id) { return graph.atom(id).linear; });
}

}  // namespace korch
