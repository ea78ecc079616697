#include "korch/driver/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "korch/base/hash.h"
#include "korch/candidate/enumerate.h"
#include "korch/candidate/execution_states.h"
#include "korch/driver/executable_contests.h"
#include "korch/inspect/plan_graph.h"
#include "korch/ir/text.h"
#include "korch/search/bank_costs.h"
#include "korch/search/random_plan.h"
#include "korch/search/strategy.h"

namespace korch {
namespace {

// Primitives of a network whose program is solved in tens of seconds. The solver's work grows faster than the
// program, and the enumeration's limits leave less and less of each part.
constexpr int kLargestProgram = 4000;

bool is_computing(const Node& node) {
  return !node.dead && info(node.op).category != Category::constant;
}

int computing_nodes(const Graph& graph) {
  int count = 0;
  for (NodeId id = 0; id < graph.node_count(); ++id) count += is_computing(graph.node(id));
  return count;
}

bool is_large(const Graph& graph) {
  return computing_nodes(graph) > kLargestProgram;
}

// Whether candidates of a graph have a kernel, asked once of those that look alike.
class KernelQuestions {
 public:
  // Ids of the graph are those of the bank's graph.
  KernelQuestions(const Graph& graph, KernelBank& bank, const Setting& setting)
      : graph_(graph), bank_(bank), setting_(setting) {}

  bool operator()(const Candidate& candidate) {
    const Hash hash = canonical_hash(graph_, candidate);
    const auto [known, is_new] = known_.try_emplace(hash, false);
    if (!is_new) return known->second;
    for (const Implementation& way :
         implementations(graph_, candidate, setting_.device, setting_.options.accuracy)) {
      known->second = bank_.is_offered({kernel_key(hash, way), &candidate, &way, {}, {}, {}});
      if (known->second) break;
    }
    return known->second;
  }

 private:
  const Graph& graph_;
  KernelBank& bank_;
  const Setting& setting_;
  std::unordered_map<Hash, bool, HashHasher> known_;
};

// All of `rewritten.graph`, with greedy's groups, which may be larger than what enumeration grows: with them,
// no baseline can be better by construction.
void add_enumerated(const Rewritten& rewritten, const Setting& setting, std::vector<Candidate> greedy,
                    Candidates& result) {
  for (const Candidate& candidate : greedy) result.greedy_groups.insert({candidate.nodes, candidate.outputs});
  Enumeration enumeration =
      enumerate_until(rewritten.graph, linear_context(), {}, setting.deadlines.growing());
  result.pruned.merge(enumeration.pruned);
  result.all = std::move(enumeration.candidates);
  CandidateSet known;
  for (const Candidate& candidate : result.all) known.insert({candidate.nodes, candidate.outputs});
  for (Candidate& candidate : greedy)
    if (known.count({candidate.nodes, candidate.outputs}) == 0) result.all.push_back(std::move(candidate));
  if (setting.options.budget_s == 0) return;
  // First what makes greedy's plan, and single primitives where a kernel of that is refused.
  const auto rest = std::stable_partition(result.all.begin(), result.all.end(), [&](const Candidate& c) {
    return c.nodes.size() == 1 || result.greedy_groups.count({c.nodes, c.outputs}) != 0;
  });
  result.first_optional = static_cast<size_t>(rest - result.all.begin());
}

ErrorKind kind_without_plan(const Choice& choice) {
  if (choice.refusal_examples.count(RefusalReason::struck) != 0) return ErrorKind::accuracy;
  if (choice.refusal_examples.count(RefusalReason::out_of_memory) != 0) return ErrorKind::resource;
  return ErrorKind::unsupported;
}

// Of the alternatives there are and of those that the plan computes, how many each rule added.
void report_alternatives(const Rewritten& rewritten, const Columns& columns, const std::vector<int>& chosen,
                         PlanReport& report) {
  report.rules = rewritten.rules;
  report.alternative_constant_bytes = rewritten.constant_bytes;
  for (const auto& [id, rule] : rewritten.rule_of)
    if (is_computing(rewritten.graph.node(id))) ++report.alternatives[rule];
  std::set<NodeId> computed;
  for (int id : chosen) {
    const ColumnInfo& info = columns.infos[id];
    if (info.kind == ColumnInfo::Kind::view) computed.insert(info.view_node);
    if (info.kind != ColumnInfo::Kind::kernel) continue;
    const auto& nodes = columns.candidates[info.candidate].nodes;
    computed.insert(nodes.begin(), nodes.end());
  }
  for (NodeId id : computed)
    if (const auto rule = rewritten.rule_of.find(id); rule != rewritten.rule_of.end())
      ++report.alternatives_used[rule->second];
}

// What was asked for, the size of the program, and what the solver found and proved.
void report_solve(const SolveMemo& solved, const Columns& columns, const CompileOptions& options,
                  PlanReport& report) {
  const Solution& solution = solved.solution;
  report.strategy = name(options.strategy);
  if (options.strategy == Strategy::random) report.strategy += fmt::format(":{}", options.random_seed);
  report.accuracy = name(options.accuracy);
  if (options.accuracy == Accuracy::relaxed) report.accuracy += fmt::format(":{:g}", options.output_error);
  report.solver_status =
      solved.budget_spent ? (options.budget_s > 0 ? "budget spent" : "time spent") : name(solution.status);
  report.objective_us = solution.objective_us;
  report.bound_us = solution.bound_us;
  report.gap =
      solution.objective_us > 0 ? (solution.objective_us - solution.bound_us) / solution.objective_us : 0;
  report.candidates = static_cast<int>(columns.candidates.size());
  report.columns = static_cast<int>(columns.infos.size());
  report.kernels = solved.kernels;
  report.measured = solved.measured;
  report.modelled = columns.estimated ? solved.kernels - solved.measured : solved.modelled;
  report.solves = solution.rounds;
  report.cuts = solution.cuts;
  // Where nothing was measured, the same network gives the same bytes.
  report.solver_s = options.measure != Measure::none ? solution.seconds : 0;
  report.bound_violations = solved.bound_violations;
  report.certified = solved.certified;
  report.bounds =
      columns.estimated
          ? (solved.bounded_low ? "quantiles" : "estimated")
          : name(options.measure != Measure::none && !options.exhaustive ? options.bounds : Bounds::analytic);
  report.learned_violations = solved.learned_violations;
  report.audited = solved.audited;
  report.audited_below = solved.audited_below;
  report.whole_runs = solved.whole_runs;
  report.refused = columns.refused;
  if (options.budget_s == 0 && report.pruned.count("budget") + report.refused.count("budget") +
                                       report.pruned.count("alternatives_budget") >
                                   0)
    report.limits.push_back(fmt::format("growing: alternatives, candidates or columns took longer than {} s",
                                        StageLimits().growing_s));
}

bool is_rewritten(const Graph& primitives, const CompileOptions& options) {
  return options.alternatives && options.strategy != Strategy::greedy &&
         options.strategy != Strategy::unfused && !is_large(primitives);
}

}  // namespace

Imported imported(Graph graph, const std::string& name) {
  std::string hash = hash_text(print(graph)).hex();  // the text has the hashes of the weights
  return {std::move(graph), name, std::move(hash)};
}

bool has_products_of_bytes(const Graph& primitives, const Setting& setting) {
  if (!setting.device.multiplies_bytes || !is_rewritten(primitives, setting.options)) return false;
  RewriteOptions options{.bytes = true, .fold = false, .deadline = setting.deadlines.growing()};
  for (const RewriteRule& rule : rewrite_rules()) {
    const std::vector<std::string>& wanted = setting.options.rules;
    const bool is_wanted =
        wanted.empty() || std::find(wanted.begin(), wanted.end(), rule.name) != wanted.end();
    if (rule.for_bytes && is_wanted) options.only.push_back(rule.name);
  }
  return !options.only.empty() && !add_alternatives(primitives, options).applied.empty();
}

Rewritten with_alternatives(const Graph& primitives, const Setting& setting) {
  const CompileOptions& options = setting.options;
  const Bfloat16Choice narrow = setting.bfloat16 != nullptr ? *setting.bfloat16 : Bfloat16Choice();
  if (is_rewritten(primitives, options))
    return add_alternatives(primitives, {.strict = options.accuracy == Accuracy::strict,
                                         .only = options.rules,
                                         .bytes = setting.device.multiplies_bytes,
                                         .floats = setting.device.is_gpu(),
                                         .bfloat16_products = narrow.taken > 0,
                                         .float_products = narrow.float_products,
                                         .bfloat16_storage = narrow.stored > 0,
                                         .float_results = narrow.float_results,
                                         .deadline = setting.deadlines.growing()});
  Rewritten unchanged;
  unchanged.graph = unchanged.base = primitives;
  return unchanged;
}

Candidates find_candidates(const Rewritten& rewritten, KernelBank& bank, const Setting& setting) {
  const Graph& base = rewritten.base;
  Candidates result;
  result.execution_states = count_execution_states(base);
  result.pruned = rewritten.limited;
  const Strategy strategy = setting.options.strategy;
  if (strategy == Strategy::unfused || strategy == Strategy::random) {
    result.all = strategy == Strategy::unfused
                     ? unfused_candidates(base)
                     : enumerate_candidates(rewritten.graph, linear_context()).candidates;
    return result;
  }
  Enumeration groups = greedy_candidates(base, KernelQuestions(base, bank, setting));
  result.pruned.merge(groups.pruned);
  if (strategy == Strategy::optimal && !is_large(base)) {
    add_enumerated(rewritten, setting, std::move(groups.candidates), result);
    return result;
  }
  if (strategy == Strategy::optimal)
    result.limits.push_back(
        fmt::format("program_size: {} primitives, more than {}: without alternatives, of all that could be "
                    "kernels greedy's groups alone",
                    computing_nodes(base), kLargestProgram));
  result.all = std::move(groups.candidates);
  return result;
}

structures::StructureBook structures_known(const CompileOptions& options) {
  structures::StructureBook book;
  if (!options.block_graphs.empty()) {
    try {
      book.add_file(block::parse_known_groups(read_file(options.block_graphs)), options.block_graphs);
    } catch (const Error& error) {
      throw Error(error.kind(), options.block_graphs + ": " + error.what());
    }
  }
  book.add_shipped();
  return book;
}

void add_structures(const Rewritten& rewritten, const Setting& setting, structures::StructureBook& book,
                    Candidates& candidates) {
  const bool searches = setting.options.strategy == Strategy::optimal && setting.options.structures &&
                        !is_large(rewritten.base);
  if (!searches) return;
  structures::StructuredCandidates found = structures::structured_candidates(
      rewritten.base, setting.device, {.deadline = setting.deadlines.structures()}, book);
  for (Candidate& candidate : found.candidates) candidates.all.push_back(std::move(candidate));
  for (const auto& [rule, count] : found.counts) candidates.pruned[rule] += count;
  for (std::string& limit : found.limits) candidates.limits.push_back(std::move(limit));
}

Columns make_columns(const Rewritten& rewritten, std::vector<Candidate> candidates, size_t first_optional,
                     const Setting& setting) {
  return build_columns(rewritten.graph, std::move(candidates), setting.device,
                       {.accuracy = setting.options.accuracy,
                        .deadline = setting.deadlines.growing(),
                        .optional_from = first_optional});
}

namespace {

// The candidates of `columns` but for those without a kernel, and single primitives where no kernel is left;
// nothing where these are known already.
std::vector<Candidate> with_single_primitives(const Graph& base, const Columns& columns) {
  std::vector<bool> is_left(columns.candidates.size(), false);
  std::set<NodeId> covered;
  for (size_t i = 0; i < columns.infos.size(); ++i) {
    const ColumnInfo& info = columns.infos[i];
    if (info.kind != ColumnInfo::Kind::kernel || std::isinf(columns.problem.columns[i].cost_us)) continue;
    is_left[info.candidate] = true;
    const std::vector<NodeId>& nodes = columns.candidates[info.candidate].nodes;
    covered.insert(nodes.begin(), nodes.end());
  }
  std::vector<Candidate> result;
  CandidateSet known;
  for (size_t i = 0; i < columns.candidates.size(); ++i) {
    known.insert({columns.candidates[i].nodes, columns.candidates[i].outputs});
    if (is_left[i]) result.push_back(columns.candidates[i]);
  }
  bool is_new = false;
  for (Candidate& single : unfused_candidates(base)) {
    if (covered.contains(single.nodes[0]) || known.count({single.nodes, single.outputs}) != 0) continue;
    result.push_back(std::move(single));
    is_new = true;
  }
  return is_new ? result : std::vector<Candidate>{};
}

Choice choose_by_costs(const Rewritten& rewritten, const Candidates& candidates, KernelBank& bank,
                       const Setting& setting, Columns& columns) {
  const CompileOptions& options = setting.options;
  const bool by_model = options.measure == Measure::none && bank.has_model();
  BankCosts costs(rewritten.graph, columns, bank, setting.device, by_model);
  ExecutableContests contests(rewritten.graph, columns, bank, setting.device, options.accuracy,
                              options.schedule.value_or(PlanSchedule::dynamic), setting.clock);
  const SearchOptions search = {.prove = options.measure == Measure::prove,
                                .measure = options.measure != Measure::none,
                                .carried = !is_here(setting.device),
                                .modelled = by_model,
                                .exhaustive = options.exhaustive,
                                .audit = options.audit,
                                .other_schedules = options.other_schedules,
                                .bounds = options.bounds,
                                .budget_s = options.budget_s,
                                .deadline = setting.deadlines.search(),
                                .progress = [&](int64_t done, int64_t total) {
                                  if (options.progress) options.progress("solve", done, total);
                                }};
  return choose_plan({&rewritten.graph, &rewritten.base, &setting.device, search, &costs, &contests,
                      setting.database, setting.strikes, candidates.greedy_groups, candidates.pruned},
                     columns);
}

}  // namespace

Choice choose(const Rewritten& rewritten, const Candidates& candidates, KernelBank& bank,
              const Setting& setting, Columns& columns) {
  const CompileOptions& options = setting.options;
  if (options.strategy == Strategy::random) {
    Choice choice = choose_at_random(rewritten.graph, columns, bank, options.random_seed);
    choice.solved.pruned = candidates.pruned;
    return choice;
  }
  Choice choice = choose_by_costs(rewritten, candidates, bank, setting, columns);
  const bool of_groups = options.strategy == Strategy::greedy || is_large(rewritten.base);
  if (choice.solved.solution.status != SolveStatus::infeasible || !of_groups) return choice;
  std::vector<Candidate> others = with_single_primitives(rewritten.base, columns);
  if (others.empty()) return choice;
  const size_t count = others.size();
  columns = make_columns(rewritten, std::move(others), count, setting);
  choice = choose_by_costs(rewritten, candidates, bank, setting, columns);
  choice.limits.push_back(
      "refused groups: greedy made kernels that cannot be built; their primitives are kernels of their own");
  return choice;
}

BuiltPlan make_plan(const PlanInputs& inputs, KernelBank& bank, const Setting& setting) {
  const auto& [network, primitives, rewritten, candidates, columns, choice, peaks_are, doubts] = inputs;
  const Device& device = setting.device;
  const Solution& solution = choice.solved.solution;
  if (solution.status == SolveStatus::infeasible)
    throw Error(kind_without_plan(choice),
                "no plan exists: " + missing_kernels(rewritten.graph, columns, choice.refusal_examples));
  if (solution.status == SolveStatus::unknown)
    throw Error(ErrorKind::resource, "the solver found no plan within its time limit");
  BuiltPlan built =
      build_plan(rewritten.graph, columns, solution.chosen, bank, device, setting.options.accuracy);
  built.plan.graph = plan_graph(primitives, rewritten, built.plan);
  PlanReport& report = built.plan.report;
  report.model = network.name;
  report.network = network.hash;
  report.target = fmt::format("{}, {} threads, {}", device.code, device.workers, device.name);
  report.device = device;
  report.peaks_are = peaks_are;
  report.doubts = doubts;
  report.primitives = computing_nodes(rewritten.base);
  report.execution_states = candidates.execution_states;
  report.pruned = choice.solved.pruned;
  report.limits = candidates.limits;
  report.limits.insert(report.limits.end(), choice.limits.begin(), choice.limits.end());
  report_alternatives(rewritten, columns, solution.chosen, report);
  report_solve(choice.solved, columns, setting.options, report);
  if (setting.strikes != nullptr) report.struck = setting.strikes->met();
  return built;
}

std::vector<Placement> find_tasks(BuiltPlan& built, const Setting& setting) {
  if (!setting.device.is_gpu()) add_accesses(built);
  std::vector<Placement> placements = place(built.plan, setting.device);
  if (report_tasks(placements, built.plan.report))
    built.plan.schedule = setting.options.schedule.value_or(PlanSchedule::dynamic);
  const std::string fault = fault_of(placements, built.plan);
  KORCH_ASSERT(fault.empty(), fault);
  return placements;
}

}  // namespace korch
