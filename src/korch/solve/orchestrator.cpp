#include "korch/solve/orchestrator.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "korch/base/interrupt.h"
#include "korch/base/stopwatch.h"

namespace korch {
namespace {

constexpr double kPositive = 1e-6;  // the solver's own feasibility tolerance: below it a value is zero

}  // namespace

Orchestrator::Orchestrator(const Problem& problem, const Deadline& deadline)
    : problem_(problem), network_(reduce(problem)), regression_(network_), deadline_(deadline) {
  const size_t arcs = network_.arcs.size();
  mip_.cost.assign(arcs, 0);
  mip_.lower.assign(arcs, 0);
  mip_.upper.assign(arcs, 1);
  mip_.integer.assign(arcs, true);
}

void Orchestrator::read_costs() {
  cheapest_.resize(network_.arcs.size());
  cost_us_.assign(network_.arcs.size(), kInfinity);
  for (size_t a = 0; a < network_.arcs.size(); ++a) {
    cheapest_[a] = network_.arcs[a].columns[0];
    for (const int column : network_.arcs[a].columns) {
      const Column& c = problem_.columns[column];
      const Column& best = problem_.columns[cheapest_[a]];
      const bool tie = c.cost_us == best.cost_us && c.measured && !best.measured;
      if (c.cost_us < best.cost_us || tie) cheapest_[a] = column;
    }
    cost_us_[a] = problem_.columns[cheapest_[a]].cost_us;
    const bool possible = std::isfinite(cost_us_[a]);
    mip_.cost[a] = possible ? cost_us_[a] : 0;
    mip_.upper[a] = possible ? 1 : 0;
  }
  if (relaxation_ == nullptr) {
    relaxation_ = std::make_unique<Relaxation>(mip_);
  } else {
    relaxation_->set_costs(mip_.cost);
    relaxation_->set_bounds(mip_.lower, mip_.upper);
  }
}

double Orchestrator::bound_now() const {
  std::vector<double> left_us(network_.arcs.size(), kInfinity);
  for (size_t a = 0; a < left_us.size(); ++a)
    for (const int column : network_.arcs[a].columns)
      left_us[a] = std::min(left_us[a], problem_.columns[column].cost_us);
  return take_multipliers(left_us);
}

double Orchestrator::take_multipliers(std::vector<double>& left_us) const {
  double sum = 0;
  for (int row = 0; row < mip_.rows.count(); ++row) {
    double share_us = multipliers_us_[row];
    for (int at = mip_.rows.start[row]; at < mip_.rows.end(row); ++at)
      share_us = std::min(share_us, left_us[mip_.rows.index[at]]);
    if (share_us == 0) continue;
    sum += share_us;
    for (int at = mip_.rows.start[row]; at < mip_.rows.end(row); ++at)
      left_us[mip_.rows.index[at]] -= share_us;
  }
  return sum;
}

double Orchestrator::cost_of(const std::vector<int>& arcs) const {
  double sum = 0;
  for (const int arc : arcs) sum += cost_us_[arc];
  return sum;
}

std::vector<int> Orchestrator::columns_of(const std::vector<int>& arcs) const {
  std::vector<int> columns;
  for (const int arc : arcs) columns.push_back(cheapest_[arc]);
  return columns;
}

double Orchestrator::prove_bound(const std::vector<double>& row_duals) {
  reduced_us_ = mip_.cost;
  multipliers_us_.clear();
  double bound = 0;
  for (int row = 0; row < mip_.rows.count(); ++row) {
    const double dual = std::max(0.0, row_duals[row]);
    multipliers_us_.push_back(dual);
    if (dual == 0) continue;
    bound += dual;
    for (int at = mip_.rows.start[row]; at < mip_.rows.end(row); ++at)
      reduced_us_[mip_.rows.index[at]] -= dual;
  }
  for (size_t a = 0; a < reduced_us_.size(); ++a) bound += std::min(0.0, reduced_us_[a] * mip_.upper[a]);
  return bound;
}

// What the cuts' shares add to the bound; they are paid from the reduced costs.
double Orchestrator::take_shares(const std::vector<LandmarkCut>& cuts) {
  double sum = 0;
  for (const LandmarkCut& cut : cuts) {
    sum += cut.share_us;
    for (const int arc : cut.arcs) reduced_us_[arc] -= cut.share_us;
  }
  bound_us_ += sum;
  return sum;
}

void Orchestrator::add(const std::vector<LandmarkCut>& cuts) {
  Rows rows;
  std::vector<std::pair<int, double>> terms;
  for (const LandmarkCut& cut : cuts) {
    terms.clear();
    for (const int arc : cut.arcs) terms.push_back({arc, 1.0});
    rows.add(1, kInfinity, terms);
    multipliers_us_.push_back(cut.share_us);
  }
  mip_.rows.append(rows);
  idle_.resize(mip_.rows.count(), 0);
  relaxation_->add_rows(rows);
}

void Orchestrator::forget_idle_cuts() {
  constexpr int kPatience = 10;
  std::vector<bool> forgotten(mip_.rows.count());
  std::vector<int> kept;
  std::vector<double> kept_us;
  for (int row = 0; row < mip_.rows.count(); ++row) {
    idle_[row] = mip_.rows.activity(row, values_) > mip_.rows.lower[row] + kPositive ? idle_[row] + 1 : 0;
    forgotten[row] = idle_[row] >= kPatience;
    if (forgotten[row]) continue;
    kept.push_back(idle_[row]);
    kept_us.push_back(multipliers_us_[row]);
  }
  mip_.rows.erase(forgotten);
  idle_ = std::move(kept);
  multipliers_us_ = std::move(kept_us);
  relaxation_->erase_rows(forgotten);
}

// Cuts, no two with an arc in common, of arcs whose value is below.
std::vector<LandmarkCut> Orchestrator::cuts_beside(double at_least, double time_limit_s) const {
  std::vector<double> cost(cost_us_.size());
  for (size_t a = 0; a < cost.size(); ++a)
    cost[a] = std::isinf(cost_us_[a]) ? kInfinity : values_[a] >= at_least ? 0 : 1;
  return landmark_cuts(network_, cost, time_limit_s, CutSides::both);
}

// Cuts that the values violate: beside what is mostly chosen, down to what is hardly.
std::vector<LandmarkCut> Orchestrator::violated_cuts(double time_limit_s) const {
  constexpr double kViolation = 1e-4;
  std::vector<LandmarkCut> violated;
  for (const double at_least : {0.75, 0.5, 0.3, 0.15, 0.05})
    for (LandmarkCut& cut : cuts_beside(at_least, time_limit_s)) {
      double sum = 0;
      for (const int arc : cut.arcs) sum += values_[arc];
      if (sum < 1 - kViolation) violated.push_back(std::move(cut));
    }
  return violated;
}

void Orchestrator::offer(std::optional<Incumbent>& best, const std::vector<int>& arcs) const {
  ArcOrder ordered = order_arcs(network_, arcs);
  if (!ordered.reached) return;
  const double cost = cost_of(ordered.order);
  if (std::isfinite(cost) && (!best || cost < best->cost_us))
    best = Incumbent{cost, std::move(ordered.order)};
}

std::vector<int> Orchestrator::columns_within(double plan_us) const {
  std::vector<int> columns;
  for (size_t a = 0; a < reduced_us_.size(); ++a)
    for (const int column : network_.arcs[a].columns)
      if (bound_us_ + reduced_us_[a] + problem_.columns[column].cost_us - cost_us_[a] <= plan_us)
        columns.push_back(column);
  return columns;
}

// What no plan as cheap as the incumbent can use is fixed at zero.
Mip Orchestrator::without_hopeless(double incumbent_us) const {
  Mip mip = mip_;
  const double limit = incumbent_us + kRounding * std::abs(incumbent_us);
  for (size_t a = 0; a < reduced_us_.size(); ++a)
    if (bound_us_ + reduced_us_[a] > limit) mip.upper[a] = 0;
  return mip;
}

// The relaxation, with cuts until they bring no more: first those that what is left of the costs still pays
// for, then those that its solution violates. Fills bound_us_, reduced_us_ and values_.
MipStatus Orchestrator::solve_relaxation(double time_limit_s, const Effort& effort) {
  const Stopwatch watch;
  const auto left_s = [&] { return time_limit_s - watch.seconds(); };
  reduced_us_ = cost_us_;
  bound_us_ = take_multipliers(reduced_us_);
  if (mip_.rows.count() == 0) {
    const std::vector<LandmarkCut> cuts = landmark_cuts(network_, cost_us_, left_s(), CutSides::zone);
    add(cuts);
    take_shares(cuts);
  }
  MipStatus status = MipStatus::unknown;
  for (;;) {
    throw_if_interrupted();
    const RelaxationResult result = relaxation_->solve(left_s());
    if (result.status == MipStatus::infeasible) return result.status;
    if (result.status != MipStatus::optimal) return status;
    status = MipStatus::feasible;
    values_ = result.values;
    bound_us_ = prove_bound(result.row_duals);
    forget_idle_cuts();
    std::vector<double> left_us = reduced_us_;
    for (size_t a = 0; a < left_us.size(); ++a)
      left_us[a] = std::isinf(cost_us_[a]) ? kInfinity : std::max(0.0, left_us[a]);
    std::vector<LandmarkCut> cuts = landmark_cuts(network_, left_us, left_s(), CutSides::both);
    if (take_shares(cuts) <= effort.gain * bound_us_) {
      std::vector<LandmarkCut> violated;
      if (effort.in_full) violated = violated_cuts(left_s());
      if (violated.empty() && left_s() > 0) return MipStatus::optimal;
      std::move(violated.begin(), violated.end(), std::back_inserter(cuts));
    }
    if (left_s() <= 0) return status;
    add(cuts);
  }
}

Orchestrator::Relaxed Orchestrator::relax(double time_limit_s, const Effort& effort) {
  const Stopwatch watch;
  Relaxed relaxed;
  if (network_.feasible && !network_.required.empty()) {
    read_costs();
    const MipStatus status = solve_relaxation(time_limit_s, effort);
    relaxed.bound_us = std::max(0.0, bound_us_);
    relaxed.is_complete = status == MipStatus::optimal;
    if (relaxed.is_complete)
      for (size_t a = 0; a < network_.arcs.size(); ++a)
        if (values_[a] > kPositive) relaxed.columns.push_back(cheapest_[a]);
  }
  relaxed.seconds = watch.seconds();
  return relaxed;
}

// Regression for a plan; the relaxation, and branch and bound among the arcs that could be part of a better
// plan, for the proof.
void Orchestrator::search(Search& search, double time_limit_s, int width) {
  const Stopwatch watch;
  ++search.rounds;
  while (width > 0 && regress(search, width) && !search.proven) {
  }
  for (bool again = !search.proven && !search.infeasible; again && watch.seconds() < time_limit_s;) {
    throw_if_interrupted();
    ++search.rounds;
    const MipStatus status = solve_relaxation(time_limit_s - watch.seconds(), kThorough);
    if (status == MipStatus::infeasible) search.infeasible = true;
    search.bound_us = std::max(search.bound_us, bound_us_);
    if (status != MipStatus::optimal) return;
    again = !search.meets_bound() && !branch(search, time_limit_s - watch.seconds());
  }
}

// True when it found a better plan.
bool Orchestrator::regress(Search& search, int width) {
  throw_if_interrupted();
  const Regression::Result found =
      regression_.search(cost_us_, search.best ? search.best->order : std::vector<int>(), width, deadline_);
  search.infeasible = found.order.empty() && found.is_complete;
  if (found.order.empty()) return false;
  search.proven = found.is_complete;
  const bool better = !search.best || found.cost_us < (1 - kRounding) * search.best->cost_us;
  if (better) search.best = Incumbent{found.cost_us, found.order};
  return better;
}

// False when what is chosen is no plan: the cuts that say so are added.
bool Orchestrator::branch(Search& search, double time_limit_s) {
  std::vector<double> start;
  if (search.best) {
    start.assign(network_.arcs.size(), 0);
    for (const int arc : search.best->order) start[arc] = 1;
  }
  const Mip mip = search.best ? without_hopeless(search.best->cost_us) : mip_;
  const MipResult result = solve_mip(mip, time_limit_s, start);
  if (result.status == MipStatus::infeasible) (search.best ? search.proven : search.infeasible) = true;
  if (result.values.empty()) return true;
  // What was left out costs more than the best plan.
  const double bound = search.best ? std::min(result.bound, search.best->cost_us) : result.bound;
  search.bound_us = std::max(search.bound_us, bound);
  std::vector<int> arcs;
  for (size_t a = 0; a < network_.arcs.size(); ++a)
    if (result.values[a] > 0.5) arcs.push_back(static_cast<int>(a));
  const bool is_plan = order_arcs(network_, arcs).reached;
  offer(search.best, arcs);
  values_ = result.values;
  if (!is_plan) add(cuts_beside(0.5, kInfinity));
  search.proven = is_plan && result.status == MipStatus::optimal;
  return is_plan;
}

bool Orchestrator::Search::meets_bound() const {
  return best && best->cost_us <= bound_us + kRounding * std::abs(bound_us);
}

template <typename LookForPlan>
Solution Orchestrator::look(const std::vector<int>& plan, const LookForPlan& look_for_plan) {
  const Stopwatch watch;
  Search search;
  search.infeasible = !network_.feasible;
  if (!search.infeasible && network_.required.empty()) {
    search.best = Incumbent{};
    search.proven = true;
  }
  if (!search.infeasible && !search.best) {
    read_costs();
    offer(search.best, arcs_of(plan));
    look_for_plan(search);
  }
  Solution solution = solution_of(search);
  solution.seconds = watch.seconds();
  return solution;
}

Solution Orchestrator::solve(double time_limit_s, const std::vector<int>& plan, int width) {
  return look(plan, [&](Search& search) { this->search(search, time_limit_s, width); });
}

Solution Orchestrator::regress(const std::vector<int>& plan, int width) {
  return look(plan, [&](Search& search) {
    search.rounds = 1;
    regress(search, width);
  });
}

Solution Orchestrator::solution_of(const Search& search) const {
  Solution solution;
  solution.rounds = search.rounds;
  solution.cuts = cuts();
  solution.bound_us = search.bound_us;
  if (search.infeasible) {
    solution.status = SolveStatus::infeasible;
  } else if (search.best) {
    solution.status = search.proven || search.meets_bound() ? SolveStatus::optimal : SolveStatus::feasible;
    solution.chosen = order_columns(problem_, columns_of(search.best->order));
    for (const int column : solution.chosen) solution.objective_us += problem_.columns[column].cost_us;
    solution.bound_us = std::min(solution.bound_us, solution.objective_us);
    if (solution.status == SolveStatus::optimal) solution.bound_us = solution.objective_us;
  }
  return solution;
}

std::vector<int> Orchestrator::arcs_of(const std::vector<int>& columns) const {
  std::vector<int> arc_of(problem_.columns.size(), -1);
  for (size_t a = 0; a < network_.arcs.size(); ++a)
    for (const int column : network_.arcs[a].columns) arc_of[column] = static_cast<int>(a);
  std::vector<int> arcs;
  for (const int column : columns)
    if (arc_of[column] >= 0) arcs.push_back(arc_of[column]);
  return arcs;
}

}  // namespace korch
