// One problem, solved again and again while costs become known.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "korch/solve/formulation.h"
#include "korch/solve/network.h"
#include "korch/solve/problem.h"
#include "korch/solve/regression.h"

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
  // A plan by regression with that many states at each place, no dearer than `plan` (columns that suffice, or
  // empty). Status optimal where the search was complete; unknown where it found none.
  Solution regress(const std::vector<int>& plan, int width);
  // The limit is for the proof; a plan is looked for in any case, with `width` states at each place (0: by
  // branch and bound alone). `plan` as above.
  Solution solve(double time_limit_s, const std::vector<int>& plan, int width);

 private:
  struct Incumbent {
    double cost_us = 0;
    std::vector<int> order;  // arcs
  };

  struct Search {
    std::optional<Incumbent> best;
    double bound_us = 0;
    bool proven = false, infeasible = false;
    int rounds = 0, cuts = 0;
    bool meets_bound() const;
  };

  template <typename LookForPlan>
  Solution look(const std::vector<int>& plan, const LookForPlan& look_for_plan);
  void read_costs();
  RelaxationResult solve_relaxation(double time_limit_s, const Effort& effort);
  void search(Search& search, double time_limit_s, int width);
  bool regress(Search& search, int width);
  bool branch(Search& search, double time_limit_s);
  Solution solution_of(const Search& search) const;
  double cost_of(const std::vector<int>& arcs) const;
  // The dual bound that these multipliers prove, whatever the solver says about them; fills reduced_.
  double prove_bound(const std::vector<double>& row_duals);
  void offer(std::optional<Incumbent>& best, const std::vector<int>& arcs) const;
  Mip without_hopeless(double incumbent_us) const;
  std::vector<int> columns_of(const std::vector<int>& arcs) const;
  std::vector<int> arcs_of(const std::vector<int>& columns) const;

  const Problem& problem_;
  Network network_;
  Formulation formulation_;
  Regression regression_;
  std::unique_ptr<Relaxation> relaxation_;
  std::vector<int> cheapest_;    // of each arc: its column at the present costs
  std::vector<double> cost_us_;  // of each arc
  double bound_us_ = 0;          // of the last relaxation, proven
  std::vector<double> reduced_;  // of each variable: the reduced cost in that proof
  std::vector<double> average_;  // of each variable: moving average over the relaxation's solutions
};

}  // namespace korch
