#include <algorithm>
#include <cmath>
#include <limits>

#include "korch/solve/orchestrator.h"
#include "korch/solve/problem.h"

namespace korch {
namespace {

constexpr double kForPlans = 0.4;      // share of the time that relaxations leave to looking for plans
constexpr double kPerSolve = 0.35;     // share of the time left that one solve gets
constexpr double kForMeasured = 0.15;  // share of the time for a last solve among what is measured
constexpr double kForStretches = 0.2;  // share of the time, besides, for improving the best plan by stretches
constexpr double kStretch_s = 2;       // for one solve of a stretch
constexpr double kLittle = 1e-6;       // relative: what is not worth another plan
constexpr double kLeastTime_s = 1;     // for a solve
constexpr double kLeastPlan_s = 20;    // for a solve after the time is up, when no plan is measured yet
constexpr double kLeastBound_s = 20;   // for the last bound; relaxing the largest network takes some seconds

class LazyLoop {
 public:
  LazyLoop(Problem& problem, const Measure& measure, const SolveOptions& options)
      : problem_(problem),
        measure_(measure),
        limit_s_(options.time_limit_s),
        left_s_(limit_s_),
        orchestrator_(problem) {
    for (const Column& column : problem.columns) {
      bound_us_.push_back(column.cost_us);
      was_measured_.push_back(column.measured);
    }
    if (!options.start.empty()) keep_if_measured(order_columns(problem, options.start));
  }

  LazyResult run() {
    while (!measured_plan_found()) {
    }
    LazyResult result;
    result.solution = last_;
    result.solution.rounds = rounds_;
    result.solution.cycle_cuts = cuts_;
    result.solution.seconds = seconds_;
    for (size_t i = 0; i < bound_us_.size(); ++i)
      result.bound_violations +=
          !was_measured_[i] && problem_.columns[i].measured && problem_.columns[i].cost_us < bound_us_[i];
    result.certified = last_.status == SolveStatus::optimal && result.bound_violations == 0;
    return result;
  }

 private:
  // One solve and what it asks to be measured. True when last_ is the answer. A solve gets a part of the time
  // that is left: if that does not suffice, the next one begins with its plan, measured.
  bool measured_plan_found() {
    const auto spare_s = [&] { return left_s_ - kForPlans * limit_s_; };
    while (spare_s() > 0 && (measure(relaxed(Orchestrator::kQuick, spare_s()).columns) ||
                             measure(relaxed(Orchestrator::kThorough, spare_s()).columns))) {
    }
    if (left_s_ < kForMeasured * limit_s_ && !plan_.empty()) {
      choose_among_measured();
      improve_by_stretches();
      return true;
    }
    solve(left_s_ * kPerSolve);
    if (last_.chosen.empty()) return true;
    const bool was_measured = is_measured(last_.chosen);
    if (was_measured && last_.status == SolveStatus::optimal) return true;
    if (was_measured || measure(last_.chosen)) {
      keep_if_measured(last_.chosen);
      return false;
    }
    last_.status = plan_.empty() ? SolveStatus::unknown : SolveStatus::feasible;
    last_.chosen = plan_;
    last_.objective_us = cost_of(plan_);
    return true;
  }

  void solve(double time_limit_s) {
    last_ = orchestrator_.solve(std::max(time_limit_s, plan_.empty() ? kLeastPlan_s : kLeastTime_s), plan_);
    spend(last_.seconds);
    rounds_ += last_.rounds;
    cuts_ += last_.cycle_cuts;
  }

  // Too little time is left to measure and solve again: the best plan of what is measured.
  void choose_among_measured() {
    std::vector<double> costs;
    for (Column& column : problem_.columns) {
      costs.push_back(column.cost_us);
      if (!column.measured) column.cost_us = std::numeric_limits<double>::infinity();
    }
    solve(kForMeasured * limit_s_);
    for (size_t i = 0; i < costs.size(); ++i) problem_.columns[i].cost_us = costs[i];
    keep_if_measured(last_.chosen);
  }

  // Improves the best plan where only a stretch of the network may change, measuring what the better plans
  // use; the bound is that of all.
  void improve_by_stretches() {
    left_s_ = kForStretches * limit_s_;
    for (bool better = true; better && left_s_ > 0;) {
      better = false;
      for (int stretch = 0; stretch < orchestrator_.stretches() && left_s_ > 0; ++stretch)
        better = improve(stretch) || better;
    }
    last_ = Solution();
    last_.status = SolveStatus::feasible;
    last_.chosen = plan_;
    last_.objective_us = cost_of(plan_);
    last_.bound_us = std::min(relaxed(Orchestrator::kThorough, kLeastBound_s).bound_us, last_.objective_us);
  }

  // True when a better plan was found, measured throughout.
  bool improve(int stretch) {
    while (left_s_ > 0) {
      const Solution found = orchestrator_.improve(plan_, stretch, std::min(left_s_, kStretch_s));
      spend(found.seconds);
      cuts_ += found.cycle_cuts;
      if (found.chosen.empty() || found.objective_us >= (1 - kLittle) * cost_of(plan_)) return false;
      if (is_measured(found.chosen)) {
        plan_ = found.chosen;
        return true;
      }
      if (!measure(found.chosen)) return false;
    }
    return false;
  }

  Orchestrator::Relaxed relaxed(const Orchestrator::Effort& effort, double time_limit_s) {
    Orchestrator::Relaxed result = orchestrator_.relax(time_limit_s, effort);
    spend(result.seconds);
    ++rounds_;
    return result;
  }

  // Asks for the costs that are missing among `columns`; false when nothing came of it.
  bool measure(const std::vector<int>& columns) {
    std::vector<int> wanted;
    for (const int column : columns)
      if (!problem_.columns[column].measured) wanted.push_back(column);
    return !wanted.empty() && measure_(wanted);
  }

  void keep_if_measured(const std::vector<int>& plan) {
    if (plan.empty() || !is_measured(plan)) return;
    const double cost = cost_of(plan);
    if (std::isfinite(cost) && (plan_.empty() || cost < cost_of(plan_))) plan_ = plan;
  }

  bool is_measured(const std::vector<int>& columns) const {
    return std::all_of(columns.begin(), columns.end(),
                       [&](int column) { return problem_.columns[column].measured; });
  }

  double cost_of(const std::vector<int>& columns) const {
    double sum = 0;
    for (const int column : columns) sum += problem_.columns[column].cost_us;
    return sum;
  }

  void spend(double seconds) {
    left_s_ -= seconds;
    seconds_ += seconds;
  }

  Problem& problem_;
  const Measure& measure_;
  double limit_s_, left_s_;
  Orchestrator orchestrator_;
  std::vector<double> bound_us_;
  std::vector<bool> was_measured_;
  std::vector<int> plan_;  // the cheapest plan known that is measured throughout
  Solution last_;
  int rounds_ = 0, cuts_ = 0;
  double seconds_ = 0;
};

}  // namespace

LazyResult solve_lazily(Problem& problem, const Measure& measure, const SolveOptions& options) {
  return LazyLoop(problem, measure, options).run();
}

}  // namespace korch
