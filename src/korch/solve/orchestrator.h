// One problem, solved again and again while costs become known.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "korch/solve/landmark_cuts.h"
#include "korch/solve/mip.h"
#include "korch/solve/network.h"
#include "korch/solve/problem.h"
#include "korch/solve/regression.h"

namespace korch {

// The program: which arcs run, at the least cost, so that at least one arc of every cut does. All cuts
// together say what a plan is (docs/design/solve.md, "Program"); those that matter are found as they are
// needed. Keeps what does not depend on costs from one solve to the next: the reduction, the cuts, the basis
// of the relaxation. Invariant: the columns of the problem change in cost_us and measured only, and never
// from infinite to finite.
class Orchestrator {
 public:
  // After the deadline a search for a plan throws BudgetSpent.
  explicit Orchestrator(const Problem& problem, const Deadline& deadline = {});

  // The effort of the relaxation: until a round raises the bound by less than `gain`, relative to it, or,
  // `in_full`, until no cut is found that its solution violates.
  struct Effort {
    double gain;
    bool in_full;
  };
  static constexpr Effort kQuick = {1e-3, false}, kThorough = {1e-4, true};

  // The relaxation at the problem's present costs: columns with a positive value should be measured first.
  struct Relaxed {
    std::vector<int> columns;
    double bound_us = 0;       // on any plan
    bool is_complete = false;  // not cut short by the time
    double seconds = 0;
  };
  Relaxed relax(double time_limit_s, const Effort& effort);
  // The bound that the multipliers of the last relaxation prove at the problem's present costs, each reduced
  // to what its cut's arcs can pay.
  double bound_now() const;
  // By the last relaxation: the columns that a plan may have which costs no more than this.
  std::vector<int> columns_within(double plan_us) const;
  // A plan by regression with that many states at each place, no dearer than `plan` (columns that suffice, or
  // empty). Status optimal where the search was complete; unknown where it found none.
  Solution regress(const std::vector<int>& plan, int width);
  // The limit is for the proof; a plan is looked for in any case, with `width` states at each place (0: by
  // branch and bound alone). `plan` as above.
  Solution solve(double time_limit_s, const std::vector<int>& plan, int width);
  int cuts() const { return mip_.rows.count(); }

 private:
  struct Incumbent {
    double cost_us = 0;
    std::vector<int> order;  // arcs
  };

  struct Search {
    std::optional<Incumbent> best;
    double bound_us = 0;
    bool proven = false, infeasible = false;
    int rounds = 0;
    bool meets_bound() const;
  };

  template <typename LookForPlan>
  Solution look(const std::vector<int>& plan, const LookForPlan& look_for_plan);
  void read_costs();
  // Optimal: nothing cut it short. Feasible: there are values_, and a bound.
  MipStatus solve_relaxation(double time_limit_s, const Effort& effort);
  void search(Search& search, double time_limit_s, int width);
  bool regress(Search& search, int width);
  bool branch(Search& search, double time_limit_s);
  Solution solution_of(const Search& search) const;
  double cost_of(const std::vector<int>& arcs) const;
  // The dual bound that these multipliers prove, whatever the solver says about them; fills reduced_us_ and
  // multipliers_us_.
  double prove_bound(const std::vector<double>& row_duals);
  // Reduces each multiplier to what is left of the costs of its cut's arcs, which pay it. Gives the sum, a
  // bound.
  double take_multipliers(std::vector<double>& left_us) const;
  double take_shares(const std::vector<LandmarkCut>& cuts);
  std::vector<LandmarkCut> violated_cuts(double time_limit_s) const;
  std::vector<LandmarkCut> cuts_beside(double at_least, double time_limit_s) const;
  void add(const std::vector<LandmarkCut>& cuts);
  void forget_idle_cuts();
  void offer(std::optional<Incumbent>& best, const std::vector<int>& arcs) const;
  Mip without_hopeless(double incumbent_us) const;
  std::vector<int> columns_of(const std::vector<int>& arcs) const;
  std::vector<int> arcs_of(const std::vector<int>& columns) const;

  const Problem& problem_;
  Network network_;
  Regression regression_;
  const Deadline deadline_;
  Mip mip_;                             // a variable per arc, a row per cut
  std::vector<int> idle_;               // of each row: relaxations in a row that left it slack
  std::vector<double> multipliers_us_;  // of each row: in the last proof
  std::unique_ptr<Relaxation> relaxation_;
  std::vector<int> cheapest_;       // of each arc: its column at the present costs
  std::vector<double> cost_us_;     // of each arc
  std::vector<double> values_;      // of each arc, in the last relaxation
  double bound_us_ = 0;             // of the last relaxation, proven
  std::vector<double> reduced_us_;  // of each arc: the reduced cost in that proof
};

}  // namespace korch
