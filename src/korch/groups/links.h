// The primitives of a graph as workloads see them, each Value made by its first producer: products and
// reductions, and what leads from one to the other.
#pragma once

#include <unordered_map>
#include <vector>

#include "korch/ir/loops.h"

namespace korch::groups {

enum class Part {
  linear,     // a product of float32
  reduction,  // a sum or another reduction of float32
  free,       // elementwise primitives, and layout primitives that keep axes
  mixing,     // layout primitives that read elsewhere: of what a group reads, never of what it sums up
  obstacle    // all others
};

// Two products or reductions, one of them a product, between which families store a Value. Free primitives
// alone lead from one to the other, or from both to an elementwise primitive where they meet.
struct Link {
  NodeId from = kNoId, to = kNoId;
  NodeId meet = kNoId;
  ValueId stored = kNoId;
};

class LinkedGraph {
 public:
  explicit LinkedGraph(const Graph& graph);

  const Graph& graph() const { return graph_; }
  Part part(NodeId id) const { return parts_[id]; }
  bool is_core(NodeId id) const { return parts_[id] == Part::linear || parts_[id] == Part::reduction; }
  int loop(NodeId id) const { return loops_.of_node(id); }
  // kNoId: an input or constant.
  NodeId maker(ValueId value) const { return makers_[value]; }
  const std::vector<NodeId>& readers(ValueId value) const { return readers_[value]; }
  // Constants are not among them; producers before readers.
  const std::vector<NodeId>& nodes() const { return nodes_; }
  bool is_output(ValueId value) const { return outputs_[value]; }

  // Producers before readers.
  std::vector<NodeId> in_order(std::vector<NodeId> nodes) const;
  // With all primitives on paths between them, in topological order; empty if these are more than `most`.
  std::vector<NodeId> closure(const std::vector<NodeId>& nodes, int most) const;
  // From products and reductions to this one, which is one of them, or to where two meet. At most `most` free
  // primitives are between them; shorter ones first. Between reductions too: nothing is stored then.
  std::vector<Link> links_to(NodeId id, int most) const;

 private:
  // The products and reductions that free primitives lead from to this operand; itself, if the operand is
  // one.
  std::vector<NodeId> sources(ValueId operand, int most) const;
  std::vector<Link> meetings_at(NodeId id, int most) const;
  bool leads_to(NodeId from, NodeId to) const;
  // Marks what follows from the nodes, or leads to them, up to the last one or down to the first.
  std::vector<NodeId> reached(const std::vector<NodeId>& nodes, bool forward, size_t limit,
                              size_t most) const;

  const Graph& graph_;
  const Loops loops_;
  std::vector<NodeId> nodes_;
  std::vector<size_t> places_;  // in `nodes_`
  std::vector<Part> parts_;
  std::vector<NodeId> makers_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> outputs_;
};

}  // namespace korch::groups
