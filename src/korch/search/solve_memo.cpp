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
bool can_run(const Problem& problem, const std::vector<int>& chosen) {
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

}  // namespace

std::string to_json(const SolveMemo& memo) {
  const Solution& s = memo.solution;
  Json costs = Json::array();
  for (double cost : memo.cost_us) costs.push_back(std::isinf(cost) ? kNever : cost);
  Json runs = Json::array();
  for (const WholeRun& run : memo.whole_runs) runs.push_back({run.plan, run.predicted_us, run.measured_us});
  return Json{{"status", static_cast<int>(s.status)},
              {"chosen", s.chosen},
              {"objective_us", s.objective_us},
              {"bound_us", s.bound_us},
              {"rounds", s.rounds},
              {"cuts", s.cuts},
              {"seconds", s.seconds},
              {"certified", memo.certified},
              {"kernels", memo.kernels},
              {"measured", memo.measured},
              {"bound_violations", memo.bound_violations},
              {"learned_violations", memo.learned_violations},
              {"refused", memo.refused},
              {"pruned", memo.pruned},
              {"struck", memo.struck},
              {"cost_us", costs},
              {"is_measured", memo.is_measured},
              {"whole_runs", runs},
              {"disturbed", memo.disturbed}}
      .dump();
}

std::optional<SolveMemo> solve_memo_from_json(const std::string& text, const Problem& problem) {
  const size_t columns = problem.columns.size();
  try {
    const Json json = Json::parse(text);
    SolveMemo memo;
    Solution& s = memo.solution;
    const int status = json.at("status");
    if (status < 0 || status > static_cast<int>(SolveStatus::unknown)) return std::nullopt;
    s.status = static_cast<SolveStatus>(status);
    s.chosen = json.at("chosen").get<std::vector<int>>();
    s.objective_us = json.at("objective_us");
    s.bound_us = json.at("bound_us");
    s.rounds = json.at("rounds");
    s.cuts = json.at("cuts");
    s.seconds = json.at("seconds");
    memo.certified = json.at("certified");
    memo.kernels = json.at("kernels");
    memo.measured = json.at("measured");
    memo.bound_violations = json.at("bound_violations");
    memo.learned_violations = json.at("learned_violations");
    memo.refused = json.at("refused").get<std::map<std::string, int>>();
    memo.pruned = json.at("pruned").get<std::map<std::string, int>>();
    memo.struck = json.at("struck").get<std::vector<std::string>>();
    memo.cost_us = json.at("cost_us").get<std::vector<double>>();
    for (double& cost : memo.cost_us)
      if (cost == kNever) cost = std::numeric_limits<double>::infinity();
    memo.is_measured = json.at("is_measured");
    for (const Json& run : json.at("whole_runs"))
      memo.whole_runs.push_back({run.at(0), run.at(1), run.at(2)});
    memo.disturbed = printable(json.at("disturbed").get<std::string>());
    const bool fits =
        memo.cost_us.size() == columns && memo.is_measured.size() == columns && can_run(problem, s.chosen);
    return fits ? std::optional(std::move(memo)) : std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace korch
