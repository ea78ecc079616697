#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include "korch/backend/backend.h"
#include "korch/base/file_roles.h"
#include "korch/base/files.h"
#include "korch/base/hash.h"
#include "korch/base/interrupt.h"
#include "korch/base/stopwatch.h"
#include "korch/base/usable_cpus.h"
#include "korch/candidate/enumerate.h"
#include "korch/candidate/execution_states.h"
#include "korch/driver/compile_part.h"
#include "korch/driver/dumps.h"
#include "korch/driver/executable_contests.h"
#include "korch/driver/heal.h"
#include "korch/driver/planning_speeds.h"
#include "korch/driver/solve_report.h"
#include "korch/driver/stage_deadlines.h"
#include "korch/driver/whole_runs.h"
#include "korch/fission/fission.h"
#include "korch/inspect/check_time.h"
#include "korch/inspect/plan_graph.h"
#include "korch/inspect/saved_inputs.h"
#include "korch/inspect/special_values.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "korch/onnx/import.h"
#include "korch/package/plan_tasks.h"
#include "korch/plan/plan_json.h"
#include "korch/profile/footprint.h"
#include "korch/rewrite/alternatives.h"
#include "korch/search/bank_costs.h"
#include "korch/search/columns.h"
#include "korch/search/launch_variants.h"
#include "korch/search/plan_builder.h"
#include "korch/search/random_plan.h"

namespace korch {
namespace {

// Primitives of a network whose program is solved in tens of seconds. The solver's work grows faster than the
// program, and the enumeration's limits leave less and less of each part.
constexpr int kLargestProgram = 4000;

// What one pass over the stages that healing does again makes.
struct Attempt {
  PlanReport report;  // what the stages before the plan have to tell
  Rewritten rewritten;
  std::map<NodeId, std::string> rule_of;  // of alternatives
  std::vector<Candidate> candidates;
  CandidateSet greedy_groups;
  std::unordered_map<Hash, bool, HashHasher> has_kernel;
  size_t first_optional = std::numeric_limits<size_t>::max();  // candidate: those before are greedy's
                                                               // groups and single primitives
  Columns columns;
  std::optional<KernelBank> bank;
  Choice choice;
  BuiltPlan built;
  std::vector<Placement> placements;
  std::optional<Fault> fault;  // of the finished executable, of which then there is no file
};

// State of one compilation: what the stages share.
class Compilation {
 public:
  Compilation(const std::string& name, const CompileOptions& options)
      : name_(name), options_(options), dumps_(options.dump_dir, files_), deadlines_(options.budget_s) {
    if (options_.strategy == Strategy::random) options_.measure = false;
  }

  FileRoles& files() { return files_; }
  std::vector<std::string>& warnings() { return result_.warnings; }

  CompileResult run(const std::function<Graph()>& import, const std::string& output, BuiltPlan* part) {
    import_ = import;
    output_ = output;
    part_ = part;
    reserve_files();
    target_ = target_device(options_.target, options_.threads);
    const Backend& backend = backend_of(target_);
    target_.library_calls = target_.library_calls && !options_.self_contained && backend.calls_libraries();
    if (options_.stop_after.empty()) require_complete(backend);
    if (options_.measure && (options_.stop_after.empty() || options_.stop_after == "plan"))
      require_measurable(target_);
    if (runs_here()) warn(crowding(target_.workers, usable_cpus()));
    for (const StageRow& stage : std::span(kStages).first(kDoneOnce))
      if (!pass(stage)) return result_;
    report_warnings();
    strikes_.emplace(database_.get(), target_);
    Healer healer(output, target_, strikes());
    while (const std::optional<Fault> fault = plan_and_package())
      for (std::string& warning : healer.heal(*fault, options_))
        result_.warnings.push_back(std::move(warning));
    if (deadlines_.whole().is_over() && options_.stop_after.empty())
      result_.warnings.push_back(fmt::format("compiling took {:.1f} s, more than the budget of {:.0f} s",
                                             options_.budget_s - deadlines_.whole().left_s(),
                                             options_.budget_s));
    report_warnings();
    return result_;
  }

  // Those after which a compilation can end, in order (--stop-after).
  static std::vector<std::string> stages_to_stop_after() {
    std::vector<std::string> names;
    for (const StageRow& stage : kStages)
      if (stage.may_be_last) names.push_back(stage.name);
    return names;
  }

 private:
  // A step of the pipeline. What it makes is kept in this object, verified, and written into the dump folder.
  struct StageRow {
    const char* name;
    void (Compilation::*run)();
    void (Compilation::*verify)() const = nullptr;
    const char* dump_file = nullptr;
    std::string (Compilation::*dump)() const = nullptr;
    bool may_be_last = true;
  };
  static const StageRow kStages[10];
  static constexpr size_t kDoneOnce = 2;  // of them; healing does the others again

  // False when the compilation ends with this stage.
  bool pass(const StageRow& stage) {
    timed(stage.name, [&] { (this->*stage.run)(); });
    if (stage.verify != nullptr) (this->*stage.verify)();
    if (stage.dump_file != nullptr) dumps_.write(stage.dump_file, [&] { return (this->*stage.dump)(); });
    return options_.stop_after != stage.name;
  }

  // From the primitives to the file, without the kernels that were struck.
  std::optional<Fault> plan_and_package() {
    now_.emplace();
    for (const StageRow& stage : std::span(kStages).subspan(kDoneOnce))
      if (!pass(stage)) return std::nullopt;
    return now_->fault;
  }

  void import_network() {
    imported_ = import_();
    // Now every file that the model refers to is known to be another one.
    if (!options_.database_path.empty()) database_ = std::make_unique<Database>(options_.database_path);
    if (!options_.save_inputs.empty()) save_inputs(imported_, options_.save_inputs, files_);
  }

  void break_into_primitives() {
    report_warnings();
    network_ = hash_text(print(imported_)).hex();  // the text has the hashes of the weights
    primitive_ = fission(imported_);
    if (options_.budget_s > 0 && options_.verify && runs_here())
      deadlines_.reserve_for_check(check_seconds(primitive_));
  }

  void add_columns() {
    ColumnOptions column_options;
    column_options.accuracy = options_.accuracy;
    if (options_.strategy == Strategy::published) column_options.layouts = Layouts::row_major;
    column_options.deadline = deadlines_.growing();
    column_options.optional_from = now_->first_optional;
    now_->columns = build_columns(graph(), std::move(now_->candidates), target_, column_options);
  }

  void measure_peaks() {
    PlanningSpeeds speeds = planning_speeds(target_, options_.strategy, database_.get());
    target_ = std::move(speeds.device);
    now_->report.peaks_are = std::move(speeds.are);
    add_doubt(speeds.doubt);
  }

  void add_doubt(const std::string& doubt) {
    if (!doubt.empty()) now_->report.doubts.push_back(doubt);
    warn(doubt);
  }

  // Once, however often it is planned again.
  void warn(const std::string& warning) {
    if (!warning.empty() && std::ranges::find(result_.warnings, warning) == result_.warnings.end())
      result_.warnings.push_back(warning);
  }

  void solve() {
    if (options_.strategy == Strategy::random) {
      now_->choice = choose_at_random(graph(), now_->columns, *now_->bank, options_.random_seed);
      now_->choice.solved.pruned = now_->report.pruned;
    } else {
      BankCosts costs(graph(), now_->columns, *now_->bank, target_);
      ExecutableContests contests(graph(), now_->columns, *now_->bank, target_, options_.accuracy,
                                  options_.schedule.value_or(PlanSchedule::dynamic));
      now_->choice =
          choose_plan({&graph(), &now_->rewritten.base, &target_, search_options(), &costs, &contests,
                       database_.get(), strikes(), now_->greedy_groups, now_->report.pruned},
                      now_->columns);
    }
    if (!options_.measure && now_->choice.solved.measured > 0)
      add_doubt(fmt::format("costs of {} kernels are carried: they were measured before, on {}",
                            now_->choice.solved.measured, target_.name));
    std::vector<std::string>& limits = now_->report.limits;
    limits.insert(limits.end(), now_->choice.limits.begin(), now_->choice.limits.end());
    for (const std::string& doubt :
         doubts_after_measuring(now_->choice.solved, graph(), now_->columns, target_, database_.get()))
      add_doubt(doubt);
  }

  void plan() {
    now_->built = make_plan();
    now_->built.plan.graph = plan_graph(primitive_, now_->rewritten, now_->built.plan);
    timed("launches", [&] { add_launches(); });
    now_->built.plan.report.special_value_limits = special_value_limits(now_->built.plan);
    dumps_.write_kernels(now_->built, target_);
    result_.plan = now_->built.plan;
    result_.compiled += now_->bank->compiled_now();
    result_.measured += now_->bank->measured_now();
    now_->bank.reset();  // hundreds of megabytes for a large network; packaging needs as much
  }

  void add_launches() {
    if (!options_.measure) return;
    LaunchOptions options = options_.launch;
    options.deadline = deadlines_.search();
    korch::add_launches(graph(), now_->columns, *now_->bank, target_, options, now_->built);
  }

  // The plan as a task graph, where it has one.
  void find_tasks() {
    Plan& plan = now_->built.plan;
    add_accesses(now_->built);
    now_->placements = place(plan);
    if (report_tasks(now_->placements, plan.report))
      plan.schedule = options_.schedule.value_or(PlanSchedule::dynamic);
  }

  void finish() {
    now_->fault = package(now_->built);
    result_.plan = std::move(now_->built.plan);
  }

  void verify_tasks() const {
    const std::string fault = fault_of(now_->placements, now_->built.plan);
    KORCH_ASSERT(fault.empty(), fault);
  }
  void verify_imported() const { verify(imported_, Stage::imported); }
  void verify_alternatives() const {
    verify(now_->rewritten.base, Stage::primitive);
    verify(graph(), Stage::primitive);
  }
  std::string imported_text() const { return print(imported_); }
  std::string primitive_text() const { return print(primitive_); }
  std::string alternatives_text() const { return print(graph()); }
  std::string candidates_text() const { return describe(graph(), now_->candidates); }
  std::string columns_text() const { return describe(graph(), now_->columns); }
  std::string tasks_text() const {
    const std::optional<PlanTasks>& tasks = now_->placements[0].tasks;
    return tasks ? print(tasks->graph) : "no tasks\n";
  }
  std::string plan_text() const { return plan_to_json(now_->built.plan); }

  bool runs_here() const { return backend_of(target_).obstacle(target_).empty(); }

  // With alternatives.
  const Graph& graph() const { return now_->rewritten.graph; }

  // Null: healing is off, and what earlier compilations struck counts no more.
  Strikes* strikes() { return options_.heal ? &*strikes_ : nullptr; }

  template <typename F>
  void timed(const std::string& name, F&& f) {
    throw_if_interrupted();
    progress(name, 0, 0);
    const Stopwatch stopwatch;
    const double outer_s = std::exchange(inner_s_, 0);
    f();
    const double seconds = stopwatch.seconds();
    result_.stage_seconds[name] += seconds - inner_s_;
    inner_s_ = outer_s + seconds;
  }

  void report_warnings() {
    if (database_ == nullptr) return;
    for (std::string& warning : database_->take_warnings()) result_.warnings.push_back(std::move(warning));
  }

  void progress(const std::string& name, int64_t done, int64_t total) const {
    if (options_.progress) options_.progress(name, done, total);
  }

  // Before any work: what would be written over something else, or over what is no file, is refused.
  void reserve_files() {
    if (options_.stop_after.empty()) files_.writes("the output", output_);
    if (!options_.database_path.empty()) {
      Database::require_ours(options_.database_path);
      for (const std::string& file : Database::files(options_.database_path))
        files_.writes("the kernel database", file);
    }
    for (const StageRow& stage : kStages)
      if (stage.dump_file != nullptr) dumps_.reserve(stage.dump_file);
  }

  void add_alternatives() {
    Rewritten& rewritten = now_->rewritten;
    rewritten.graph = rewritten.base = primitive_;
    const bool rewrites = options_.strategy != Strategy::greedy && options_.strategy != Strategy::unfused;
    if (!options_.alternatives || !rewrites || is_large(primitive_)) return;
    rewritten = korch::add_alternatives(primitive_, {.strict = options_.accuracy == Accuracy::strict,
                                                     .only = options_.rules,
                                                     .bytes = target_.multiplies_bytes,
                                                     .alternatives = options_.strategy != Strategy::published,
                                                     .deadline = deadlines_.growing()});
    now_->report.pruned = rewritten.limited;
    now_->report.alternative_constant_bytes = rewritten.constant_bytes;
    now_->report.rules = rewritten.rules;
    for (const auto& [id, rule] : now_->rule_of = rewritten.rule_of)
      if (is_computing(rewritten.graph.node(id))) ++now_->report.alternatives[rule];
  }

  static bool is_computing(const Node& node) {
    return !node.dead && info(node.op).category != Category::constant;
  }

  static bool is_large(const Graph& graph) { return computing_nodes(graph) > kLargestProgram; }

  static int computing_nodes(const Graph& graph) {
    int count = 0;
    for (NodeId id = 0; id < graph.node_count(); ++id) count += is_computing(graph.node(id));
    return count;
  }

  void find_candidates() {
    const Graph& base = now_->rewritten.base;
    now_->bank.emplace(graph(), target_, database_.get(), footprint_bytes(primitive_), strikes());
    now_->report.primitives = computing_nodes(base);
    now_->report.execution_states = count_execution_states(base);
    now_->candidates = candidates_of(base);
  }

  std::vector<Candidate> candidates_of(const Graph& base) {
    if (options_.strategy == Strategy::unfused) return unfused_candidates(base);
    if (options_.strategy == Strategy::published) {
      Enumeration enumeration = enumerate_candidates(base, published_kernels());
      now_->report.pruned.merge(enumeration.pruned);
      return std::move(enumeration.candidates);
    }
    if (options_.strategy == Strategy::random) return enumerate_candidates(graph()).candidates;
    Enumeration groups = greedy_candidates(base, [&](const Candidate& c) { return has_kernel(base, c); });
    now_->report.pruned.merge(groups.pruned);
    std::vector<Candidate>& greedy = groups.candidates;
    if (options_.strategy == Strategy::greedy) return std::move(greedy);
    if (is_large(base)) {
      now_->report.limits.push_back(
          fmt::format("program_size: {} primitives, more than {}: without alternatives, of "
                      "all that could be kernels greedy's groups alone",
                      now_->report.primitives, kLargestProgram));
      return std::move(greedy);
    }
    for (const Candidate& candidate : greedy)
      now_->greedy_groups.insert({candidate.nodes, candidate.outputs});
    Enumeration enumeration = enumerate_until(graph(), {}, deadlines_.growing());
    now_->report.pruned.merge(enumeration.pruned);
    // Greedy's groups may be larger than what enumeration grows: with them, no baseline can be better by
    // construction.
    CandidateSet known;
    for (const Candidate& candidate : enumeration.candidates)
      known.insert({candidate.nodes, candidate.outputs});
    for (Candidate& candidate : greedy)
      if (known.count({candidate.nodes, candidate.outputs}) == 0)
        enumeration.candidates.push_back(std::move(candidate));
    if (options_.budget_s > 0) put_least_first(enumeration.candidates);
    return std::move(enumeration.candidates);
  }

  // What makes greedy's plan, and single primitives where a kernel of that is refused.
  void put_least_first(std::vector<Candidate>& candidates) {
    const auto rest = std::stable_partition(candidates.begin(), candidates.end(), [&](const Candidate& c) {
      return c.nodes.size() == 1 || now_->greedy_groups.count({c.nodes, c.outputs}) != 0;
    });
    now_->first_optional = static_cast<size_t>(rest - candidates.begin());
  }

  SearchOptions search_options() const {
    return {.measure = options_.measure,
            .carried = !runs_here(),
            .exhaustive = options_.exhaustive,
            .bounds = options_.bounds,
            .budget_s = options_.budget_s,
            .deadline = deadlines_.search(),
            .progress = [this](int64_t done, int64_t total) { progress("solve", done, total); }};
  }

  // Ids of the base are those of the graph with alternatives.
  bool has_kernel(const Graph& graph, const Candidate& candidate) {
    const Hash hash = canonical_hash(graph, candidate);
    const auto found = now_->has_kernel.find(hash);
    if (found != now_->has_kernel.end()) return found->second;
    bool any = false;
    for (const Implementation& way : implementations(graph, candidate, target_, options_.accuracy))
      any = any || now_->bank->is_offered({kernel_key(hash, way), &candidate, &way, {}, {}, {}});
    return now_->has_kernel[hash] = any;
  }

  BuiltPlan make_plan() {
    const Columns& columns = now_->columns;
    const Choice& choice = now_->choice;
    const SolveMemo& solved = choice.solved;
    const Solution& solution = solved.solution;
    if (solution.status == SolveStatus::infeasible)
      throw Error(kind_without_plan(choice),
                  "no plan exists: " + missing_kernels(graph(), columns, choice.refusal_examples));
    if (solution.status == SolveStatus::unknown)
      throw Error(ErrorKind::resource, "the solver found no plan within its time limit");
    BuiltPlan built = build_plan(graph(), columns, solution.chosen, *now_->bank, target_, options_.accuracy);
    PlanReport& report = built.plan.report;
    report.device = target_;
    report.peaks_are = now_->report.peaks_are;
    report.doubts = now_->report.doubts;
    report.primitives = now_->report.primitives;
    report.execution_states = now_->report.execution_states;
    report.pruned = solved.pruned;
    report.rules = now_->report.rules;
    report.alternatives = now_->report.alternatives;
    report.alternative_constant_bytes = now_->report.alternative_constant_bytes;
    report.limits = now_->report.limits;
    std::set<NodeId> computed;
    for (int id : solution.chosen) {
      const ColumnInfo& info = columns.infos[id];
      if (info.kind == ColumnInfo::Kind::view) computed.insert(info.view_node);
      if (info.kind != ColumnInfo::Kind::kernel) continue;
      const auto& nodes = columns.candidates[info.candidate].nodes;
      computed.insert(nodes.begin(), nodes.end());
    }
    for (NodeId id : computed)
      if (const auto rule = now_->rule_of.find(id); rule != now_->rule_of.end())
        ++report.alternatives_used[rule->second];
    report.model = name_;
    report.network = network_;
    report.target = fmt::format("{}, {} threads, {}", target_.code, target_.workers, target_.name);
    report_solve(solved, columns, options_, report);
    if (strikes() != nullptr) report.struck = strikes()->met();
    return built;
  }

  static ErrorKind kind_without_plan(const Choice& choice) {
    if (choice.refusal_examples.count(RefusalReason::struck) != 0) return ErrorKind::accuracy;
    if (choice.refusal_examples.count(RefusalReason::out_of_memory) != 0) return ErrorKind::resource;
    return ErrorKind::unsupported;
  }

  // Kernels read and write the bytes of stored types; who calls the executable is told what they stand for.
  void state_stored_types(std::vector<PlanIo>& ios, const std::vector<ValueId>& values) const {
    for (size_t i = 0; i < ios.size(); ++i)
      if (const DType dtype = imported_.value(values[i]).type.dtype; is_storage(dtype))
        ios[i].type.dtype = dtype;
  }

  // Writes a draft, runs it whole: against the interpreter, and for its latency. What the database remembers
  // of this very plan, code and weights included, is not done again. A draft that is at fault is not kept.
  std::optional<Fault> package(BuiltPlan& built) {
    state_stored_types(built.plan.inputs, imported_.inputs());
    state_stored_types(built.plan.outputs, imported_.outputs());
    PackageInput input{&built.plan,
                       std::move(now_->placements),
                       std::move(built.objects),
                       std::move(built.constant_bytes),
                       plan_to_json(built.plan),
                       target_};
    if (runs_here() && (options_.verify || options_.measure)) {
      const Hash key = plan_key(input, target_);
      TempDir folder;
      const std::string draft = folder.path() + "/draft.so";
      bool drafted = false;
      const auto draft_path = [&]() -> const std::string& {
        if (!std::exchange(drafted, true)) write_executable(input, draft);
        return draft;
      };
      if (!remembered(key, "verified")) {
        std::optional<Fault> fault;
        timed("verify", [&] { fault = find_fault_in_time(built, draft_path(), key); });
        if (fault) return fault;
      }
      if (options_.measure)
        timed("measure plan", [&] {
          const WholeRuns runs{database_.get(), key, draft_path, deadlines_.whole()};
          run_whole(built.plan, runs);
        });
      input.plan_json = plan_to_json(built.plan);
    }
    if (part_ != nullptr)
      *part_ = {built.plan, std::move(input.objects), {}, {}, std::move(input.constant_bytes), {}, {}};
    else
      write_executable(std::move(input), output_);
    return std::nullopt;
  }

  void run_whole(Plan& plan, const WholeRuns& runs) const {
    if (!options_.schedule) runs.choose_schedule(plan, options_.launch.least);
    plan.report.measured_us = runs.latency_us(plan);
    if (plan.report.measured_us == 0)
      plan.report.limits.push_back("budget: it ended before the executable was run whole");
  }

  // What is not done, because the budget ends or a loop does not, is said.
  std::optional<Fault> find_fault_in_time(BuiltPlan& built, const std::string& draft, const Hash& key) {
    std::string suspicion;
    try {
      std::optional<Fault> fault =
          find_fault(imported_, built.plan, draft, output_, options_.verify, deadlines_.check());
      if (!fault && options_.verify && database_ != nullptr)
        database_->put_text(hash_text(key.hex() + "verified"), "yes");
      return fault;
    } catch (const Undecided& undecided) {
      suspicion = "; it may be wrong: " + undecided.what;
    } catch (const BudgetSpent&) {
    } catch (const LoopWithoutEnd& error) {
      result_.warnings.push_back(
          fmt::format("the executable is not verified: on random inputs {}", error.what()));
      return std::nullopt;
    }
    const bool is_budget = options_.budget_s > 0;
    built.plan.report.limits.push_back(fmt::format("{}: it ended before the executable was verified{}",
                                                   is_budget ? "budget" : "check", suspicion));
    result_.warnings.push_back(
        fmt::format("the executable is not verified: the {} was spent (korch verify does it){}",
                    is_budget ? "budget" : "time for the check", suspicion));
    return std::nullopt;
  }

  bool remembered(const Hash& key, const char* what) const {
    return database_ != nullptr && database_->get_text(hash_text(key.hex() + what)).has_value();
  }

  const std::string name_;  // of the network's file
  CompileOptions options_;
  FileRoles files_;
  const Dumps dumps_;
  StageDeadlines deadlines_;
  std::function<Graph()> import_;
  std::string output_;
  BuiltPlan* part_ = nullptr;  // takes the plan instead of the file
  Device target_;
  std::unique_ptr<Database> database_;
  std::optional<Strikes> strikes_;
  Graph imported_, primitive_;
  std::string network_;  // hash of `imported_`
  std::optional<Attempt> now_;
  CompileResult result_;
  double inner_s_ = 0;  // spent in what is timed within the current stage
};

const Compilation::StageRow Compilation::kStages[] = {
    {"import", &Compilation::import_network, &Compilation::verify_imported, "1-imported.txt",
     &Compilation::imported_text},
    {"fission", &Compilation::break_into_primitives, nullptr, "2-primitive.txt",
     &Compilation::primitive_text},
    {"alternatives", &Compilation::add_alternatives, &Compilation::verify_alternatives, "2-alternatives.txt",
     &Compilation::alternatives_text},
    {.name = "peaks", .run = &Compilation::measure_peaks, .may_be_last = false},
    {"candidates", &Compilation::find_candidates, nullptr, "3-candidates.txt", &Compilation::candidates_text},
    {"columns", &Compilation::add_columns, nullptr, "4-columns.txt", &Compilation::columns_text},
    // Now with costs.
    {"solve", &Compilation::solve, nullptr, "4-columns.txt", &Compilation::columns_text, false},
    {"plan", &Compilation::plan, nullptr, "5-plan.json", &Compilation::plan_text},
    {"tasks", &Compilation::find_tasks, &Compilation::verify_tasks, "6-tasks.txt", &Compilation::tasks_text,
     false},
    {.name = "package", .run = &Compilation::finish, .may_be_last = false},
};

}  // namespace

std::vector<std::string> stages_to_stop_after() {
  return Compilation::stages_to_stop_after();
}

CompileResult compile_part(const std::string& name, const CompileOptions& options,
                           const ImportNetwork& import, const std::string& output, BuiltPlan* part) {
  Compilation compilation(name, options);
  return compilation.run([&] { return import(compilation.files(), compilation.warnings()); }, output, part);
}

}  // namespace korch
