#include "korch/driver/plan_chooser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "korch/base/files.h"
#include "korch/base/interrupt.h"
#include "korch/base/stopwatch.h"
#include "korch/codegen/cpu/compiler.h"
#include "korch/inspect/bench.h"
#include "korch/ir/text.h"
#include "korch/package/package.h"
#include "korch/plan/plan_json.h"
#include "korch/search/learned_bounds.h"
#include "korch/search/plain_linear.h"
#include "korch/search/plan_builder.h"

namespace korch {
namespace {

constexpr int kVersion = 16;     // of the search for a plan: what older ones chose is chosen anew
constexpr int kLeastRounds = 3;  // of plans run whole: a second each in large networks

class PlanChooser {
 public:
  PlanChooser(const ChoiceRequest& request, Columns& columns, KernelBank& bank)
      : graph_(*request.graph),
        base_(*request.base),
        target_(*request.target),
        options_(*request.options),
        database_(request.database),
        strikes_(request.strikes),
        deadline_(request.deadline),
        rival_groups_(request.rival_groups),
        pruned_(request.pruned),
        columns_(columns),
        bank_(bank),
        is_known_(columns.infos.size()) {
    for (size_t id = 0; id < columns.infos.size(); ++id)
      by_key_[columns.infos[id].key].push_back(static_cast<int>(id));
  }

  SolveMemo remembered_choice() {
    const Hash key = hash_text(
        fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", kVersion, print(graph_), describe(graph_, columns_),
                    target_.cpu_name, target_.threads, compiler_version(), options_.exhaustive,
                    static_cast<int>(options_.bounds), options_.measure, strikes_ != nullptr));
    if (database_ != nullptr)
      if (const std::optional<std::string> text = database_->get_text(key))
        if (const std::optional<SolveMemo> memo = solve_memo_from_json(*text, columns_.problem);
            memo && still_measured(*memo))
          return *memo;
    const LazyResult solved = choose();
    take_quick_costs();
    bank_.release_memory();
    SolveMemo memo = memo_of(solved);
    if (!solved.solution.chosen.empty() && options_.budget_s == 0) run_whole(memo, solved.others);
    // What a time limit cut short is remembered too: solving again would take as long and end elsewhere. A
    // budget's is not.
    if (database_ != nullptr && !solved.solution.chosen.empty() && options_.budget_s == 0)
      database_->put_text(key, to_json(memo));
    return memo;
  }

  const std::map<RefusalReason, std::string>& refusal_examples() const { return refusal_examples_; }
  const std::vector<std::string>& limits() const { return limits_; }

 private:
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
      if (!is_allowed(id)) drop(problem.columns[id]);
    return problem;
  }

  // The best plan of these columns, whose kernels are measured for it.
  template <typename IsAllowed>
  Solution best_of(const IsAllowed& is_allowed, const SolveOptions& options) {
    Problem problem = only(is_allowed);
    auto measure = [&](const std::vector<int>& ids) {
      measure_columns(ids);
      for (size_t id = 0; id < columns_.infos.size(); ++id)
        if (is_allowed(id)) problem.columns[id] = columns_.problem.columns[id];
      return true;
    };
    return solve_lazily(problem, measure, options).solution;
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
      return is_base(id) && (is_known_[id] || columns_.infos[id].kind == ColumnInfo::Kind::view);
    };
    Solution best = hoped_for.objective_us <= kClearly * programs.objective_us
                        ? best_of(is_base, options)
                        : solve(only(is_known_base), options);
    best.seconds += hoped_for.seconds;
    best.rounds += hoped_for.rounds;
    return best;
  }

  // Kernels measured one by one do not tell what they do to each other. The plans that are nearly as good by
  // their costs, greedy's and one without alternatives among them, are run whole against the program's; one
  // that is faster beyond doubt takes its place.
  void run_whole(SolveMemo& memo, const std::vector<CostedPlan>& others) {
    // What greedy's plan and the one without alternatives may cost: so far off were costs of noisy minutes.
    constexpr double kNearly = 1.5;
    // Shared by all, unless a few rounds take longer; then the solver's next but the first are left out.
    constexpr double kWholeRuns_s = 6;
    std::vector<std::pair<std::string, CostedPlan>> challengers;
    std::set<std::set<int>> seen = {as_set(memo.solution.chosen)};
    const auto challenge = [&](const char* name, const std::vector<int>& chosen) {
      double cost_us = 0;
      for (int id : chosen) cost_us += columns_.problem.columns[id].cost_us;
      if (!chosen.empty() && cost_us <= kNearly * memo.solution.objective_us &&
          seen.insert(as_set(chosen)).second)
        challengers.emplace_back(name, CostedPlan{cost_us, chosen});
    };
    challenge("greedy", rival_.chosen);
    challenge("unchanged network's", unchanged_.chosen);
    const size_t first_next = challengers.size();
    for (const CostedPlan& other : others) challenge("solver's next", other.chosen);
    const TempDir folder;
    auto draft = [&](const std::vector<int>& chosen, const std::string& file) {
      BuiltPlan built = build_plan(graph_, columns_, chosen, bank_, target_, options_.accuracy);
      write_executable({&built.plan, std::move(built.objects), std::move(built.constant_bytes),
                        plan_to_json(built.plan), target_},
                       folder.path() + file);
      return folder.path() + file;
    };
    std::string kept_file;
    // Contests are minutes of different noise: times are first relative to the solver's plan, by the
    // contests' ratios.
    double solvers_us = std::numeric_limits<double>::infinity();
    const Stopwatch whole_runs;
    for (size_t i = 0; i < challengers.size(); ++i) {
      if (i > first_next && whole_runs.seconds() > kWholeRuns_s) break;
      const auto& [name, plan] = challengers[i];
      if (kept_file.empty()) kept_file = draft(memo.solution.chosen, "/kept.so");
      const std::string file = draft(plan.chosen, fmt::format("/{}.so", i));
      const bool is_unchanged = as_set(plan.chosen) == as_set(unchanged_.chosen);
      BenchOptions options;
      options.min_rounds = kLeastRounds;
      if (is_unchanged) {
        // Where 1 % decides: two executables differ by as much from one loading to the next.
        options.rounds = 100;
        options.loadings = 3;
        options.max_seconds = 2.4;
      } else {
        options.rounds = 15;
        options.max_seconds = kWholeRuns_s / static_cast<double>(challengers.size());
      }
      const std::vector<BenchRow> rows = bench({kept_file, file}, options).rows;
      if (memo.whole_runs.empty()) memo.whole_runs = {{"solver's", memo.solution.objective_us, 1}};
      const double kept_relative = memo.whole_runs[0].measured_us;
      solvers_us = std::min(solvers_us, rows[0].median_us / kept_relative);
      const WholeRun run{name, plan.cost_us, kept_relative * rows[1].ratio};
      // Between equals the network stays as it is.
      const bool is_faster = (is_unchanged ? rows[1].ratio : rows[1].ratio_high) < 1;
      memo.whole_runs.insert(is_faster ? memo.whole_runs.begin() : memo.whole_runs.end(), run);
      if (is_faster) memo.solution.chosen = plan.chosen;
      std::filesystem::remove(is_faster ? std::exchange(kept_file, file) : file);
    }
    for (WholeRun& run : memo.whole_runs) run.measured_us *= solvers_us;
  }

  static std::set<int> as_set(const std::vector<int>& ids) { return {ids.begin(), ids.end()}; }

  // Puts the costs of a memo in place, if the database still has those of the chosen kernels; else all is as
  // before.
  bool still_measured(const SolveMemo& memo) {
    std::vector<KernelRequest> requests;
    for (int id : memo.solution.chosen)
      if (columns_.infos[id].kind != ColumnInfo::Kind::view)
        requests.push_back(kernel_request(graph_, columns_, id));
    if (options_.measure)
      bank_.measure(requests);
    else
      bank_.build(requests);
    for (int id : memo.solution.chosen) {
      if (columns_.infos[id].kind == ColumnInfo::Kind::view) continue;
      const Result<BuiltKernel>& built = *bank_.find(columns_.infos[id].key);
      if (!built || (options_.measure && built.value().cost->us > memo.cost_us[id])) return false;
    }
    for (size_t id = 0; id < columns_.infos.size(); ++id) {
      Column& column = columns_.problem.columns[id];
      column.measured = memo.is_measured[id] == '1';
      column.cost_us = memo.cost_us[id];
    }
    if (strikes_ != nullptr)
      for (const std::string& key : memo.struck) strikes_->find(key);
    columns_.refused = memo.refused;
    pruned_ = memo.pruned;
    return true;
  }

  SolveMemo memo_of(const LazyResult& solved) const {
    SolveMemo memo;
    memo.solution = solved.solution;
    memo.kernels = kernels_;
    for (const auto& [key, ids] : by_key_) {
      if (!is_known_[ids[0]] || columns_.infos[ids[0]].kind == ColumnInfo::Kind::view) continue;
      ++memo.measured;
      memo.bound_violations += columns_.problem.columns[ids[0]].cost_us < columns_.infos[ids[0]].bound_us;
    }
    memo.learned_violations = learned_violations_;
    memo.certified = solved.solution.status == SolveStatus::optimal && memo.bound_violations == 0 &&
                     options_.measure && !budget_exhausted_;
    memo.budget_spent = budget_exhausted_;
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
    SolveOptions solve_options;
    kernels_ = count_kernels();
    if (!options_.measure) return choose_on_bounds();
    auto measure = [&](const std::vector<int>& ids) {
      measure_columns(ids);
      return true;
    };
    try {
      if (options_.budget_s > 0) {
        find_first_measured_plan();
        solve_options.start = first_plan_;
        solve_options.deadline = deadline_;
        constexpr double kSolving = 0.5;  // share of the time that is left; the rest is for measuring
        solve_options.time_limit_s = std::clamp(kSolving * left_s(), 0.0, time_limit_s(columns_.problem, {}));
      }
      if (options_.exhaustive) {
        std::vector<int> all(columns_.infos.size());
        std::iota(all.begin(), all.end(), 0);
        measure(all);
        look_again(all);
        look_again(all);
      } else if (options_.bounds == Bounds::learned) {
        measure_linear_alone();
      }
      if (!rival_groups_.empty() && options_.budget_s == 0) {
        rival_ = rival_plan();
        solve_options.start = rival_.chosen;
        if (learned_) look_again_at_linear_alone();
      }
      if (learned_) drop_dominated();
      kernels_ = count_kernels();
      solve_options.second_look = [&](const std::vector<int>& ids) {
        look_again(ids);
        return true;
      };
      if (options_.budget_s == 0)
        solve_options.other_plan = [&](const Solution& best) {
          return unchanged_ = plan_without_alternatives(best);
        };
      return solve_lazily(columns_.problem, measure, solve_options);
    } catch (const BudgetSpent&) {
      return choose_measured();
    }
  }

  // Different ones that the program may choose.
  int count_kernels() const {
    return static_cast<int>(std::count_if(by_key_.begin(), by_key_.end(), [&](const auto& key_and_ids) {
      const std::vector<int>& ids = key_and_ids.second;
      return columns_.infos[ids[0]].kind != ColumnInfo::Kind::view &&
             std::any_of(ids.begin(), ids.end(), [&](int id) {
               return is_known_[id] || std::isfinite(columns_.problem.columns[id].cost_us);
             });
    }));
  }

  // Linear primitives alone tell which implementations are hopeless, and bound all they are fused into.
  void measure_linear_alone() {
    plain_.emplace(graph_, columns_);
    measure_columns(plain_->probes());
    learned_.emplace(graph_, columns_, plain_->plain_costs_us());
    for (const auto& [key, ids] : by_key_)
      if (is_known_[ids[0]]) learn_from(ids[0]);
    raise_bounds();
  }

  void drop_dominated() {
    int& pruned = pruned_["dominated_implementation"];
    const std::vector<bool> dominated = plain_->dominated();
    for (size_t id = 0; id < dominated.size(); ++id) {
      Column& column = columns_.problem.columns[id];
      // The rival has nothing else where what dominates turns out to be refused.
      if (!dominated[id] || column.measured || is_known_[id] || is_rivals(id)) continue;
      drop(column);
      ++pruned;
    }
  }

  // What linear primitives cost alone decides about all that they are fused into. Later than their first
  // look, so that what disturbed that is over.
  void look_again_at_linear_alone() {
    std::vector<int> unusual = plain_->probes();
    std::erase_if(unusual,
                  [&](int id) { return !learned_->is_unusual(by_key_.at(columns_.infos[id].key)[0]); });
    look_again(unusual);
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
    } while (!build(plan.chosen));
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

  // As first_plan, measured; the budget may end before that.
  void find_first_measured_plan() {
    do {
      first_plan_ = first_plan().chosen;
      measure_columns(first_plan_);
    } while (std::any_of(first_plan_.begin(), first_plan_.end(),
                         [&](int id) { return std::isinf(columns_.problem.columns[id].cost_us); }));
  }

  // The budget is spent: the best plan among the columns that are measured, and the bound that all columns
  // give.
  LazyResult choose_measured() {
    budget_exhausted_ = true;
    LazyResult result;
    const SolveOptions options{.time_limit_s = short_solve_s(), .start = first_plan_};
    const double bound_us = solve(columns_.problem, options).bound_us;
    take_quick_costs();
    // Where it was not measured in time, the first plan is what there is.
    const std::set<int> first = as_set(first_plan_);
    for (size_t id = 0; id < is_known_.size(); ++id)
      if (Column& column = columns_.problem.columns[id];
          !column.measured && first.count(static_cast<int>(id)) == 0)
        drop(column);
    result.solution = solve(columns_.problem, options);
    result.solution.bound_us = std::min(bound_us, result.solution.objective_us);
    if (result.solution.status == SolveStatus::optimal) result.solution.status = SolveStatus::feasible;
    return result;
  }

  double short_solve_s() const {
    constexpr double kShare = 0.04;  // of the whole budget; there are two
    return kShare * options_.budget_s;
  }

  // Costs stay bounds, but every chosen kernel must exist: refused ones leave the program. Bounds tell too
  // little of costs for a long proof.
  LazyResult choose_on_bounds() {
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
    result.solution = solve_buildable(
        columns_.problem, [&](const std::vector<int>& plan) { return build(plan); }, options);
    budget_exhausted_ = deadline_.is_over();
    return result;
  }

  // Every kernel of the plan; false where some cannot be, which leave the program.
  bool build(const std::vector<int>& plan) {
    std::vector<KernelRequest> requests;
    for (int id : plan)
      if (columns_.infos[id].kind != ColumnInfo::Kind::view)
        requests.push_back(kernel_request(graph_, columns_, id));
    bank_.build(requests);
    bool complete = true;
    for (const KernelRequest& request : requests) {
      const Result<BuiltKernel>& built = *bank_.find(request.key);
      if (built) continue;
      complete = false;
      count_refusal(built.refusal());
      for (int id : by_key_.at(request.key)) drop(columns_.problem.columns[id]);
    }
    return complete;
  }

  // Looks at the cost of these columns, quickly the first time and thoroughly the second, which is final: of
  // many quick looks the lowest is flattery. Every column of the same key gets the same cost.
  void measure_columns(const std::vector<int>& ids) {
    look(ids, [this](int id) -> std::optional<Care> {
      if (columns_.problem.columns[id].measured) return std::nullopt;
      return is_known_[id] ? Care::thorough : Care::quick;
    });
    raise_bounds();
  }

  // One more look at those of these columns that may cost less.
  void look_again(const std::vector<int>& ids) {
    look(ids, [this](int id) -> std::optional<Care> {
      const Column& column = columns_.problem.columns[id];
      if (!column.may_cost_less) return std::nullopt;
      return column.measured ? Care::twice : Care::thorough;
    });
    raise_bounds();
  }

  // One look at each kernel of these columns, with the care that `care_of` its first column wants, if any.
  template <typename CareOf>
  void look(const std::vector<int>& ids, const CareOf& care_of) {
    std::map<Care, std::vector<KernelRequest>> requests;
    std::unordered_set<Hash, HashHasher> seen;
    for (int id : ids)
      if (const std::optional<Care> care = care_of(id); care && seen.insert(columns_.infos[id].key).second)
        requests[*care].push_back(kernel_request(graph_, columns_, id));
    for (const auto& [care, of_care] : requests) measure_kernels(of_care, care);
  }

  void measure_kernels(const std::vector<KernelRequest>& requests, Care care) {
    // Compiled together, then measured; progress and budget are seen in between.
    constexpr size_t kFew = 4, kMany = 16;
    const size_t batch_size = options_.budget_s > 0 ? kFew : kMany;
    for (size_t i = 0; i < requests.size(); i += batch_size) {
      throw_if_interrupted();
      if (options_.progress)
        options_.progress("solve", measured_keys_ + static_cast<int64_t>(i),
                          measured_keys_ + static_cast<int64_t>(requests.size()));
      deadline_.check();
      const std::vector<KernelRequest> batch(requests.begin() + i,
                                             requests.begin() + std::min(i + batch_size, requests.size()));
      bank_.measure(batch, care);
      for (const KernelRequest& request : batch) record(*bank_.find(request.key), by_key_.at(request.key));
    }
    measured_keys_ += static_cast<int64_t>(requests.size());
  }

  void count_refusal(const Refusal& refusal) {
    ++columns_.refused[name(refusal.reason)];
    refusal_examples_.emplace(refusal.reason, refusal.detail);
  }

  void record(const Result<BuiltKernel>& built, const std::vector<int>& ids) {
    if (!built) count_refusal(built.refusal());
    const bool first_look = !is_known_[ids[0]];
    for (int id : ids) {
      Column& column = columns_.problem.columns[id];
      column.cost_us = built ? built.value().cost->us : std::numeric_limits<double>::infinity();
      column.measured = !built || built.value().cost->care >= Care::thorough;
      column.may_cost_less = built && built.value().cost->care < Care::twice;
      is_known_[id] = true;
    }
    if (!built || !learned_) return;
    if (!first_look) return learned_->correct(ids[0], columns_.problem.columns[ids[0]].cost_us);
    learned_violations_ += columns_.problem.columns[ids[0]].cost_us < learned_->bound_us(ids[0]);
    learn_from(ids[0]);
  }

  void learn_from(int id) {
    const double cost_us = columns_.problem.columns[id].cost_us;
    if (std::isfinite(cost_us)) learned_->observe(id, cost_us);
  }

  void raise_bounds() {
    if (!learned_) return;
    learned_->correct_plain(plain_->plain_costs_us());
    for (size_t id = 0; id < columns_.infos.size(); ++id)
      if (Column& column = columns_.problem.columns[id]; !column.measured && !is_known_[id])
        column.cost_us = learned_->bound_us(static_cast<int>(id));
  }

  // A quick look is final where nobody wanted a thorough one.
  void take_quick_costs() {
    for (size_t id = 0; id < is_known_.size(); ++id)
      if (is_known_[id]) columns_.problem.columns[id].measured = true;
  }

  static void drop(Column& column) {
    column.measured = true;
    column.may_cost_less = false;
    column.cost_us = std::numeric_limits<double>::infinity();
  }

  const Graph& graph_;
  const Graph& base_;
  const Target& target_;
  const CompileOptions& options_;
  Database* database_;
  Strikes* strikes_;
  const Deadline deadline_;
  const CandidateSet& rival_groups_;
  std::map<std::string, int> pruned_;
  Columns& columns_;
  KernelBank& bank_;
  std::unordered_map<Hash, std::vector<int>, HashHasher> by_key_;
  std::vector<bool> is_known_;        // of each column: someone has looked at its cost
  std::optional<PlainLinear> plain_;  // with learned_
  std::optional<LearnedBounds> learned_;
  int learned_violations_ = 0;  // as in SolveMemo
  int kernels_ = 0;             // as in SolveMemo
  int64_t measured_keys_ = 0;
  bool budget_exhausted_ = false;
  std::map<RefusalReason, std::string> refusal_examples_;
  std::vector<std::string> limits_;
  std::vector<int> first_plan_;  // of a compilation with a budget
  Solution rival_;               // its kernels measured thoroughly, before the program is solved; empty: none
  Solution unchanged_;           // as plan_without_alternatives
};

}  // namespace

Choice choose_plan(const ChoiceRequest& request, Columns& columns, KernelBank& bank) {
  PlanChooser chooser(request, columns, bank);
  SolveMemo solved = chooser.remembered_choice();
  return {std::move(solved), chooser.refusal_examples(), chooser.limits()};
}

}  // namespace korch
