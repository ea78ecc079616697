// The network as a mixed-integer program (docs/design/solve.md, "Formulation").
#pragma once

#include <span>
#include <vector>

#include "korch/solve/mip.h"
#include "korch/solve/network.h"

namespace korch {

// Variables, all in [0, 1]:
//   x(a)    arc a runs. Integer.
//   z(a,n)  arc a is the first maker of its output n; x(a) itself where n is the only tensor that a makes.
//   y(n)    node n is made: the sum of its first makers.
class Formulation {
 public:
  explicit Formulation(const Network& network);

  const Mip& mip() const { return mip_; }
  // Of each arc. Not finite: the arc cannot be chosen.
  void set_costs(std::span<const double> cost_us);
  // Values of all variables for a plan of arcs in order, as order_arcs gives them.
  std::vector<double> point(const std::vector<int>& order) const;
  // Arcs with x above one half.
  std::vector<int> chosen(std::span<const double> values) const;
  // Entry rows that these values of the relaxation violate. Added to mip(), and returned.
  Rows cut_entries(std::span<const double> values, bool split);
  // Entry rows that were not binding in several of these calls in a row are forgotten; returns which rows
  // those are.
  std::vector<bool> forget_entries(std::span<const double> values);
  // Rows that no plan violates and a selection does whose `stuck` arcs wait for each other. Added to mip(),
  // and returned.
  Rows cut_cycles(const ArcOrder& stuck);
  // Reorders of one Value make each other's input: a reorder runs only where something else makes the Value
  // in some layout. For branch and bound; the relaxation finds such rows where they matter.
  const Rows& reorder_rows() const { return reorder_rows_; }

 private:
  using Terms = std::vector<std::pair<int, double>>;

  void add_makers();
  void add_reads();
  void add_covers();
  void find_reorder_rows();
  // The variable that says "this arc makes this node first".
  int first_maker(int arc, int node) const;
  bool reads(int arc, const std::vector<bool>& inside) const;
  std::vector<bool> marked(const std::vector<int>& nodes) const;
  Terms entering(const std::vector<int>& nodes, std::span<const double> values) const;
  std::vector<int> entry_targets(std::span<const double> values, std::span<const double> made);
  void cut_component(const std::vector<int>& arcs, const std::vector<bool>& made, Rows& rows) const;

  const Network& network_;
  Mip mip_;
  Rows reorder_rows_;
  std::vector<std::vector<int>> z_;  // of each arc and each of its outputs: the variable
  int y_ = 0;
  int next_target_ = 0;
  std::vector<int> idle_;  // of each row: calls of forget_entries without effect; kNeverForget
};

}  // namespace korch
