// Choices: which node of an e-graph computes each class that a group's results need.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "korch/block/egraph.h"

namespace korch::block {

// Why something was left out, and how often.
using Pruned = std::map<std::string, int>;

// A node of many operands, taken two by two, those with the fewest elements first.
struct Pairing {
  struct Operand {
    ClassId of = -1;    // of the node; -1: a number, or what a pair gave
    double factor = 1;  // by which it is multiplied first; of -1 without pair, the number
    AxisSet axes = 0;
    bool inverse = false;  // is subtracted, or divides
  };
  struct Pair {
    int a = 0, b = 0;  // operands; what pair i gives is operand `given + i`
    Op op = Op::Add;
  };
  std::vector<Operand> operands;
  int given = 0;
  std::vector<Pair> pairs;
  bool inverse = false;  // the last one is negated, or inverted
};

class Chooser {
 public:
  Chooser(const EGraph& graph, std::vector<Axis> axes);

  double size(AxisSet axes) const;  // elements of a value
  // Of a sum or a product.
  Pairing pairing(const ENode& node) const;
  // The node of least cost, each value counted where it is read; -1 where no kernel computes the class.
  int cheapest(ClassId id) const { return cheapest_[graph_.find(id)]; }

  // The node of each class; -1 for one that is not needed.
  using Choice = std::vector<int>;
  // Calls `take` with choices for the results, until it says no, at most `most`; none that costs more than
  // `slack` times the cheapest. Says in `pruned` what it left out.
  void choices(const std::vector<ClassId>& results, double slack, int most, Pruned& pruned,
               const std::function<bool(const Choice&)>& take) const;
  // Nodes that no kernel may compute.
  const Pruned& unfit() const { return unfit_; }
  // What an operation costs per element: about the instructions of a vector machine.
  static double weight(Op op);

 private:
  void learn_differences();
  std::string why_unfit(const ENode& node, ClassId id) const;
  double own_cost(const ENode& node) const;
  void learn_costs();

  const EGraph& graph_;
  const std::vector<Axis> axes_;
  // x by class of x - r and of r, where r is an extremum of x: they are computed as such.
  std::map<ClassId, ClassId> differences_, extrema_;
  std::vector<bool> fit_;
  std::vector<double> own_cost_;   // of nodes
  std::vector<double> tree_cost_;  // of classes
  std::vector<int> cheapest_;
  Pruned unfit_;
};

}  // namespace korch::block
