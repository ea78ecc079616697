#include "korch/solve/orchestrator.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "korch/base/interrupt.h"

namespace korch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPositive = 1e-6;  // the solver's own feasibility tolerance: below it a value is zero
// Relative slack for comparing costs that were summed in different orders. Two plans closer than this are
// equal.
constexpr double kRounding = 1e-9;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Orchestrator::Orchestrator(const Problem& problem)
    : problem_(problem), network_(reduce(problem)), formulation_(network_), regression_(network_) {}

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
  }
  formulation_.set_costs(cost_us_);
  const Mip& mip = formulation_.mip();
  if (relaxation_ == nullptr) {
    relaxation_ = std::make_unique<Relaxation>(mip);
  } else {
    relaxation_->set_costs(mip.cost);
    relaxation_->set_bounds(mip.lower, mip.upper);
  }
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
  const Mip& mip = formulation_.mip();
  reduced_ = mip.cost;
  double bound = 0;
  for (int row = 0; row < mip.rows.count(); ++row) {
    double dual = row_duals[row];
    if (dual > 0 && mip.rows.lower[row] == -kInfinity) dual = 0;
    if (dual < 0 && mip.rows.upper[row] == kInfinity) dual = 0;
    if (dual == 0) continue;
    bound += dual * (dual > 0 ? mip.rows.lower[row] : mip.rows.upper[row]);
    for (int at = mip.rows.start[row]; at < mip.rows.end(row); ++at)
      reduced_[mip.rows.index[at]] -= dual * mip.rows.value[at];
  }
  for (int v = 0; v < mip.variable_count(); ++v)
    bound += reduced_[v] > 0 ? reduced_[v] * mip.lower[v] : reduced_[v] * mip.upper[v];
  return bound;
}

void Orchestrator::offer(std::optional<Incumbent>& best, const std::vector<int>& arcs) const {
  ArcOrder ordered = order_arcs(network_, arcs);
  if (!ordered.reached) return;
  const double cost = cost_of(ordered.order);
  if (std::isfinite(cost) && (!best || cost < best->cost_us))
    best = Incumbent{cost, std::move(ordered.order)};
}

// What no plan as cheap as the incumbent can use is fixed at zero.
Mip Orchestrator::without_hopeless(double incumbent_us) const {
  Mip mip = formulation_.mip();
  const double limit = incumbent_us + kRounding * std::abs(incumbent_us);
  for (int v = 0; v < mip.variable_count(); ++v)
    if (mip.lower[v] == 0 && bound_us_ + reduced_[v] > limit) mip.upper[v] = 0;
  return mip;
}

// The relaxation, with entry rows until they bring no more. Rows that cut off the moving average of its
// solutions reach deeper than rows that cut off the last corner it jumped to.
RelaxationResult Orchestrator::solve_relaxation(double time_limit_s, const Effort& effort) {
  constexpr double kNewest = 0.3;  // weight of the newest solution in the average
  const Stopwatch watch;
  RelaxationResult result = relaxation_->solve(time_limit_s);
  if (result.status != MipStatus::optimal) return result;
  bound_us_ = prove_bound(result.row_duals);
  for (int idle = 0; idle < effort.patience;) {
    throw_if_interrupted();
    // Before rows are made: the formulation and the relaxation must have the same ones.
    const double left_s = time_limit_s - watch.seconds();
    if (left_s <= 0) break;
    if (average_.empty()) average_ = result.values;
    for (size_t v = 0; v < average_.size(); ++v) average_[v] += kNewest * (result.values[v] - average_[v]);
    relaxation_->erase_rows(formulation_.forget_entries(result.values));
    Rows cuts = formulation_.cut_entries(average_, effort.split);
    if (cuts.count() == 0) cuts = formulation_.cut_entries(result.values, effort.split);
    if (cuts.count() == 0) break;
    relaxation_->add_rows(cuts);
    RelaxationResult next = relaxation_->solve(left_s);
    if (next.status != MipStatus::optimal) break;
    result = std::move(next);
    const double before = std::exchange(bound_us_, prove_bound(result.row_duals));
    idle = bound_us_ - before > effort.gain * std::abs(bound_us_) ? 0 : idle + 1;
  }
  return result;
}

Orchestrator::Relaxed Orchestrator::relax(double time_limit_s, const Effort& effort) {
  const Stopwatch watch;
  Relaxed relaxed;
  if (network_.feasible && !network_.required.empty()) {
    read_costs();
    const RelaxationResult result = solve_relaxation(time_limit_s, effort);
    if (result.status == MipStatus::optimal) {
      relaxed.bound_us = std::max(0.0, bound_us_);
      for (size_t a = 0; a < network_.arcs.size(); ++a)
        if (result.values[a] > kPositive) relaxed.columns.push_back(cheapest_[a]);
    }
  }
  relaxed.seconds = watch.seconds();
  return relaxed;
}

// Regression for a plan; the relaxation, and branch and bound among the arcs that could be part of a better
// plan, for the proof. Arcs that wait for each other are cut off and that begins again.
void Orchestrator::search(Search& search, double time_limit_s, int width) {
  const Stopwatch watch;
  ++search.rounds;
  while (width > 0 && regress(search, width) && !search.proven) {
  }
  for (bool again = !search.proven && !search.infeasible; again && watch.seconds() < time_limit_s;) {
    throw_if_interrupted();
    ++search.rounds;
    const RelaxationResult relaxed = solve_relaxation(time_limit_s - watch.seconds(), kThorough);
    if (relaxed.status == MipStatus::infeasible) search.infeasible = true;
    if (relaxed.status != MipStatus::optimal) return;
    search.bound_us = std::max(search.bound_us, bound_us_);
    again = !search.meets_bound() && !branch(search, time_limit_s - watch.seconds());
  }
}

// True when it found a better plan.
bool Orchestrator::regress(Search& search, int width) {
  throw_if_interrupted();
  const Regression::Result found =
      regression_.search(cost_us_, search.best ? search.best->order : std::vector<int>(), width);
  search.infeasible = found.order.empty() && found.is_complete;
  if (found.order.empty()) return false;
  search.proven = found.is_complete;
  const bool better = !search.best || found.cost_us < (1 - kRounding) * search.best->cost_us;
  if (better) search.best = Incumbent{found.cost_us, found.order};
  return better;
}

// False when the solution waits for itself: the rows that say so are added.
bool Orchestrator::branch(Search& search, double time_limit_s) {
  const std::vector<double> start =
      search.best ? formulation_.point(search.best->order) : std::vector<double>();
  Mip mip = search.best ? without_hopeless(search.best->cost_us) : formulation_.mip();
  mip.rows.append(formulation_.reorder_rows());
  const MipResult result = solve_mip(mip, time_limit_s, start);
  if (result.status == MipStatus::infeasible) (search.best ? search.proven : search.infeasible) = true;
  if (result.values.empty()) return true;
  // What was left out costs more than the best plan.
  const double bound = search.best ? std::min(result.bound, search.best->cost_us) : result.bound;
  search.bound_us = std::max(search.bound_us, bound);
  const std::vector<int> arcs = formulation_.chosen(result.values);
  const ArcOrder ordered = order_arcs(network_, arcs);
  offer(search.best, arcs);
  if (!ordered.reached) {
    const Rows cuts = formulation_.cut_cycles(ordered);
    relaxation_->add_rows(cuts);
    search.cuts += cuts.count();
  }
  search.proven = ordered.reached && result.status == MipStatus::optimal;
  return ordered.reached;
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
  solution.cycle_cuts = search.cuts;
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
