// Plans by regression search: from the required nodes backwards, one arc at a time, as planning does it
// (Bonet and Geffner, Planning as heuristic search, AIJ 2001). A state is the set of nodes that are still
// wanted; an arc replaces what it makes by what it reads, so that no plan can wait for itself. The states are
// taken in the order of the network, a beam of them at each place (Lowerre 1976), best first by what is paid
// and what the best plan known would pay for the rest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/solve/network.h"

namespace korch {

class Regression {
 public:
  explicit Regression(const Network& network);

  struct Result {
    std::vector<int> order;  // arcs that reach the required nodes, as they can run; empty: none found
    double cost_us = 0;
    bool is_complete = false;  // no state was left out: the plan is optimal, or there is none
  };
  // Microseconds per arc, not negative; infinite: cannot run. `plan`: arcs in an order that can run, or
  // empty; the search looks around it. Up to `width` states are expanded at each place.
  // Throws BudgetSpent after the deadline.
  Result search(std::span<const double> cost_us, const std::vector<int>& plan, int width,
                const Deadline& deadline = {}) const;

 private:
  friend class RegressionSearch;

  // Items that can be wanted: nodes, and arcs with several outputs that are paid and wait until all readers
  // of their outputs are settled. Numbered so that an item's inputs come before it, circles aside.
  struct Item {
    int place;      // shared by what reorders join
    int node = -1;  // or
    int arc = -1;
  };
  void list_items();
  std::vector<int> depths() const;
  std::vector<std::vector<int>> needs(const std::vector<int>& depth) const;
  std::vector<std::vector<int>> reorders() const;
  void place_items(const std::vector<int>& circle, const std::vector<int>& joined,
                   const std::vector<int>& depth);

  const Network& network_;
  std::vector<std::vector<int>> readers_;  // of each node: arcs
  std::vector<Item> items_;
  std::vector<int> item_of_node_;
  std::vector<int> item_of_arc_;           // -1: one output
  std::vector<std::vector<int>> inputs_;   // of each arc: items, ascending
  std::vector<std::vector<int>> outputs_;  // of each arc: items, ascending
  static constexpr int kNoCircle = -1;
  std::vector<uint64_t> random_;     // of each item; a state's hash is their exclusive or
  std::vector<int> circle_, sizes_;  // of each place: its circle, and of how many items it is
};

}  // namespace korch
