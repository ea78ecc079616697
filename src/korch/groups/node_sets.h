// Sets of primitives that could be workloads: which rules they break, and what may stand around them.
#pragma once

#include <optional>

#include "korch/groups/links.h"
#include "korch/groups/workloads.h"

namespace korch::groups {

using NodeSet = std::vector<NodeId>;  // each once

// Layout primitives included, of which a group may have any number: for the length of the search alone.
constexpr int kMostNodes = 48;

class NodeSets {
 public:
  NodeSets(const LinkedGraph& linked, const WorkloadOptions& options)
      : graph_(linked.graph()), linked_(linked), options_(options) {}

  static bool contains(const NodeSet& set, NodeId id);
  NodeSet closure(const NodeSet& set) const { return linked_.closure(set, kMostNodes); }
  bool is_read_outside(ValueId value, const NodeSet& set) const;
  // What no primitive of the set reads.
  std::vector<NodeId> sinks(const NodeSet& set) const;
  // Of a set with one sink.
  ValueId result(const NodeSet& set) const { return graph_.node(sinks(set)[0]).outputs[0]; }

  // Broken by all larger sets as well.
  std::optional<Dropped> too_much(const NodeSet& set) const;
  std::optional<Dropped> broken(const NodeSet& set) const;

  // With `reductions` that lead to it, as the set has half of a softmax, and what is between; as long as
  // nothing of that is needed elsewhere.
  NodeSet with_reductions(NodeSet set, const std::map<NodeId, std::vector<NodeId>>& reductions_to) const;
  // With elementwise primitives that the set alone reads: several of its own, or what they are made of is
  // read by the set, too.
  NodeSet with_shared_operands(NodeSet set) const;
  // With what makes operands that nothing else reads: transposed keys, scaled queries.
  NodeSet with_prologue(NodeSet set) const;
  // With what is made of each element of the result.
  NodeSet with_epilogue(NodeSet set) const;

 private:
  int size(const NodeSet& set) const;  // layout primitives become coordinates of leaves
  bool has_room(const NodeSet& set) const;
  bool is_needed_outside(const NodeSet& set, NodeId sink) const;
  NodeSet with_reduction(const NodeSet& set, NodeId reduction) const;
  bool reads(const NodeSet& set, ValueId value) const;            // or makes it
  std::vector<ValueId> varying_operands(const Node& node) const;  // each once; not constant
  // Whether the primitive makes an element of one element of one Value, and of constants.
  bool is_of_one_value(NodeId id) const;
  // Whether the kernel of a product computes the primitive anyway, as a part of its epilogue.
  bool is_an_epilogue(NodeId id) const;

  const Graph& graph_;
  const LinkedGraph& linked_;
  const WorkloadOptions& options_;
};

}  // namespace korch::groups
