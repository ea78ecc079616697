#include "korch/driver/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "korch/base/files.h"
#include "korch/base/interrupt.h"
#include "korch/codegen/cpu/compiler.h"
#include "korch/driver/bench.h"
#include "korch/driver/columns.h"
#include "korch/driver/learned_bounds.h"
#include "korch/driver/plain_linear.h"
#include "korch/driver/plan_builder.h"
#include "korch/driver/solve_memo.h"
#include "korch/driver/verify.h"
#include "korch/fission/fission.h"
#include "korch/ir/text.h"
#include "korch/onnx/import.h"
#include "korch/package/package.h"
#include "korch/plan/plan_json.h"
#include "korch/profile/peaks.h"

namespace korch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLeastSolve_s = 1;  // whatever the budget: what finds some plan for the bundled networks

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// State of one compilation: what the stages share.
class Compilation {
 public:
  Compilation(const std::string& name, const CompileOptions& options)
      : name_(name), options_(options), start_(Clock::now()) {}

  CompileResult run(const std::function<Graph()>& import, const std::string& output) {
    target_ = detect_target(options_.target, options_.threads);
    target_.library_calls = !options_.self_contained;
    if (options_.measure && !runs_here(target_.isa))
      throw Error(ErrorKind::usage,
                  fmt::format("this machine cannot run {} code: its kernels cannot be measured here "
                              "(use --no-measure)",
                              name(target_.isa)));
    if (!options_.database_path.empty()) database_ = std::make_unique<Database>(options_.database_path);

    Graph imported = stage("import", import);
    verify(imported, Stage::imported);
    dump("1-imported.txt", [&] { return print(imported); });
    if (stopped("import")) return result_;

    report_warnings();
    const Graph primitive = stage("fission", [&] { return fission(imported); });
    dump("2-primitive.txt", [&] { return print(primitive); });
    if (stopped("fission")) return result_;

    const Peaks peaks = stage("peaks", [&] { return machine_peaks(target_, database_.get()); });
    std::vector<Candidate> candidates = stage("candidates", [&] { return find_candidates(primitive); });
    dump("3-candidates.txt", [&] { return describe(primitive, candidates); });
    if (stopped("candidates")) return result_;

    Columns columns = stage("columns", [&] {
      return build_columns(primitive, std::move(candidates), target_, peaks, options_.accuracy);
    });
    dump("4-columns.txt", [&] { return describe(primitive, columns); });
    if (stopped("columns")) return result_;

    std::optional<KernelBank> bank(std::in_place, primitive, target_, database_.get(),
                                   constant_bytes(primitive));
    const SolveMemo solved = stage("solve", [&] { return remembered_choice(primitive, columns, *bank); });
    dump("4-columns.txt", [&] { return describe(primitive, columns); });  // now with costs
    BuiltPlan built = stage("plan", [&] { return make_plan(primitive, columns, solved, *bank); });
    dump("5-plan.json", [&] { return plan_to_json(built.plan); });
    dump_kernels(built);
    result_.plan = built.plan;
    result_.compiled = bank->compiled_now();
    result_.measured = bank->measured_now();
    bank.reset();  // hundreds of megabytes for a large network; packaging needs as much
    if (stopped("plan")) return result_;

    stage("package", [&] { return package(built, output, imported), 0; });
    result_.plan = std::move(built.plan);
    report_warnings();
    return result_;
  }

 private:
  template <typename F>
  auto stage(const std::string& name, F&& f) -> decltype(f()) {
    throw_if_interrupted();
    progress(name, 0, 0);
    const auto start = Clock::now();
    const double outer_s = std::exchange(inner_stages_s_, 0);
    auto value = f();
    const double seconds = seconds_since(start);
    result_.stage_seconds[name] += seconds - inner_stages_s_;
    inner_stages_s_ = outer_s + seconds;
    return value;
  }

  void report_warnings() {
    if (database_ == nullptr) return;
    for (std::string& warning : database_->take_warnings()) result_.warnings.push_back(std::move(warning));
  }

  void progress(const std::string& name, int64_t done, int64_t total) const {
    if (options_.progress) options_.progress(name, done, total);
  }

  bool stopped(const char* name) const { return options_.stop_after == name; }

  template <typename F>
  void dump(const std::string& file, F&& text) const {
    if (options_.dump_dir.empty()) return;
    make_directories(options_.dump_dir);
    write_file(options_.dump_dir + "/" + file, text());
  }

  void dump_kernels(const BuiltPlan& built) const {
    for (size_t i = 0; i < built.plan.kernels.size(); ++i)
      if (!built.plan.kernels[i].source.empty())
        dump(fmt::format("kernel-{:03}.cpp", i), [&] {
          return fmt::format(
                     "// clang++-19 -std=c++20 -O1 -march={} -mprefer-vector-width=512 -ffp-contract=fast "
                     "-c\n",
                     name(target_.isa)) +
                 built.plan.kernels[i].source;
        });
  }

  std::vector<Candidate> find_candidates(const Graph& graph) {
    verify(graph, Stage::primitive);
    for (NodeId id : graph.topological_order())
      if (info(graph.node(id).op).category != Category::constant) ++report_.primitives;
    if (options_.strategy == Strategy::unfused) return unfused_candidates(graph);
    std::vector<Candidate> greedy =
        greedy_candidates(graph, [&](const Candidate& c) { return has_kernel(graph, c); });
    if (options_.strategy == Strategy::greedy) return greedy;
    for (const Candidate& candidate : greedy) greedy_groups_.insert({candidate.nodes, candidate.outputs});
    Enumeration enumeration = enumerate_candidates(graph);
    report_.pruned = enumeration.pruned;
    // Greedy's groups may be larger than what enumeration grows: with them, no baseline can be better by
    // construction.
    std::set<std::pair<std::vector<NodeId>, std::vector<ValueId>>> known;
    for (const Candidate& candidate : enumeration.candidates)
      known.insert({candidate.nodes, candidate.outputs});
    for (Candidate& candidate : greedy)
      if (known.count({candidate.nodes, candidate.outputs}) == 0)
        enumeration.candidates.push_back(std::move(candidate));
    return std::move(enumeration.candidates);
  }

  bool has_kernel(const Graph& graph, const Candidate& candidate) {
    const Hash hash = canonical_hash(graph, candidate);
    const auto found = has_kernel_.find(hash);
    if (found != has_kernel_.end()) return found->second;
    bool any = false;
    for (const Implementation& way : implementations(graph, candidate, target_, options_.accuracy))
      any = any || generate(graph, candidate, way, target_).ok();
    return has_kernel_[hash] = any;
  }

  static int64_t constant_bytes(const Graph& graph) {
    int64_t bytes = 0;
    for (ValueId v = 0; v < graph.value_count(); ++v)
      if (const HostTensor* constant = graph.constant(v)) bytes += constant->bytes();
    return bytes;
  }

  struct BudgetSpent {};  // thrown by measure_columns, caught in choose

  double budget_left_s() const {
    return options_.budget_s == 0 ? std::numeric_limits<double>::infinity()
                                  : options_.budget_s - seconds_since(start_);
  }

  SolveMemo remembered_choice(const Graph& graph, Columns& columns, KernelBank& bank) {
    const Hash key = hash_text(fmt::format(
        "{}|{}|{}|{}|{}|{}|{}|{}", print(graph), describe(graph, columns), target_.cpu_name, target_.threads,
        compiler_version(), options_.exhaustive, static_cast<int>(options_.bounds), options_.measure));
    if (database_ != nullptr)
      if (const std::optional<std::string> text = database_->get_text(key))
        if (const std::optional<SolveMemo> memo = solve_memo_from_json(*text, columns.infos.size());
            memo && still_measured(graph, columns, bank, *memo))
          return *memo;
    const LazyResult solved = choose(graph, columns, bank);
    const bool contest = options_.strategy == Strategy::optimal && options_.measure &&
                         options_.budget_s == 0 && !solved.solution.chosen.empty();
    const Solution rival = contest ? greedy_plan(graph, columns, bank) : Solution{};
    SolveMemo memo = memo_of(columns, solved);
    if (contest) run_against(graph, columns, bank, rival, memo);
    // What a time limit cut short is remembered too: solving again would take as long and end elsewhere. A
    // budget's is not.
    if (database_ != nullptr && !solved.solution.chosen.empty() && options_.budget_s == 0)
      database_->put_text(key, to_json(memo));
    return memo;
  }

  // The best plan of the groups that greedy fusion forms.
  Solution greedy_plan(const Graph& graph, Columns& columns, KernelBank& bank) {
    std::vector<int> allowed;
    Problem problem = columns.problem;
    for (size_t id = 0; id < columns.infos.size(); ++id) {
      const ColumnInfo& info = columns.infos[id];
      if (info.kind == ColumnInfo::Kind::kernel) {
        const Candidate& candidate = columns.candidates[info.candidate];
        if (greedy_groups_.count({candidate.nodes, candidate.outputs}) == 0) {
          drop(problem.columns[id]);
          continue;
        }
      }
      allowed.push_back(static_cast<int>(id));
    }
    auto measure = [&](const std::vector<int>& ids) {
      measure_columns(graph, columns, bank, ids);
      for (int id : allowed) problem.columns[id] = columns.problem.columns[id];
    };
    return solve_lazily(problem, measure, {}).solution;
  }

  // Kernels measured one by one do not tell what they do to each other. Where greedy's plan is nearly as good
  // by their costs, both are run whole; greedy's takes the place of the solver's when it is faster beyond
  // doubt.
  void run_against(const Graph& graph, const Columns& columns, KernelBank& bank, const Solution& rival,
                   SolveMemo& memo) {
    constexpr double kNearly = 1.15;
    const bool same = std::set<int>(rival.chosen.begin(), rival.chosen.end()) ==
                      std::set<int>(memo.solution.chosen.begin(), memo.solution.chosen.end());
    if (rival.chosen.empty() || same || rival.objective_us > kNearly * memo.solution.objective_us) return;
    SolveMemo other = memo;
    other.solution.chosen = rival.chosen;
    const TempDir folder;
    auto draft = [&](const SolveMemo& choice, const std::string& file) {
      BuiltPlan built = make_plan(graph, columns, choice, bank);
      write_executable({&built.plan, std::move(built.objects), std::move(built.constant_bytes),
                        plan_to_json(built.plan), target_},
                       folder.path() + file);
      return folder.path() + file;
    };
    const std::vector<BenchRow> rows = stage("contest", [&] {
      BenchOptions options;
      options.max_seconds = 10;
      return bench({draft(memo, "/solver.so"), draft(other, "/greedy.so")}, options).rows;
    });
    const WholeRun solvers{"solver's", memo.solution.objective_us, rows[0].median_us};
    const WholeRun greedys{"greedy", rival.objective_us, rows[1].median_us};
    if (rows[1].ratio_high < 1) {
      memo.solution.chosen = rival.chosen;
      memo.whole_runs = {greedys, solvers};
    } else {
      memo.whole_runs = {solvers, greedys};
    }
  }

  // Puts the costs of a memo in place, if the database still has those of the chosen kernels; else all is as
  // before.
  bool still_measured(const Graph& graph, Columns& columns, KernelBank& bank, const SolveMemo& memo) {
    std::vector<KernelRequest> requests;
    for (int id : memo.solution.chosen)
      if (columns.infos[id].kind != ColumnInfo::Kind::view)
        requests.push_back(kernel_request(graph, columns, id));
    if (options_.measure)
      bank.measure(requests);
    else
      bank.build(requests);
    for (int id : memo.solution.chosen) {
      if (columns.infos[id].kind == ColumnInfo::Kind::view) continue;
      const Result<BuiltKernel>& built = *bank.find(columns.infos[id].key);
      if (!built || (options_.measure && built.value().cost->median_us != memo.cost_us[id])) return false;
    }
    for (size_t id = 0; id < columns.infos.size(); ++id) {
      Column& column = columns.problem.columns[id];
      column.measured = memo.is_measured[id] == '1';
      column.cost_us = memo.cost_us[id];
    }
    columns.refused = memo.refused;
    report_.pruned = memo.pruned;
    return true;
  }

  SolveMemo memo_of(const Columns& columns, const LazyResult& solved) const {
    SolveMemo memo;
    memo.solution = solved.solution;
    memo.measured = measured_columns_;
    memo.bound_violations = bound_violations_;
    memo.learned_violations = learned_violations_;
    memo.certified = solved.solution.status == SolveStatus::optimal && bound_violations_ == 0 &&
                     options_.measure && !budget_exhausted_;
    memo.refused = columns.refused;
    memo.pruned = report_.pruned;
    for (const Column& column : columns.problem.columns) {
      memo.cost_us.push_back(column.cost_us);
      memo.is_measured += column.measured ? '1' : '0';
    }
    return memo;
  }

  LazyResult choose(const Graph& graph, Columns& columns, KernelBank& bank) {
    SolveOptions solve_options;
    if (!options_.measure) return choose_on_bounds(graph, columns, bank, solve_options);
    auto measure = [&](const std::vector<int>& ids) { measure_columns(graph, columns, bank, ids); };
    if (options_.budget_s > 0) {
      solve_options.start = first_measured_plan(graph, columns, bank);
      constexpr double kSolving = 0.5;  // share of the time that is left; the rest is for measuring
      solve_options.time_limit_s =
          std::clamp(kSolving * budget_left_s(), kLeastSolve_s, solve_options.time_limit_s);
    }
    try {
      if (options_.exhaustive) {
        std::vector<int> all(columns.infos.size());
        std::iota(all.begin(), all.end(), 0);
        measure(all);
      } else if (options_.bounds == Bounds::learned) {
        measure_linear_alone(graph, columns, bank);
      }
      return solve_lazily(columns.problem, measure, solve_options);
    } catch (const BudgetSpent&) {
      return choose_measured(columns, solve_options.start);
    }
  }

  // Linear primitives alone tell which implementations are hopeless, and bound all they are fused into.
  void measure_linear_alone(const Graph& graph, Columns& columns, KernelBank& bank) {
    const PlainLinear plain(graph, columns);
    measure_columns(graph, columns, bank, plain.probes());
    learned_.emplace(graph, columns, plain.plain_costs_us());
    int& pruned = report_.pruned["dominated_implementation"];
    const std::vector<bool> dominated = plain.dominated();
    for (size_t id = 0; id < dominated.size(); ++id) {
      Column& column = columns.problem.columns[id];
      if (!dominated[id] || column.measured) continue;
      drop(column);
      ++pruned;
    }
    raise_bounds(columns);
  }

  // The best plan by the bounds whose kernels all exist, measured: what a compilation whose budget ends early
  // falls back to.
  std::vector<int> first_measured_plan(const Graph& graph, Columns& columns, KernelBank& bank) {
    for (;;) {
      const std::vector<int> plan =
          solve(columns.problem, {.time_limit_s = short_solve_s(), .start = {}}).chosen;
      measure_columns(graph, columns, bank, plan, /*within_budget=*/false);
      if (std::all_of(plan.begin(), plan.end(),
                      [&](int id) { return std::isfinite(columns.problem.columns[id].cost_us); }))
        return plan;
    }
  }

  // The budget is spent: the best plan among the columns that are measured, and the bound that all columns
  // give.
  LazyResult choose_measured(Columns& columns, const std::vector<int>& start) {
    budget_exhausted_ = true;
    LazyResult result;
    const double bound_us =
        solve(columns.problem, {.time_limit_s = short_solve_s(), .start = start}).bound_us;
    drop_unmeasured(columns);
    result.solution = solve(columns.problem, {.time_limit_s = short_solve_s(), .start = start});
    result.solution.bound_us = std::min(bound_us, result.solution.objective_us);
    if (result.solution.status == SolveStatus::optimal) result.solution.status = SolveStatus::feasible;
    return result;
  }

  double short_solve_s() const {
    constexpr double kShare = 0.1;  // of the whole budget
    return std::max(kLeastSolve_s, kShare * options_.budget_s);
  }

  // Costs stay bounds, but every chosen kernel must exist: refused ones leave the program.
  LazyResult choose_on_bounds(const Graph& graph, Columns& columns, KernelBank& bank,
                              const SolveOptions& options) {
    LazyResult result;
    for (;;) {
      result.solution = solve(columns.problem, options);
      std::vector<KernelRequest> requests;
      for (int id : result.solution.chosen)
        if (columns.infos[id].kind != ColumnInfo::Kind::view)
          requests.push_back(kernel_request(graph, columns, id));
      bank.build(requests);
      bool complete = true;
      for (size_t id = 0; id < columns.infos.size(); ++id) {
        const Result<BuiltKernel>* built = bank.find(columns.infos[id].key);
        if (built == nullptr || built->ok()) continue;
        complete =
            complete && std::count(result.solution.chosen.begin(), result.solution.chosen.end(), id) == 0;
        columns.problem.columns[id].cost_us = std::numeric_limits<double>::infinity();
      }
      if (complete) return result;
    }
  }

  // Measures these columns and gives every column of the same key the same cost.
  void measure_columns(const Graph& graph, Columns& columns, KernelBank& bank, const std::vector<int>& ids,
                       bool within_budget = true) {
    if (by_key_.empty())
      for (size_t i = 0; i < columns.infos.size(); ++i)
        by_key_[columns.infos[i].key].push_back(static_cast<int>(i));
    std::vector<KernelRequest> requests;
    std::unordered_set<Hash, HashHasher> seen;
    for (int id : ids)
      if (!columns.problem.columns[id].measured && seen.insert(columns.infos[id].key).second)
        requests.push_back(kernel_request(graph, columns, id));
    constexpr size_t kBatch =
        16;  // kernels compiled together, then measured; progress and budget are seen in between
    for (size_t i = 0; i < requests.size(); i += kBatch) {
      throw_if_interrupted();
      progress("solve", measured_keys_ + static_cast<int64_t>(i),
               measured_keys_ + static_cast<int64_t>(requests.size()));
      if (within_budget && budget_left_s() < 0) throw BudgetSpent{};
      const std::vector<KernelRequest> batch(requests.begin() + i,
                                             requests.begin() + std::min(i + kBatch, requests.size()));
      bank.measure(batch);
      for (const KernelRequest& request : batch) record(columns, *bank.find(request.key), request.key);
    }
    raise_bounds(columns);
    measured_keys_ += static_cast<int64_t>(requests.size());
  }

  void record(Columns& columns, const Result<BuiltKernel>& built, const Hash& key) {
    if (!built) {
      ++columns.refused[name(built.refusal().reason)];
      refusal_examples_.emplace(built.refusal().reason, built.refusal().detail);
    }
    const std::vector<int>& ids = by_key_.at(key);
    if (built) {
      const double cost_us = built.value().cost->median_us;
      bound_violations_ += cost_us < columns.infos[ids[0]].bound_us;
      learned_violations_ += learned_ && cost_us < learned_->bound_us(ids[0]);
      if (learned_) learned_->observe(ids[0], cost_us);
    }
    for (int id : ids) {
      Column& column = columns.problem.columns[id];
      column.measured = true;
      ++measured_columns_;
      column.cost_us = built ? built.value().cost->median_us : std::numeric_limits<double>::infinity();
    }
  }

  void raise_bounds(Columns& columns) const {
    if (!learned_) return;
    for (size_t id = 0; id < columns.infos.size(); ++id)
      if (!columns.problem.columns[id].measured)
        columns.problem.columns[id].cost_us = learned_->bound_us(static_cast<int>(id));
  }

  static void drop_unmeasured(Columns& columns) {
    for (Column& column : columns.problem.columns)
      if (!column.measured) drop(column);
  }

  static void drop(Column& column) {
    column.measured = true;
    column.cost_us = std::numeric_limits<double>::infinity();
  }

  BuiltPlan make_plan(const Graph& graph, const Columns& columns, const SolveMemo& solved, KernelBank& bank) {
    const Solution& solution = solved.solution;
    if (solution.status == SolveStatus::infeasible)
      throw Error(ErrorKind::unsupported, "no plan exists: " + missing_kernels(graph, columns));
    if (solution.status == SolveStatus::unknown)
      throw Error(ErrorKind::resource, "the solver found no plan within its time limit");
    BuiltPlan built = build_plan(graph, columns, solution.chosen, bank, target_);
    built.plan.flushes_subnormals = options_.accuracy != Accuracy::strict;
    PlanReport& report = built.plan.report;
    report_.recomputed = report.recomputed;
    report = report_;
    report.model = name_;
    report.strategy = options_.strategy == Strategy::optimal  ? "optimal"
                      : options_.strategy == Strategy::greedy ? "greedy"
                                                              : "unfused";
    report.accuracy = options_.accuracy == Accuracy::strict     ? "strict"
                      : options_.accuracy == Accuracy::standard ? "standard"
                                                                : "relaxed";
    report.target = fmt::format("{}, {} threads, {}", name(target_.isa), target_.threads, target_.cpu_name);
    report.solver_status = name(solution.status);
    report.objective_us = solution.objective_us;
    report.bound_us = solution.bound_us;
    report.gap =
        solution.objective_us > 0 ? (solution.objective_us - solution.bound_us) / solution.objective_us : 0;
    report.candidates = static_cast<int>(columns.candidates.size());
    report.columns = static_cast<int>(columns.infos.size());
    report.measured = solved.measured;
    report.solves = solution.rounds;
    report.cycle_cuts = solution.cycle_cuts;
    report.bound_violations = solved.bound_violations;
    report.certified = solved.certified;
    report.bounds = options_.measure && !options_.exhaustive && options_.bounds == Bounds::learned
                        ? "learned"
                        : "analytic";
    report.learned_violations = solved.learned_violations;
    report.whole_runs = solved.whole_runs;
    report.refused = columns.refused;
    return built;
  }

  // Which primitives no kernel computes.
  std::string missing_kernels(const Graph& graph, const Columns& columns) const {
    std::vector<bool> covered(graph.value_count(), false);
    for (const Column& column : columns.problem.columns)
      if (column.cost_us < std::numeric_limits<double>::infinity())
        for (int value : column.covers) covered[value] = true;
    std::string text;
    for (NodeId id : graph.topological_order())
      if (info(graph.node(id).op).category != Category::constant && !covered[graph.node(id).outputs[0]])
        text += "\n  no kernel computes " + print(graph, id);
    for (const auto& [reason, detail] : refusal_examples_)
      text += fmt::format("\n  {}, for example: {}", name(reason), detail);
    return text.empty() ? "the program is infeasible" : text;
  }

  // Writes a draft, runs it whole: against the interpreter, and for its latency. What the database remembers
  // of this very plan, weights included, is not done again.
  void package(BuiltPlan& built, const std::string& output, const Graph& imported) {
    PackageInput input{&built.plan, std::move(built.objects), std::move(built.constant_bytes),
                       plan_to_json(built.plan), target_};
    if (runs_here(target_.isa) && (options_.verify || options_.measure)) {
      const Hash key = plan_key(built.plan, input.plan_json);
      TempDir folder;
      const std::string draft = folder.path() + "/draft.so";
      bool drafted = false;
      const auto draft_path = [&]() -> const std::string& {
        if (!drafted) write_executable(input, draft);
        drafted = true;
        return draft;
      };
      if (options_.verify && !remembered(key, "verified")) {
        stage("verify", [&] { return verify_executable(imported, draft_path(), {.samples = 1}), 0; });
        remember(key, "verified");
      }
      if (options_.measure) built.plan.report.measured_us = whole_latency_us(key, draft_path);
      input.plan_json = plan_to_json(built.plan);
    }
    write_executable(input, output);
  }

  Hash plan_key(const Plan& plan, const std::string& json) const {
    std::string text = json + compiler_version() + target_.cpu_name;
    for (const PlanConstant& constant : plan.constants) text += constant.content.hex();
    return hash_text(text);
  }

  bool remembered(const Hash& key, const char* what) const {
    return database_ != nullptr && database_->get_text(hash_text(key.hex() + what)).has_value();
  }

  void remember(const Hash& key, const char* what) const {
    if (database_ != nullptr) database_->put_text(hash_text(key.hex() + what), "yes");
  }

  template <typename DraftPath>
  double whole_latency_us(const Hash& key, const DraftPath& draft_path) {
    if (database_ != nullptr)
      if (const std::optional<Cost> cost = database_->get_cost(key)) return cost->median_us;
    const BenchRow row = stage("measure plan", [&] {
      BenchOptions options;
      options.rounds = 30;
      options.max_seconds = 3;
      return bench({draft_path()}, options).rows[0];
    });
    if (database_ != nullptr) database_->put_cost(key, {row.median_us, row.p10_us, row.p90_us, row.rounds});
    return row.median_us;
  }

  static std::string describe(const Graph& graph, const Candidate& candidate) {
    std::string text;
    for (NodeId id : candidate.nodes)
      text += fmt::format("{}{}", text.empty() ? "" : " ", name(graph.node(id).op));
    text += " ->";
    for (ValueId output : candidate.outputs) text += " %" + graph.value(output).name;
    return text;
  }

  static std::string describe(const Graph& graph, const std::vector<Candidate>& candidates) {
    std::string text;
    for (const Candidate& candidate : candidates) text += describe(graph, candidate) + "\n";
    return text;
  }

  static std::string describe(const Graph& graph, const Columns& columns) {
    std::string text;
    for (size_t i = 0; i < columns.infos.size(); ++i) {
      const ColumnInfo& info = columns.infos[i];
      if (info.kind != ColumnInfo::Kind::kernel) continue;
      const Column& column = columns.problem.columns[i];
      text += fmt::format("{} | {} | {:.0f} flops, {:.0f} bytes, bound {:.3f} us{}\n",
                          describe(graph, columns.candidates[info.candidate]), to_string(info.implementation),
                          info.implementation.flops, info.implementation.bytes, info.bound_us,
                          column.measured ? fmt::format(", cost {:.3f} us", column.cost_us) : "");
    }
    return text;
  }

  std::string name_;
  CompileOptions options_;
  Clock::time_point start_;
  Target target_;
  std::unique_ptr<Database> database_;
  CompileResult result_;
  PlanReport report_;
  std::unordered_map<Hash, bool, HashHasher> has_kernel_;
  std::unordered_map<Hash, std::vector<int>, HashHasher> by_key_;
  std::set<std::pair<std::vector<NodeId>, std::vector<ValueId>>> greedy_groups_;
  double inner_stages_s_ = 0;  // spent in stages within the current one
  int measured_columns_ = 0;
  std::optional<LearnedBounds> learned_;
  int bound_violations_ = 0, learned_violations_ = 0;  // as in SolveMemo
  int64_t measured_keys_ = 0;
  bool budget_exhausted_ = false;
  std::map<RefusalReason, std::string> refusal_examples_;  // the first of each
};

}  // namespace

CompileResult compile_model(const std::string& model, const std::string& output,
                            const CompileOptions& options) {
  const auto import = [&] {
    ImportOptions import_options;
    import_options.shapes = options.shapes;
    return import_onnx(model, import_options);
  };
  return Compilation(model.substr(model.find_last_of('/') + 1), options).run(import, output);
}

CompileResult compile_graph(const Graph& graph, const std::string& name, const std::string& output,
                            const CompileOptions& options) {
  return Compilation(name, options).run([&] { return graph; }, output);
}

}  // namespace korch
