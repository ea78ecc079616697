#include "korch/search/whole_runs.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "korch/base/stopwatch.h"
#include "korch/search/overlap.h"

namespace korch {
namespace {

constexpr int kLeastRounds = 3;  // a second each in large networks
struct Challenger {
  enum class Kind { greedy, unchanged, overlapping, next } kind;
  CostedPlan plan;
};

const char* name(Challenger::Kind kind) {
  switch (kind) {
    case Challenger::Kind::greedy:
      return "greedy";
    case Challenger::Kind::unchanged:
      return "unchanged network's";
    case Challenger::Kind::overlapping:
      return "overlapping";
    case Challenger::Kind::next:
      return "solver's next";
  }
  return "";
}

std::set<int> as_set(const std::vector<int>& ids) {
  return {ids.begin(), ids.end()};
}

double cost_us(const Columns& columns, const std::vector<int>& plan) {
  double sum = 0;
  for (const int id : plan) sum += columns.problem.columns[id].cost_us;
  return sum;
}

// Each plan once, in the order in which they run.
std::vector<Challenger> challengers(const Columns& columns, CostSource& costs, Contests& contests,
                                    const OtherPlans& others, const Solution& solution) {
  // What a plan may cost: so far off were costs of noisy minutes.
  constexpr double kNearly = 1.5;
  std::vector<Challenger> result;
  std::set<std::set<int>> seen = {as_set(solution.chosen)};
  const auto add = [&](Challenger::Kind kind, const std::vector<int>& chosen) {
    const double us = cost_us(columns, chosen);
    if (!chosen.empty() && us <= kNearly * solution.objective_us && seen.insert(as_set(chosen)).second)
      result.push_back({kind, {us, chosen}});
  };
  add(Challenger::Kind::greedy, others.greedy);
  add(Challenger::Kind::unchanged, others.unchanged);
  if (const auto overlapping = overlapping_plan(
          {&columns, [&](int id) { return costs.occupancy(id); },
           [&](int id) { return costs.has_rounds(id); },
           [&](const std::vector<int>& plan) { return contests.simulate(plan); }, solution.chosen});
      overlapping && seen.insert(as_set(overlapping->chosen)).second)
    result.push_back({Challenger::Kind::overlapping, {overlapping->cost_us, overlapping->chosen}});
  for (const CostedPlan& next : others.next) add(Challenger::Kind::next, next.chosen);
  return result;
}

ContestEffort fine(const WholeRunTimes& times) {
  return {.rounds = 100,
          .min_rounds = kLeastRounds,
          .loadings = times.fine_loadings,
          .max_seconds = times.fine_s};
}

ContestEffort effort_for(Challenger::Kind kind, size_t contests, const WholeRunTimes& times) {
  if (kind == Challenger::Kind::unchanged) return fine(times);
  // What runs side by side differs more from run to run than kernels one after the other.
  return {.rounds = kind == Challenger::Kind::overlapping ? 60 : 15,
          .min_rounds = kLeastRounds,
          .max_seconds = times.all_s / static_cast<double>(contests)};
}

// The first of the memo's runs is the plan that it holds.
void record(const char* name, const CostedPlan& plan, double measured_us, bool is_faster, SolveMemo& memo) {
  memo.whole_runs.insert(is_faster ? memo.whole_runs.begin() : memo.whole_runs.end(),
                         {name, plan.cost_us, measured_us});
  if (is_faster) memo.solution.chosen = plan.chosen;
}

}  // namespace

void run_whole(const Columns& columns, CostSource& costs, Contests& contests, const OtherPlans& others,
               const WholeRunTimes& times, SolveMemo& memo) {
  const std::vector<Challenger> all = challengers(columns, costs, contests, others, memo.solution);
  // Contests are minutes of different noise: times are first relative to the solver's plan, by the
  // contests' ratios.
  double solvers_us = std::numeric_limits<double>::infinity();
  const Stopwatch whole_runs;
  bool is_first_next = true;
  for (const auto& [kind, plan] : all) {
    if (kind == Challenger::Kind::next && !std::exchange(is_first_next, false) &&
        whole_runs.seconds() > times.all_s)
      break;
    const ContestOutcome outcome =
        contests.run(memo.solution.chosen, plan.chosen, effort_for(kind, all.size(), times));
    if (memo.whole_runs.empty()) memo.whole_runs = {{"solver's", memo.solution.objective_us, 1}};
    const double kept_relative = memo.whole_runs[0].measured_us;
    solvers_us = std::min(solvers_us, outcome.kept_us / kept_relative);
    // Between equals the network stays as it is.
    const bool is_faster = (kind == Challenger::Kind::unchanged ? outcome.ratio : outcome.ratio_high) < 1;
    record(name(kind), plan, kept_relative * outcome.ratio, is_faster, memo);
  }
  for (WholeRun& run : memo.whole_runs) run.measured_us *= solvers_us;
}

void run_rescheduled(const Columns& columns, int first_added, Contests& contests, const WholeRunTimes& times,
                     SolveMemo& memo) {
  const std::vector<int> own = memo.solution.chosen,
                         other = with_columns_of(memo.rescheduled, first_added, own);
  const ContestOutcome outcome = contests.run(own, other, fine(times));
  if (memo.whole_runs.empty()) memo.whole_runs = {{"solver's", memo.solution.objective_us, outcome.kept_us}};
  const double us = memo.whole_runs[0].predicted_us - cost_us(columns, own) + cost_us(columns, other);
  record("with other schedules", {us, other}, memo.whole_runs[0].measured_us * outcome.ratio,
         outcome.ratio < 1, memo);
}

}  // namespace korch
