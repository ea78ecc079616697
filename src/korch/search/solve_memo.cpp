#include "korch/search/solve_memo.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "korch/base/json.h"
#include "korch/base/printable.h"

namespace korch {
namespace {

using Json = nlohmann::json;

constexpr double kNever = 1e300;  // JSON has no infinity

// Each column finds its inputs and is chosen once, and in the end there is what is required.
bool can_run(const Problem& problem, const SolveMemo& memo) {
  const int listed = static_cast<int>(problem.columns.size());
  std::vector<int> chosen = memo.solution.chosen;
  for (int& id : chosen)
    if (id >= listed && static_cast<size_t>(id - listed) < memo.rescheduled.size())
      id = memo.rescheduled[static_cast<size_t>(id - listed)].column;
  const bool are_listed = std::ranges::all_of(
      memo.rescheduled, [&](const Rescheduled& r) { return r.column >= 0 && r.column < listed; });
  if (!are_listed) return false;
  std::set<int> there(problem.available.begin(), problem.available.end()), seen;
  const auto all_there = [&](const std::vector<int>& tensors) {
    return std::all_of(tensors.begin(), tensors.end(), [&](int tensor) { return there.contains(tensor); });
  };
  for (int id : chosen) {
    if (id < 0 || static_cast<size_t>(id) >= problem.columns.size() || !seen.insert(id).second) return false;
    const Column& column = problem.columns[id];
    if (!all_there(column.inputs)) return false;
    there.insert(column.outputs.begin(), column.outputs.end());
  }
  return all_there(problem.required);
}

// The fields that are in the text as they are, listed once.
template <typename Memo, typename Visit>
void visit_memo(Memo& memo, const Visit& visit) {
  auto& s = memo.solution;
  visit("chosen", s.chosen), visit("objective_us", s.objective_us), visit("bound_us", s.bound_us);
  visit("rounds", s.rounds), visit("cuts", s.cuts), visit("seconds", s.seconds);
  visit("certified", memo.certified), visit("kernels", memo.kernels), visit("measured", memo.measured);
  visit("bound_violations", memo.bound_violations), visit("learned_violations", memo.learned_violations);
  visit("bounded_low", memo.bounded_low), visit("audited", memo.audited);
  visit("audited_below", memo.audited_below);
  visit("refused", memo.refused), visit("pruned", memo.pruned), visit("struck", memo.struck);
  visit("cost_us", memo.cost_us), visit("is_measured", memo.is_measured), visit("disturbed", memo.disturbed);
}

}  // namespace

std::string to_json(const SolveMemo& memo) {
  Json json = {{"status", static_cast<int>(memo.solution.status)},
               {"rescheduled", Json::array()},
               {"whole_runs", Json::array()}};
  visit_memo(memo, [&](const char* name, const auto& field) { json[name] = field; });
  for (Json& cost : json["cost_us"])
    if (std::isinf(cost.get<double>())) cost = kNever;
  for (const Rescheduled& r : memo.rescheduled)
    json["rescheduled"].push_back({r.column, r.schedule, r.cost_us});
  for (const WholeRun& run : memo.whole_runs)
    json["whole_runs"].push_back({run.plan, run.predicted_us, run.measured_us});
  return json.dump();
}

std::optional<SolveMemo> solve_memo_from_json(const std::string& text, const Problem& problem) {
  const size_t columns = problem.columns.size();
  try {
    const Json json = Json::parse(text);
    SolveMemo memo;
    const int status = json.at("status");
    if (status < 0 || status > static_cast<int>(SolveStatus::unknown)) return std::nullopt;
    memo.solution.status = static_cast<SolveStatus>(status);
    visit_memo(memo, [&](const char* name, auto& field) { json.at(name).get_to(field); });
    for (double& cost : memo.cost_us)
      if (cost == kNever) cost = std::numeric_limits<double>::infinity();
    for (const Json& r : json.at("rescheduled")) memo.rescheduled.push_back({r.at(0), r.at(1), r.at(2)});
    for (const Json& run : json.at("whole_runs"))
      memo.whole_runs.push_back({run.at(0), run.at(1), run.at(2)});
    memo.disturbed = printable(memo.disturbed);
    const bool fits =
        memo.cost_us.size() == columns && memo.is_measured.size() == columns && can_run(problem, memo);
    return fits ? std::optional(std::move(memo)) : std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace korch
