// One problem, solved again and again while costs become known.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "korch/solve/formulation.h"
#include "korch/solve/network.h"
#include "korch/solve/problem.h"

namespace korch {

// Keeps what does not depend on costs from one solve to the next: the reduction, the rows with their cycle
// cuts, the basis of the relaxation. Invariant: the columns of the problem change in cost_us and measured
// only, and never from infinite to finite.
class Orchestrator {
 public:
  explicit Orchestrator(const Problem& problem);

  // How long entry rows are added to the relaxation: until `patience` rounds in a row raise the bound by less
  // than `gain`, relative to it; `split`: also rows for nodes that are split between makers.
  struct Effort {
    double gain;
    int patience;
    bool split;
  };
  static constexpr Effort kQuick = {3e-3, 1, false}, kThorough = {1e-4, 3, true};

  // The relaxation at the problem's present costs: the columns with a positive value are where measuring pays
  // first.
  struct Relaxed {
    std::vector<int> columns;
    double bound_us = 0;  // on any plan
    double seconds = 0;
  };
  Relaxed relax(double time_limit_s, const Effort& effort);
  // `plan`: columns that may serve as a start, or empty.
  Solution solve(double time_limit_s, const std::vector<int>& plan);
  // The best found that differs from `plan` (columns that suffice) within a stretch of the network only; the
  // stretches overlap and together are all of it.
  Solution improve(const std::vector<int>& plan, int stretch, double time_limit_s);
  int stretches() const;

 private:
  struct Incumbent {
    double cost_us = 0;
    std::vector<int> order;  // arcs
  };

  struct Search {
    std::optional<Incumbent> best;
    double bound_us = 0;
    bool proven = false, infeasible = false;
    bool cut_short = false;  // the last branch and bound, by its time limit
    int rounds = 0, cuts = 0;
    bool meets_bound() const;
  };

  void read_costs();
  RelaxationResult solve_relaxation(double time_limit_s, const Effort& effort);
  void search(Search& search, double time_limit_s);
  bool branch(Search& search, Mip mip, bool all, double time_limit_s);
  template <typename MakeMip>
  void free_stretch(Search& search, size_t from, size_t count, const MakeMip& mip, double time_limit_s);
  void polish(Search& search, double time_limit_s);
  Solution solution_of(const Search& search) const;
  std::vector<int> arcs_by_layer() const;
  std::vector<int> input_counts() const;  // of each arc
  double cost_of(const std::vector<int>& arcs) const;
  // The dual bound that these multipliers prove, whatever the solver says about them; fills reduced_.
  double prove_bound(const std::vector<double>& row_duals);
  void offer(std::optional<Incumbent>& best, const std::vector<int>& arcs) const;
  std::vector<int> round(const std::vector<double>& values) const;
  Mip without_hopeless(double incumbent_us) const;
  Mip liked(const std::vector<double>& values, const std::optional<Incumbent>& best) const;
  Mip only(const std::vector<bool>& arcs, Mip mip) const;
  std::vector<int> columns_of(const std::vector<int>& arcs) const;
  std::vector<int> arcs_of(const std::vector<int>& columns) const;

  const Problem& problem_;
  Network network_;
  Formulation formulation_;
  std::vector<std::vector<int>> readers_;  // of each node: arcs
  std::vector<int> arcs_by_layer_;
  std::unique_ptr<Relaxation> relaxation_;
  std::vector<int> cheapest_;    // of each arc: its column at the present costs
  std::vector<double> cost_us_;  // of each arc
  double bound_us_ = 0;          // of the last relaxation, proven
  std::vector<double> reduced_;  // of each variable: the reduced cost in that proof
  std::vector<double> average_;  // of each variable: moving average over the relaxation's solutions
};

}  // namespace korch
