// Loops: two primitives; the primitives of an iteration stand between them in the same graph.
//
//   step, goes_on, states..., stacked...  = LoopBegin(count, condition, states..., stacked...)
//   steps, goes_on, states..., stacked... = LoopEnd(step, count, condition, states..., stacked..., rows...)
//
// step, steps and count are i64[], conditions bool[]. LoopBegin passes its operands on, with step 0 in place
// of the count; it goes_on if the count is above 0 and the condition holds. LoopEnd counts the iteration,
// puts the rows at [step] of the stacked tensors, and goes_on if the condition holds and steps < count. If it
// goes on, its results take the place of LoopBegin's, and all that follows from those is computed again; else
// they are the loop's results. If LoopBegin does not go on, its results are the loop's.
//
// Nodes that follow from LoopBegin are within the loop, and only LoopEnd leads out. Other nodes of a body are
// computed once, before the loop.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

constexpr int64_t kMostSteps = int64_t{1} << 20;  // of a loop: then it counts as one without end

struct Loop {
  NodeId begin = kNoId, end = kNoId;
  int parent = -1;  // the loop around it
};

// Something to be done in order: a node, or several of one loop.
struct LoopItem {
  int loop = -1;               // it is within
  int begins = -1, ends = -1;  // the loop it is an end of, directly within that
};

class Loops {
 public:
  explicit Loops(const Graph& graph);

  bool empty() const { return loops_.empty(); }
  const std::vector<Loop>& loops() const { return loops_; }  // outer ones before those in them
  // The innermost loop that a Value, or a node's result, is within; -1: none. The two ends of a loop are
  // within the loop around it.
  int of_value(ValueId value) const { return of_value_.empty() ? -1 : of_value_[value]; }
  int of_node(NodeId node) const { return of_node_.empty() ? -1 : of_node_[node]; }
  LoopItem item(NodeId node) const;
  // Whether a loop is another or within it; -1 is around all.
  bool is_within(int inner, int outer) const;
  // What is wrong with the loops of a graph; empty when nothing is.
  const std::string& fault() const { return fault_; }

 private:
  void enter(const Graph& graph, NodeId id);
  int innermost(const Graph& graph, NodeId id);

  std::vector<Loop> loops_;
  std::vector<int> of_value_, of_node_;
  std::string fault_;
};

// An order in which exactly each loop's items stand between its ends. `items` come in an order in which each
// has what it needs before it.
std::vector<size_t> order_by_loops(const std::vector<LoopItem>& items, const Loops& loops);

}  // namespace korch
