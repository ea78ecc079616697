// What a group takes at the device's speeds, and what it saves.
#pragma once

#include <set>

#include "korch/groups/node_sets.h"

namespace korch::groups {

class Savings {
 public:
  Savings(const LinkedGraph& linked, const NodeSets& sets, const Device& device)
      : graph_(linked.graph()), linked_(linked), sets_(sets), device_(device) {}

  // At least, if nothing between the inputs and the result of the set is stored.
  double fused_us(const NodeSet& set) const;
  // Of Values that families store for these links, those within the set: written and read no more. So are
  // Values that elementwise primitives make for several of the set. What several kernels of families read,
  // the set reads once.
  double saved_us(const NodeSet& set, const std::vector<Link>& links) const;

 private:
  std::set<ValueId> stored_in(const NodeSet& set, const std::vector<Link>& links) const;
  // Kernels of families that read what the set reads, not by way of what is stored: one per product, and one
  // of reductions.
  int kernels_that_read(ValueId input, const NodeSet& set, const std::set<ValueId>& stored) const;
  double move_us(
      ValueId value) const;  // to write it, or to read it: where the nearest memory is that holds it

  const Graph& graph_;
  const LinkedGraph& linked_;
  const NodeSets& sets_;
  const Device& device_;
};

}  // namespace korch::groups
