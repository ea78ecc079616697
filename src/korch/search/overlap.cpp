#include "korch/search/overlap.h"

#include <algorithm>
#include <cmath>

#include "korch/search/cost_book.h"

namespace korch {
namespace {

constexpr double kClearly = 0.98;
constexpr int kRounds = 3;
constexpr double kSolve_s = 1;  // each

class Search {
 public:
  explicit Search(const OverlapRequest& request)
      : request_(request), columns_(*request.columns), problem_(columns_.problem) {
    for (size_t id = 0; id < problem_.columns.size(); ++id) {
      Column& column = problem_.columns[id];
      if (!column.measured) CostBook::drop(column);
      const bool may_share =
          std::isfinite(column.cost_us) && columns_.infos[id].kind != ColumnInfo::Kind::view;
      occupancy_.push_back(may_share ? request.occupancy(static_cast<int>(id)) : 1);
    }
  }

  std::optional<OverlapPlan> run() {
    if (std::all_of(occupancy_.begin(), occupancy_.end(), [](double share) { return share >= 1; }))
      return std::nullopt;
    const std::optional<SimulatedPlan> given = request_.simulate(request_.plan);
    if (!given) return std::nullopt;
    std::optional<OverlapPlan> best;
    for (int round = 0; round < kRounds; ++round) {
      const std::vector<int> plan = plan_of_shared_costs();
      if (plan.empty()) break;
      const std::optional<SimulatedPlan> simulated = request_.simulate(plan);
      if (!simulated) break;
      if (simulated->end_us < (best ? best->simulated_us : kClearly * given->end_us))
        best = OverlapPlan{plan, cost_us(plan), simulated->end_us};
      if (!learn_from(*simulated)) break;
    }
    return best;
  }

 private:
  double cost_us(const std::vector<int>& plan) const {
    double sum = 0;
    for (int id : plan) sum += columns_.problem.columns[id].cost_us;
    return sum;
  }

  const std::vector<NodeId>& nodes_of(int column) const {
    static const std::vector<NodeId> none;
    const ColumnInfo& info = columns_.infos[column];
    return info.kind == ColumnInfo::Kind::kernel ? columns_.candidates[info.candidate].nodes : none;
  }

  // How much of what the kernel leaves idle others use, so far as is known of what it computes.
  double expected_overlap(int column) const {
    const std::vector<NodeId>& nodes = nodes_of(column);
    double sum = 0;
    for (NodeId node : nodes) {
      const auto known = overlap_.find(node);
      sum += known == overlap_.end() ? 1 : known->second;
    }
    return nodes.empty() ? 1 : sum / static_cast<double>(nodes.size());
  }

  // With a kernel's time, and of what it leaves idle what nobody else uses, as its cost.
  std::vector<int> plan_of_shared_costs() {
    for (size_t id = 0; id < problem_.columns.size(); ++id) {
      const double idle = 1 - occupancy_[id];
      if (idle > 0)
        problem_.columns[id].cost_us =
            columns_.problem.columns[id].cost_us * (1 - idle * expected_overlap(static_cast<int>(id)));
    }
    return solve(problem_, {.time_limit_s = kSolve_s, .start = request_.plan}).chosen;
  }

  // Whether anything is new.
  bool learn_from(const SimulatedPlan& simulated) {
    bool any = false;
    for (const auto& [column, overlap] : simulated.overlaps)
      for (NodeId node : nodes_of(column)) {
        const auto [known, is_new] = overlap_.emplace(node, overlap);
        any = any || is_new || known->second != overlap;
        known->second = overlap;
      }
    return any;
  }

  const OverlapRequest& request_;
  const Columns& columns_;
  Problem problem_;
  std::vector<double> occupancy_;  // by column
  std::map<NodeId, double> overlap_;
};

}  // namespace

std::vector<int> beside_others(const Columns& columns, const std::vector<int>& plan,
                               const HasRounds& has_rounds) {
  std::map<int, size_t> maker;  // of a tensor: a place in the plan
  std::vector<std::vector<bool>> before;
  for (size_t at = 0; at < plan.size(); ++at) {
    const Column& column = columns.problem.columns[plan[at]];
    before.emplace_back(plan.size());
    for (int input : column.inputs) {
      const auto made = maker.find(input);
      if (made == maker.end()) continue;
      before[at][made->second] = true;
      for (size_t i = 0; i < at; ++i) before[at][i] = before[at][i] || before[made->second][i];
    }
    for (int output : column.outputs) maker.emplace(output, at);
  }
  const auto is_step = [&](size_t at) { return columns.infos[plan[at]].kind != ColumnInfo::Kind::view; };
  std::vector<bool> by_rounds(plan.size());
  for (size_t at = 0; at < plan.size(); ++at) by_rounds[at] = is_step(at) && has_rounds(plan[at]);
  const auto waits_for_all = [&](size_t at, size_t of) { return before[at][of] && !by_rounds[of]; };
  std::vector<int> result;
  for (size_t at = 0; at < plan.size(); ++at) {
    bool beside = false;
    for (size_t other = 0; other < plan.size() && !beside; ++other)
      beside = other != at && is_step(other) && !waits_for_all(at, other) && !waits_for_all(other, at);
    if (beside && is_step(at)) result.push_back(plan[at]);
  }
  return result;
}

std::optional<OverlapPlan> overlapping_plan(const OverlapRequest& request) {
  if (beside_others(*request.columns, request.plan, request.has_rounds).empty()) return std::nullopt;
  return Search(request).run();
}

}  // namespace korch
