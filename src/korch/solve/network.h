// The problem as the solver sees it: without parts that cannot matter, and with interchangeable columns and
// tensors merged.
#pragma once

#include <limits>
#include <vector>

#include "korch/solve/problem.h"

namespace korch {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Relative slack for comparing costs that were summed in different orders. Two plans closer than this are
// equal.
constexpr double kRounding = 1e-9;

// All columns that read the same tensors and make the same tensors: the cheapest of them stands for all.
struct Arc {
  std::vector<int> inputs;   // nodes, ascending
  std::vector<int> outputs;  // nodes, ascending, none of them an input
  std::vector<int> columns;  // ascending
  std::vector<int> covers;   // classes that some of the columns cover without reading them, ascending
};

// Makes one node of another and computes nothing.
bool is_reorder(const Arc& arc);

// Nodes are the tensors that need a maker and can matter; tensors that turn into each other at no cost
// (measured columns of cost 0 with one input) are one node. Invariants: every node is derivable by the arcs
// and helps towards a required node; no arc makes a node that every derivation of its inputs makes.
struct Network {
  int node_count = 0;
  bool feasible = true;       // the required tensors can be derived
  std::vector<int> required;  // nodes
  std::vector<Arc> arcs;
  std::vector<std::vector<int>> makers;  // of each node: arcs
};

// Solutions of the network and of the problem correspond at equal cost for any finite column costs, as long
// as columns of cost 0 that are measured stay so (docs/design/solve.md, "Reduction").
Network reduce(const Problem& problem);

// The chosen arcs in an order that can run, without those that are not needed for the required nodes: each
// arc that stays makes at least one node first. Empty and `reached` false when they do not suffice.
struct ArcOrder {
  bool reached = false;
  std::vector<int> order;
};
ArcOrder order_arcs(const Network& network, const std::vector<int>& chosen);

// The same on the level of the problem: `chosen` and all measured columns of cost 0, ordered, without what is
// not needed; empty when they do not suffice.
std::vector<int> order_columns(const Problem& problem, const std::vector<int>& chosen);

}  // namespace korch
