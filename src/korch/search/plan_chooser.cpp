#include "korch/search/plan_chooser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "korch/backend/backend.h"
#include "korch/base/stopwatch.h"
#include "korch/ir/text.h"
#include "korch/profile/machine_load.h"
#include "korch/search/cost_book.h"
#include "korch/search/overlap.h"
#include "korch/search/whole_runs.h"
#include "korch/solve/lazy.h"
#include "korch/solve/orchestrator.h"

namespace korch {
namespace {

constexpr int kVersion = 24;  // of the search for a plan: what older ones chose is chosen anew
// Plans of which something cannot be built, one after the other: each takes a search of up to half a second,
// on machines of any speed. Networks of the zoo need ten.
constexpr int kMostRefused = 25;

class PlanChooser {
 public:
  PlanChooser(const ChoiceRequest& request, Columns& columns)
      : graph_(*request.graph),
        base_(*request.base),
        target_(*request.target),
        options_(request.options),
        costs_(*request.costs),
        contests_(*request.contests),
        database_(request.options.carried ? nullptr
                                          : request.database),  // others' costs may come at any time
        strikes_(request.strikes),
        deadline_(request.options.deadline),
        rival_groups_(request.rival_groups),
        pruned_(request.pruned),
        columns_(columns),
        book_(graph_, columns, costs_, {deadline_, options_.budget_s > 0, options_.progress}) {}

  SolveMemo remembered_choice() {
    const Hash key = hash_text(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", kVersion, print(graph_),
                                           describe(graph_, columns_), target_.name, target_.workers,
                                           backend_of(target_).compiler(), options_.exhaustive,
                                           static_cast<int>(options_.bounds), options_.measure,
                                           options_.other_schedules, strikes_ != nullptr, searched_by()));
    if (database_ != nullptr)
      if (const std::optional<std::string> text = database_->get_text(key))
        if (const std::optional<SolveMemo> memo = solve_memo_from_json(*text, columns_.problem);
            memo && still_measured(*memo))
          return *memo;
    const LoadWatch watch;
    const LazyResult solved = choose();
    if (options_.measure && options_.budget_s == 0 && !budget_exhausted_)
      measure_what_may_overlap(solved.solution.chosen);
    book_.take_quick_costs();
    costs_.release_memory();
    SolveMemo memo = memo_of(solved);
    if (options_.measure && !solved.solution.chosen.empty() && options_.budget_s == 0) {
      run_whole(columns_, costs_, contests_,
                {rival_.chosen, unchanged_.chosen, estimates() ? std::vector<CostedPlan>() : solved.others},
                run_times(), memo);
      if (options_.other_schedules) reschedule(memo);
    }
    if (options_.measure && memo.measured > 0 && !target_.is_gpu())
      memo.disturbed = disturbance(watch.load());
    // What a time limit cut short is remembered too: solving again would take as long and end elsewhere. A
    // budget's is not.
    if (database_ != nullptr && !solved.solution.chosen.empty() && options_.budget_s == 0)
      database_->put_text(key, to_json(memo));
    return memo;
  }

  const std::map<RefusalReason, std::string>& refusal_examples() const { return book_.refusal_examples(); }
  const std::vector<std::string>& limits() const { return limits_; }

 private:
  // Whether estimates stand for costs, and nothing is proven.
  bool estimates() const {
    return options_.measure && !options_.prove && !options_.exhaustive && costs_.has_estimates();
  }
  // Likewise, and nothing is measured.
  bool estimates_alone() const { return !options_.measure && !options_.modelled && costs_.has_estimates(); }
  // What makes plans by estimates differ.
  std::string searched_by() const {
    if (estimates()) return fmt::format("{} audit {}", costs_.estimates_key(), options_.audit);
    return estimates_alone() ? costs_.estimates_key() : "";
  }
  WholeRunTimes run_times() const { return estimates() ? WholeRunTimes{1.5, 0.8, 1} : WholeRunTimes(); }
  double left_s() const { return std::max(0.0, deadline_.left_s()); }

  bool is_rivals(size_t kernel_column) const {
    const Candidate& candidate = columns_.candidates[columns_.infos[kernel_column].candidate];
    return rival_groups_.count({candidate.nodes, candidate.outputs}) != 0;
  }

  // The program without the other columns.
  template <typename IsAllowed>
  Problem only(const IsAllowed& is_allowed) const {
    Problem problem = columns_.problem;
    for (size_t id = 0; id < columns_.infos.size(); ++id)
      if (!is_allowed(id)) CostBook::drop(problem.columns[id]);
    return problem;
  }

  // The best plan of these columns, whose kernels are measured for it.
  template <typename IsAllowed>
  Solution best_of(const IsAllowed& is_allowed, const SolveOptions& options) {
    Problem problem = only(is_allowed);
    LazySolver solver(problem, {.solve = options});
    while (const std::optional<Question> question = solver.next({.has_learnt = true})) {
      book_.measure(question->columns);
      for (size_t id = 0; id < columns_.infos.size(); ++id)
        if (is_allowed(id)) problem.columns[id] = columns_.problem.columns[id];
    }
    return solver.result().solution;
  }

  // Of greedy's groups, or of all where there are none.
  bool is_rivals_choice(size_t id) const {
    return columns_.infos[id].kind != ColumnInfo::Kind::kernel || rival_groups_.empty() || is_rivals(id);
  }

  Solution rival_plan() {
    return best_of([&](size_t id) { return is_rivals_choice(id); }, {});
  }

  bool is_alternative(size_t id) const {
    if (columns_.infos[id].kind != ColumnInfo::Kind::kernel) return false;
    const std::vector<NodeId>& nodes = columns_.candidates[columns_.infos[id].candidate].nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](NodeId node) {
      return static_cast<size_t>(node) >= base_.node_count() || base_.node(node).dead;
    });
  }

  // The best plan for the network as it is, which the program's may be. Where it costs clearly more, even if
  // all kernels that nobody has looked at cost no more than their bounds, it is made of those that somebody
  // has.
  Solution plan_without_alternatives(const Solution& programs) {
    constexpr double kClearly = 1.05;
    if (std::none_of(programs.chosen.begin(), programs.chosen.end(),
                     [&](int id) { return is_alternative(id); }))
      return programs;
    const auto is_base = [&](size_t id) { return !is_alternative(id); };
    const SolveOptions options{.time_limit_s = 0, .start = rival_.chosen, .width = 8};
    const Solution hoped_for = solve(only(is_base), options);
    const auto is_known_base = [&](size_t id) {
      return is_base(id) &&
             (book_.is_known(static_cast<int>(id)) || columns_.infos[id].kind == ColumnInfo::Kind::view);
    };
    Solution best = hoped_for.objective_us <= kClearly * programs.objective_us
                        ? best_of(is_base, options)
                        : solve(only(is_known_base), options);
    best.seconds += hoped_for.seconds;
    best.rounds += hoped_for.rounds;
    return best;
  }

  // Kernels that leave workers idle cost too much to be looked at, as if they ran alone: those that could
  // take the place of one that others run beside.
  void measure_what_may_overlap(const std::vector<int>& chosen) {
    constexpr size_t kMost = 32;
    std::set<int> candidates;
    for (int id : beside_others(columns_, chosen, [&](int id) { return costs_.has_rounds(id); }))
      if (columns_.infos[id].kind == ColumnInfo::Kind::kernel)
        candidates.insert(columns_.infos[id].candidate);
    std::vector<int> unknown;
    for (size_t id = 0; id < columns_.infos.size() && unknown.size() < kMost; ++id) {
      const ColumnInfo& info = columns_.infos[id];
      if (info.kind == ColumnInfo::Kind::kernel && candidates.contains(info.candidate) &&
          !columns_.problem.columns[id].measured && !book_.is_known(static_cast<int>(id)) &&
          costs_.occupancy(static_cast<int>(id)) < 1)
        unknown.push_back(static_cast<int>(id));
    }
    try {
      book_.measure(unknown);
    } catch (const BudgetSpent&) {
      note_end("what may overlap was measured");
    }
  }

  // Without a budget, whose end the status tells.
  void note_end(const char* what) {
    if (options_.budget_s == 0) limits_.push_back(fmt::format("search: its time ended before {}", what));
  }

  // The plan's kernels by the schedules that are better for them, where the plan is faster with them.
  void reschedule(SolveMemo& memo) {
    memo.rescheduled =
        better_schedules(graph_, target_, memo.solution.chosen, deadline_, costs_, estimates(), columns_);
    if (deadline_.is_over()) note_end("other schedules of all kernels were measured");
    costs_.release_memory();
    const int first_added = static_cast<int>(columns_.infos.size());
    KORCH_ASSERT(add_columns(graph_, target_, memo.rescheduled, columns_), "a schedule that was just listed");
    if (!memo.rescheduled.empty()) run_rescheduled(columns_, first_added, contests_, run_times(), memo);
  }

  static std::set<int> as_set(const std::vector<int>& ids) { return {ids.begin(), ids.end()}; }

  // Puts the costs of a memo and its columns in place, if the database still has the costs of the chosen
  // kernels; else all is as before.
  bool still_measured(const SolveMemo& memo) {
    const size_t listed = columns_.infos.size();
    if (!add_columns(graph_, target_, memo.rescheduled, columns_)) return false;
    if (!still_there(memo)) {
      columns_.infos.resize(listed);
      columns_.problem.columns.resize(listed);
      return false;
    }
    for (size_t id = 0; id < listed; ++id) {
      Column& column = columns_.problem.columns[id];
      column.measured = memo.is_measured[id] == '1';
      column.cost_us = memo.cost_us[id];
    }
    if (strikes_ != nullptr)
      for (const std::string& key : memo.struck) strikes_->find(key);
    columns_.refused = memo.refused;
    columns_.estimated = estimates() || estimates_alone();
    pruned_ = memo.pruned;
    return true;
  }

  // Whether each chosen kernel is, and costs no more than the memo says.
  bool still_there(const SolveMemo& memo) {
    std::vector<int> kernels;
    for (int id : memo.solution.chosen)
      if (columns_.infos[id].kind != ColumnInfo::Kind::view) kernels.push_back(id);
    if (!options_.measure)
      return std::ranges::none_of(costs_.build(kernels),
                                  [](const auto& refusal) { return refusal.has_value(); });
    const std::vector<Result<Cost>> costs = costs_.measure(kernels, Care::quick);
    for (size_t i = 0; i < kernels.size(); ++i) {
      const auto id = static_cast<size_t>(kernels[i]);
      const double known_us =
          id < memo.cost_us.size() ? memo.cost_us[id] : columns_.problem.columns[id].cost_us;
      if (!costs[i] || costs[i].value().us > known_us) return false;
    }
    return true;
  }

  SolveMemo memo_of(const LazyResult& solved) const {
    SolveMemo memo;
    memo.solution = solved.solution;
    memo.kernels = kernels_;
    memo.modelled = costs_.modelled();
    memo.measured = book_.measured() - memo.modelled;
    memo.bound_violations = book_.bound_violations();
    memo.learned_violations = book_.learned_violations();
    memo.certified = solved.solution.status == SolveStatus::optimal && memo.bound_violations == 0 &&
                     !columns_.estimated && options_.measure && !budget_exhausted_;
    memo.budget_spent = budget_exhausted_;
    memo.bounded_low = bounded_low_ && !budget_exhausted_;
    memo.audited = audit_.measured;
    memo.audited_below = audit_.below;
    memo.refused = columns_.refused;
    if (strikes_ != nullptr)
      for (const StruckKernel& kernel : strikes_->met()) memo.struck.push_back(kernel.key);
    memo.pruned = pruned_;
    for (const Column& column : columns_.problem.columns) {
      memo.cost_us.push_back(column.cost_us);
      memo.is_measured += column.measured ? '1' : '0';
    }
    return memo;
  }

  LazyResult choose() {
    constexpr double kMuch = 0.02;  // of greedy's plan, by a linear primitive alone
    kernels_ = book_.kernels();
    if (!options_.measure)
      return options_.modelled   ? choose_by_model()
             : estimates_alone() ? choose_by_estimates()
                                 : choose_on_bounds();
    try {
      LazyOptions lazy{.second_looks = !estimates(),
                       .other_plan = options_.budget_s == 0 && !estimates(),
                       .prove = !estimates(),
                       .bounds = estimates(),
                       .audit = estimates() && options_.audit > 0};
      if (options_.budget_s > 0) {
        find_first_measured_plan();
        lazy.solve.start = first_plan_;
        lazy.deadline = deadline_;
        constexpr double kSolving = 0.5;  // share of the time that is left; the rest is for measuring
        lazy.solve.time_limit_s = std::clamp(kSolving * left_s(), 0.0, time_limit_s(columns_.problem, {}));
      }
      if (options_.exhaustive) {
        std::vector<int> all(columns_.infos.size());
        std::iota(all.begin(), all.end(), 0);
        book_.measure(all);
        book_.look_again(all);
        book_.look_again(all);
      } else if (estimates()) {
        book_.estimate();
      } else if (options_.bounds == Bounds::learned) {
        book_.learn();
      }
      if (!rival_groups_.empty() && options_.budget_s == 0 && !estimates()) {
        rival_ = rival_plan();
        lazy.solve.start = rival_.chosen;
        if (book_.is_learning()) book_.look_again_at_linear_alone(kMuch * rival_.objective_us);
      }
      // The rival has nothing else where what dominates turns out to be refused.
      if (book_.is_learning())
        pruned_["dominated_implementation"] += book_.drop_dominated([&](int id) { return is_rivals(id); });
      kernels_ = book_.kernels();
      LazySolver solver(columns_.problem, lazy);
      Answer answer;
      while (const std::optional<Question> question = solver.next(answer)) answer = answer_to(*question);
      if (estimates()) book_.stand_estimated();
      return solver.result();
    } catch (const BudgetSpent&) {
      return choose_measured();
    }
  }

  Answer answer_to(const Question& question) {
    switch (question.kind) {
      case Question::Kind::costs:
        book_.measure(question.columns);
        break;
      case Question::Kind::second_look:
        book_.look_again(question.columns);
        break;
      case Question::Kind::other_plan:
        unchanged_ = plan_without_alternatives(question.best);
        return {.plan = unchanged_};
      case Question::Kind::bounds:
        book_.stand_low();
        bounded_low_ = true;
        break;
      case Question::Kind::audit:
        audit_ = book_.audit(question.columns, options_.audit);
        book_.stand_estimated();
        return {.has_learnt = audit_.measured > 0};
    }
    return {.has_learnt = true};
  }

  // The best one of greedy's groups by what is known.
  Solution greedys_plan() const {
    return solve(only([&](size_t id) { return is_rivals_choice(id); }), {.time_limit_s = 0, .start = {}});
  }

  // Greedy's plan in the implementations that are best by the bounds and exist: what a compilation whose
  // budget ends early falls back to, and made whatever the budget is. (Of all columns the best by the bounds
  // is often refused: on candy_224 it took 515 kernels, 45 s, until one was not.)
  Solution first_plan() {
    const Stopwatch stopwatch;
    Solution plan;
    do {
      plan = greedys_plan();
    } while (!book_.build(plan.chosen));
    // Of all columns nothing is proven.
    plan.bound_us = 0;
    if (plan.status == SolveStatus::optimal) plan.status = SolveStatus::feasible;
    if (deadline_.is_over())
      limits_.push_back(
          fmt::format("budget: greedy's plan, the least there is, took {:.1f} s to build, until "
                      "the budget was over",
                      stopwatch.seconds()));
    return plan;
  }

  // Of its kernels, and of those of plans that were refused for others.
  Solution best_of_built() {
    const std::vector<int> first = first_plan().chosen;
    const auto is_there = [&](size_t id) {
      return columns_.infos[id].kind == ColumnInfo::Kind::view || book_.is_built(static_cast<int>(id));
    };
    Solution plan = solve(only(is_there), {.time_limit_s = 0, .start = first});
    plan.bound_us = 0;
    plan.status = SolveStatus::feasible;
    return plan;
  }

  // As first_plan, measured; the budget may end before that.
  void find_first_measured_plan() {
    do {
      first_plan_ = first_plan().chosen;
      book_.measure(first_plan_);
    } while (std::any_of(first_plan_.begin(), first_plan_.end(),
                         [&](int id) { return std::isinf(columns_.problem.columns[id].cost_us); }));
  }

  // The budget is spent: the best plan among the columns that are measured, and the bound that all columns
  // give.
  LazyResult choose_measured() {
    budget_exhausted_ = true;
    note_end("the best plan was known");
    LazyResult result;
    if (first_plan_.empty()) first_plan_ = rival_.chosen.empty() ? first_plan().chosen : rival_.chosen;
    // Among all columns a search for a plan would take longer than a small budget has, and nobody asks for
    // its plan.
    const double bound_us =
        Orchestrator(columns_.problem).relax(short_solve_s(), Orchestrator::kThorough).bound_us;
    book_.take_quick_costs();
    // Where it was not measured in time, the first plan is what there is.
    const std::set<int> first = as_set(first_plan_);
    for (size_t id = 0; id < columns_.infos.size(); ++id)
      if (Column& column = columns_.problem.columns[id];
          !column.measured && first.count(static_cast<int>(id)) == 0)
        CostBook::drop(column);
    result.solution = solve(columns_.problem, {.time_limit_s = short_solve_s(), .start = first_plan_});
    result.solution.bound_us = std::min(bound_us, result.solution.objective_us);
    if (result.solution.status == SolveStatus::optimal) result.solution.status = SolveStatus::feasible;
    return result;
  }

  double short_solve_s() const {
    constexpr double kShare = 0.04;  // of the whole budget; there are two
    constexpr double kWithout_s = 4;
    return options_.budget_s > 0 ? kShare * options_.budget_s : kWithout_s;
  }

  // Where they cover the network nothing else is chosen: bounds beside them would always look cheaper.
  void take_carried_costs() {
    book_.take_carried_costs();
    if (book_.measured() == 0) return;
    const auto is_carried = [&](size_t id) {
      return book_.is_known(static_cast<int>(id)) || columns_.infos[id].kind == ColumnInfo::Kind::view;
    };
    if (solve(only(is_carried), {.time_limit_s = 0, .start = {}}).chosen.empty()) {
      limits_.push_back(
          "costs: those that are carried do not cover the network; bounds stand for the others");
      return;
    }
    for (size_t id = 0; id < columns_.infos.size(); ++id)
      if (!is_carried(id)) CostBook::drop(columns_.problem.columns[id]);
  }

  // As if costs were measured, of all kernels: that takes less than to find out which ones matter. Nothing
  // here depends on a clock. Every chosen kernel must exist, and be as good as it was thought to be before it
  // was compiled.
  LazyResult choose_by_model() {
    try {
      std::vector<int> all(columns_.infos.size());
      std::iota(all.begin(), all.end(), 0);
      book_.measure(all);
      return best_that_stands();
    } catch (const BudgetSpent&) {
      return choose_on_bounds();
    }
  }

  // By estimates, of all kernels, and by what was measured elsewhere. Nothing here depends on a clock, unless
  // there is a budget. Plans take what the model thinks too cheap: the less it knows of a kernel, the more
  // the kernel has to cost.
  LazyResult choose_by_estimates() {
    constexpr double kCaution = 0.25;
    constexpr double kEstimate_s = 6e-4;  // of a kernel
    try {
      if (left_s() < kEstimate_s * book_.kernels()) return choose_on_bounds();
      if (options_.carried) book_.take_carried_costs();
      book_.estimate(kCaution);
      return best_that_stands();
    } catch (const BudgetSpent&) {
      return choose_on_bounds();
    }
  }

  // The best plan by what stands for costs, of kernels that exist. So many plans may have one that does not.
  LazyResult best_that_stands() {
    if (!rival_groups_.empty()) rival_ = greedys_plan();
    Orchestrator orchestrator(columns_.problem, deadline_);
    LazyResult result;
    result.solution.chosen = rival_.chosen;
    int refused = 0;
    for (const int width : {16, 64}) {
      std::vector<int> start;
      for (;;) {
        start = std::isfinite(cost_of(result.solution.chosen)) ? result.solution.chosen : std::vector<int>();
        result.solution = orchestrator.regress(start, width);
        if (stands(result.solution.chosen)) break;
        if (++refused < kMostRefused || options_.modelled) continue;
        result.solution = refused_too_often();
        return result;
      }
    }
    const double us = cost_of(result.solution.chosen);
    if (us > result.solution.objective_us) result.solution.status = SolveStatus::feasible;
    result.solution.objective_us = us;
    if (result.solution.status == SolveStatus::feasible)
      result.solution.bound_us = std::min(
          result.solution.objective_us,
          orchestrator.relax(std::numeric_limits<double>::infinity(), Orchestrator::kQuick).bound_us);
    return result;
  }

  Solution refused_too_often() {
    limits_.push_back(fmt::format(
        "search: none of {} plans can be built; the plan is of their other kernels and of greedy's",
        kMostRefused));
    return best_of_built();
  }

  double cost_of(const std::vector<int>& plan) const {
    double sum = 0;
    for (const int id : plan) sum += columns_.problem.columns[id].cost_us;
    return sum;
  }

  // Whether its kernels exist, and cost hardly more than they did before they were built: another plan may be
  // better, but hardly.
  bool stands(const std::vector<int>& plan) {
    constexpr double kHardlyMore = 1.005;
    const double hoped_for_us = cost_of(plan);
    if (!book_.build(plan)) return false;
    return !book_.cost_more_when_built(plan) || cost_of(plan) <= kHardlyMore * hoped_for_us;
  }

  // Costs stay bounds, but every chosen kernel must exist: refused ones leave the program. Bounds tell too
  // little of costs for a long proof.
  LazyResult choose_on_bounds() {
    if (options_.carried) take_carried_costs();
    constexpr double kLeast_s = 1, kColumnsPerSecond = 24000;
    SolveOptions options;
    options.time_limit_s = std::min(
        std::max(kLeast_s, static_cast<double>(columns_.infos.size()) / kColumnsPerSecond), left_s());
    LazyResult result;
    if (deadline_.is_over()) {
      budget_exhausted_ = true;
      result.solution = first_plan();
      return result;
    }
    // No plan found in short time shall be worse than greedy's.
    options.start = greedys_plan().chosen;
    try {
      BuildableSolver solver(columns_.problem, options, deadline_);
      bool can_be_built = false;
      int refused = 0;
      while (const std::optional<std::vector<int>> plan = solver.next(can_be_built)) {
        can_be_built = book_.build(*plan);
        if (can_be_built) continue;
        deadline_.check();
        if (++refused == kMostRefused) break;
      }
      result.solution = refused < kMostRefused ? solver.result() : refused_too_often();
    } catch (const BudgetSpent&) {
      note_end("a plan was found of which all can be built");
      result.solution = best_of_built();
    }
    budget_exhausted_ = deadline_.is_over();
    return result;
  }

  const Graph& graph_;
  const Graph& base_;
  const Device& target_;
  const SearchOptions& options_;
  CostSource& costs_;
  Contests& contests_;
  Database* database_;
  Strikes* strikes_;
  const Deadline deadline_;
  const CandidateSet& rival_groups_;
  std::map<std::string, int> pruned_;
  Columns& columns_;
  CostBook book_;
  int kernels_ = 0;  // as in SolveMemo
  bool budget_exhausted_ = false;
  bool bounded_low_ = false;
  CostBook::Audit audit_;
  std::vector<std::string> limits_;
  std::vector<int> first_plan_;  // of a compilation with a budget
  Solution rival_;               // its kernels measured thoroughly, before the program is solved; empty: none
  Solution unchanged_;           // as plan_without_alternatives
};

}  // namespace

Choice choose_plan(const ChoiceRequest& request, Columns& columns) {
  PlanChooser chooser(request, columns);
  SolveMemo solved = chooser.remembered_choice();
  return {std::move(solved), chooser.refusal_examples(), chooser.limits()};
}

}  // namespace korch
