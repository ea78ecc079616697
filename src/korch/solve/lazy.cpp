#include "korch/solve/lazy.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "korch/base/conversation.h"
#include "korch/solve/orchestrator.h"

namespace korch {
namespace {

constexpr int kWidths[] = {4, 16, 64};  // of the searches for a plan, the narrow ones while much is unknown
constexpr double kForPlans = 0.3;       // share of the time after which no wider search begins
constexpr double kForLooks = 0.6;       // after which no second looks are taken
constexpr double kLook_s = 0.05;        // about what a second look at a kernel takes
constexpr double kHopes[] = {0.85, 0.85};  // what estimates may be too high by (look_below)
constexpr double kRelaxation_s = 0.5;      // for a bound by estimates
constexpr double kLittle = 1e-5;           // relative: what is not worth another plan
constexpr double kSearches_s = 2.5;  // what searches take beyond that, the first relaxation has all the same

}  // namespace

class LazySolver::Loop {
 public:
  Loop(Problem& problem, const LazyOptions& options)
      : problem_(problem),
        second_looks_(options.second_looks),
        other_plan_(options.other_plan),
        prove_(options.prove),
        bounds_(options.bounds),
        audit_(options.audit),
        limit_s_(time_limit_s(problem, options.solve)),
        width_(options.solve.width),
        orchestrator_(problem, options.deadline) {
    for (const Column& column : problem.columns) {
      bound_us_.push_back(column.cost_us);
      was_measured_.push_back(column.measured);
    }
    if (!options.solve.start.empty()) keep_if_measured(order_columns(problem, options.solve.start));
    conversation_.begin(run());
  }

  std::optional<Question> next(Answer answer) { return conversation_.next(std::move(answer)); }
  LazyResult& result() { return conversation_.result(); }

 private:
  using Talk = Conversation<Question, Answer, LazyResult>;

  // The question is made here: GCC 12 destroys twice what an expression with co_await initializes.
  Talk::Asking ask(Question::Kind kind, const std::vector<int>& columns) {
    return conversation_.ask({kind, columns, last_});
  }

  Task<LazyResult> run() {
    bool is_proven = co_await find_plan();
    while (co_await look_again()) is_proven = co_await find_plan();
    if (co_await look_at_other_plan()) is_proven = co_await find_plan();
    const bool is_empty = last_.chosen.empty();  // nothing is to be computed, or nothing can be
    if (!prove_ && !is_empty) {
      for (const double hope : kHopes)
        if (co_await look_below(hope)) co_await find_plan();
      double bound_us = co_await bound_below();
      if (audit_ && !plan_.empty()) {
        const std::vector<int> doubtful = orchestrator_.columns_within(cost_of(plan_));
        if ((co_await ask(Question::Kind::audit, doubtful)).has_learnt) co_await find_plan();
        bound_us = co_await bound_below();
      }
      keep_plan(bound_us);
    } else if (prove_ && !is_proven) {
      co_await prove();
    }
    LazyResult result;
    result.solution = last_;
    result.solution.rounds = rounds_;
    result.solution.cuts = orchestrator_.cuts();
    result.solution.seconds = seconds_;
    for (size_t i = 0; i < bound_us_.size(); ++i)
      result.bound_violations +=
          !was_measured_[i] && problem_.columns[i].measured && problem_.columns[i].cost_us < bound_us_[i];
    result.certified = last_.status == SolveStatus::optimal && result.bound_violations == 0;
    result.others = nearly_as_good();
    co_return result;
  }

  // The best plan by what is known, its kernels measured, and the next, until no search finds a better one
  // than a plan that is measured throughout. True when nothing is left to prove.
  Task<bool> find_plan() {
    for (const int width : kWidths) {
      if (width > kWidths[0] && !plan_.empty() && seconds_ > kForPlans * limit_s_) co_return false;
      bool is_learning = true;
      while (is_learning) {
        last_ = counted(orchestrator_.regress(plan_, width));
        last_search_s_ = last_.seconds;
        if (last_.status == SolveStatus::infeasible) co_return true;
        const bool is_answer = last_.status == SolveStatus::optimal && is_measured(last_.chosen);
        is_learning = is_better(last_);
        if (is_learning && !is_measured(last_.chosen)) is_learning = co_await measure(last_.chosen);
        keep_if_measured(last_.chosen);
        if (is_answer) co_return true;
      }
    }
    co_return false;
  }

  // A kernel whose measurement was disturbed is in no plan, and nobody would look at it again. So those are
  // looked at a second time that would make a better plan if all costs outside the plan were so much too
  // high, and what they would replace. False when there are none.
  Task<bool> look_again() {
    constexpr double kDisturbed = 0.8;  // what a cost may fall to
    constexpr int kMostLooks = 4, kWidth = 16;
    if (!second_looks_ || looks_ == kMostLooks || plan_.empty() || seconds_ > kForLooks * limit_s_)
      co_return false;
    std::vector<bool> is_kept(problem_.columns.size());
    for (const int column : plan_) is_kept[column] = true;
    std::vector<double> costs_us;
    for (size_t i = 0; i < problem_.columns.size(); ++i) {
      Column& column = problem_.columns[i];
      costs_us.push_back(column.cost_us);
      if (column.may_cost_less && !is_kept[i]) column.cost_us *= kDisturbed;
    }
    const Solution other = counted(orchestrator_.regress(plan_, kWidth));
    for (size_t i = 0; i < costs_us.size(); ++i) problem_.columns[i].cost_us = costs_us[i];
    std::vector<int> doubtful;
    std::ranges::set_symmetric_difference(sorted(plan_), sorted(other.chosen), std::back_inserter(doubtful));
    std::erase_if(doubtful, [&](int column) { return !problem_.columns[column].may_cost_less; });
    if (doubtful.empty()) co_return false;
    ++looks_;
    co_return (co_await ask(Question::Kind::second_look, doubtful)).has_learnt;
  }

  // Estimates that are too high keep kernels out of plans, and nobody would find out. So the kernels are
  // measured that would make a better plan if all estimates were so much too high. False when there are none.
  Task<bool> look_below(double hope) {
    if (plan_.empty()) co_return false;
    std::vector<double> costs_us;
    for (Column& column : problem_.columns) {
      costs_us.push_back(column.cost_us);
      if (!column.measured) column.cost_us *= hope;
    }
    const Solution other = counted(orchestrator_.regress(plan_, kWidths[1]));
    for (size_t i = 0; i < costs_us.size(); ++i) problem_.columns[i].cost_us = costs_us[i];
    co_return co_await measure(other.chosen);
  }

  // False when it is the same, and nothing was measured.
  Task<bool> look_at_other_plan() {
    if (!other_plan_ || plan_.empty()) co_return false;
    const Solution found = last_;  // proven, maybe
    keep_plan(0);
    const Answer answer = co_await ask(Question::Kind::other_plan, last_.chosen);
    const std::vector<int> other = counted(answer.plan).chosen;
    if (other == plan_) {
      last_ = found;
      co_return false;
    }
    if (!other.empty() && cost_of(other) < cost_of(plan_)) co_await measure(other);
    keep_if_measured(other);
    co_return true;
  }

  // A bound by lower bounds of the costs that are not known, or by estimates.
  Task<double> bound_below() {
    if (bounds_) co_await ask(Question::Kind::bounds, {});
    const Orchestrator::Relaxed relaxed = orchestrator_.relax(kRelaxation_s, Orchestrator::kQuick);
    ++rounds_;
    seconds_ += relaxed.seconds;
    co_return relaxed.bound_us;
  }

  static std::vector<int> sorted(std::vector<int> columns) {
    std::sort(columns.begin(), columns.end());
    return columns;
  }

  // Asks for what the relaxation takes, until a plan of measured kernels is as cheap as any can be. False:
  // the best plan that is known is the answer.
  Task<bool> prove() {
    double bound_us = 0;
    while (bound_us == 0 || left_s() > 0) {
      bool is_learning = false;
      for (const Orchestrator::Effort& effort : {Orchestrator::kQuick, Orchestrator::kThorough}) {
        const Orchestrator::Relaxed relaxed =
            orchestrator_.relax(bound_us > 0 ? left_s() : std::max(left_s(), limit_s_ - kSearches_s), effort);
        ++rounds_;
        seconds_ += relaxed.seconds;
        last_search_s_ = relaxed.seconds;
        bound_us = std::max(bound_us, relaxed.bound_us);
        if (!relaxed.is_complete) co_return keep_plan(bound_us);
        is_learning = co_await measure_below(relaxed.columns, bound_us);
        if (is_learning) break;
      }
      if (is_learning) continue;
      last_ = counted(orchestrator_.solve(left_s(), plan_, width_));
      if (last_.status == SolveStatus::infeasible) co_return true;
      bound_us = std::max(bound_us, last_.bound_us);
      if (is_measured(last_.chosen) && last_.status == SolveStatus::optimal) co_return true;
      if (keep_if_measured(last_.chosen)) continue;
      if (!co_await measure_below(last_.chosen, bound_us)) break;
    }
    co_return keep_plan(bound_us);
  }

  // As measure. A cost that came out below what stood for it takes the bound down to what the last relaxation
  // proves at the costs of now.
  Task<bool> measure_below(const std::vector<int>& columns, double& bound_us) {
    std::vector<double> before_us;
    for (const Column& column : problem_.columns) before_us.push_back(column.cost_us);
    const bool is_learning = co_await measure(columns);
    bool fell = false;
    for (size_t i = 0; i < before_us.size(); ++i) fell = fell || problem_.columns[i].cost_us < before_us[i];
    if (fell) bound_us = orchestrator_.bound_now();
    co_return is_learning;
  }

  // The best plan is the answer, not proven: false.
  bool keep_plan(double bound_us) {
    last_ = Solution();
    last_.status = plan_.empty() ? SolveStatus::unknown : SolveStatus::feasible;
    last_.chosen = plan_;
    last_.objective_us = cost_of(plan_);
    last_.bound_us = std::min(bound_us, last_.objective_us);
    return false;
  }

  Solution counted(Solution solution) {
    seconds_ += solution.seconds;
    rounds_ += solution.rounds;
    return solution;
  }

  double left_s() const { return limit_s_ - seconds_; }

  bool is_better(const Solution& solution) const {
    return !solution.chosen.empty() &&
           (plan_.empty() || solution.objective_us < (1 - kLittle) * cost_of(plan_));
  }

  // Asks for the costs that are missing among `columns`; false when nothing came of it.
  Task<bool> measure(const std::vector<int>& columns) {
    const std::vector<int> wanted = unmeasured(columns);
    if (wanted.empty()) co_return false;
    const Answer answer = co_await ask(Question::Kind::costs, wanted);
    if (!answer.has_learnt) co_return false;
    // A second look that takes less than a search does not wait for one.
    const std::vector<int> again = unmeasured(wanted);
    if (!again.empty() && kLook_s * static_cast<double>(again.size()) < last_search_s_)
      co_await ask(Question::Kind::costs, again);
    co_return true;
  }

  std::vector<int> unmeasured(const std::vector<int>& columns) const {
    std::vector<int> result;
    for (const int column : columns)
      if (!problem_.columns[column].measured) result.push_back(column);
    return result;
  }

  // False unless it is measured and cheaper than what was kept.
  bool keep_if_measured(const std::vector<int>& plan) {
    if (plan.empty() || !is_measured(plan)) return false;
    const double cost = cost_of(plan);
    if (!std::isfinite(cost)) return false;
    measured_plans_.insert(plan);
    if (!plan_.empty() && cost >= cost_of(plan_)) return false;
    plan_ = plan;
    return true;
  }

  std::vector<CostedPlan> nearly_as_good() const {
    constexpr double kNearly = 1.02;
    constexpr size_t kMost = 2;
    std::vector<CostedPlan> others;
    for (const std::vector<int>& plan : measured_plans_)
      if (const double cost = cost_of(plan); plan != last_.chosen && cost <= kNearly * last_.objective_us)
        others.push_back({cost, plan});
    std::sort(others.begin(), others.end());
    others.resize(std::min(kMost, others.size()));
    return others;
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

  Problem& problem_;
  const bool second_looks_, other_plan_, prove_, bounds_, audit_;
  const double limit_s_;
  const int width_;  // of the search that begins a proof
  Orchestrator orchestrator_;
  std::vector<double> bound_us_;
  std::vector<bool> was_measured_;
  std::vector<int> plan_;  // the cheapest plan known that is measured throughout
  std::set<std::vector<int>> measured_plans_;
  Solution last_;
  int rounds_ = 0, looks_ = 0;
  double seconds_ = 0, last_search_s_ = 0;
  Talk conversation_;
};

LazySolver::LazySolver(Problem& problem, LazyOptions options)
    : loop_(std::make_unique<Loop>(problem, options)) {}
LazySolver::~LazySolver() = default;
std::optional<Question> LazySolver::next(Answer answer) {
  return loop_->next(std::move(answer));
}
LazyResult& LazySolver::result() {
  return loop_->result();
}

}  // namespace korch
