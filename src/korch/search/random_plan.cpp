#include "korch/search/random_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "korch/profile/peak_row.h"
#include "korch/search/plan_builder.h"

namespace korch {
namespace {

constexpr int kWidth = 3;       // of the regression: a plan is wanted, not the best one
constexpr double kSpread = 1;   // of a kind's factor: standard deviation of its logarithm
constexpr double kDear = 1000;  // more than any number of columns costs together, in a small network

// Uniform in (0, 1), and normal by Box and Muller: the standard library's distributions are not the same
// everywhere, and a seed should be.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15 + 0x632be59bd9b4e019) {}
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform()); }
  double exponential() { return -std::log(uniform()); }
  size_t below(size_t limit) { return engine_() % limit; }

 private:
  std::mt19937_64 engine_;
};

class Costs {
 public:
  Costs(const Graph& graph, const Columns& columns, uint64_t seed)
      : graph_(graph), columns_(columns), random_(seed) {}

  void draw(Problem& problem) {
    size_power_ = 2 * random_.uniform();
    for (size_t id = 0; id < columns_.infos.size(); ++id) {
      Column& column = problem.columns[id];
      column.measured = false;  // a view is not free here: a kernel may copy instead
      column.cost_us = factor_of(id) * random_.exponential() + 1e-3;
    }
    if (random_.uniform() < 0.5) favour_one(problem);
  }

 private:
  double kinds_factor(const std::string& kind) {
    const auto [place, is_new] = kinds_.try_emplace(kind, 1);
    if (is_new) place->second = std::exp(kSpread * random_.normal());
    return place->second;
  }

  double factor_of(size_t id) {
    const ColumnInfo& info = columns_.infos[id];
    switch (info.kind) {
      case ColumnInfo::Kind::view:
        return 0.2 * kinds_factor("view") * kinds_factor("view");
      case ColumnInfo::Kind::reorder:
        return 0.5 * kinds_factor("reorder");
      case ColumnInfo::Kind::kernel:
        break;
    }
    const Candidate& candidate = columns_.candidates[info.candidate];
    double factor = std::pow(static_cast<double>(candidate.nodes.size()), size_power_) *
                    kinds_factor(info.implementation.family) *
                    kinds_factor("outputs" + std::to_string(candidate.outputs.size()));
    for (const auto* layouts : {&info.implementation.input_layouts, &info.implementation.output_layouts})
      for (const Layout& layout : *layouts)
        if (!layout.is_row_major()) factor *= std::sqrt(kinds_factor(to_string(layout)));
    // Of alternatives, whose nodes are others than those of what they equal.
    double of_nodes = 1;
    for (const NodeId node : candidate.nodes) of_nodes *= kinds_factor("node" + std::to_string(node));
    return factor * std::pow(of_nodes, 1.0 / std::sqrt(static_cast<double>(candidate.nodes.size())));
  }

  using Kinds = std::map<std::string, std::vector<size_t>>;

  // Kernel columns by their family, by the alternative that they are part of, or by a layout that they read
  // or write.
  enum class By { family, alternative, layout };
  Kinds kinds(By by) const {
    Kinds kinds;
    for (size_t id = 0; id < columns_.infos.size(); ++id) {
      const ColumnInfo& info = columns_.infos[id];
      if (info.kind != ColumnInfo::Kind::kernel) continue;
      if (by == By::family) kinds[info.implementation.family].push_back(id);
      if (by == By::alternative)
        for (const NodeId node : columns_.candidates[info.candidate].nodes)
          if (graph_.value(graph_.node(node).outputs[0]).producers.size() > 1)
            kinds[std::to_string(node)].push_back(id);
      if (by == By::layout)
        for (const auto* layouts : {&info.implementation.input_layouts, &info.implementation.output_layouts})
          for (const Layout& layout : *layouts)
            if (!layout.is_row_major()) kinds[to_string(layout)].push_back(id);
    }
    return kinds;
  }

  void favour_one(Problem& problem) {
    const double draw = random_.uniform();
    Kinds kinds = this->kinds(draw < 0.4 ? By::family : draw < 0.75 ? By::alternative : By::layout);
    if (kinds.empty()) kinds = this->kinds(By::family);
    if (kinds.empty()) return;
    const auto kind = std::next(kinds.begin(), static_cast<int64_t>(random_.below(kinds.size())));
    const size_t chosen = kind->second[random_.below(kind->second.size())];
    const std::vector<int>& covered = problem.columns[chosen].covers;
    for (size_t id = 0; id < problem.columns.size(); ++id) {
      Column& column = problem.columns[id];
      const bool meets = std::any_of(column.covers.begin(), column.covers.end(), [&](int value) {
        return std::binary_search(covered.begin(), covered.end(), value);
      });
      if (meets && id != chosen) column.cost_us *= kDear;
    }
    problem.columns[chosen].cost_us = 1e-3;
  }

  const Graph& graph_;
  const Columns& columns_;
  Random random_;
  double size_power_ = 1;
  std::map<std::string, double> kinds_;
};

// A time limit of zero: no proof.
Solution solve_narrowly(const Problem& problem) {
  Solution solution = solve(problem, {.time_limit_s = 0, .start = {}, .width = kWidth});
  return solution.status == SolveStatus::unknown ? solve(problem) : solution;
}

}  // namespace

Device with_made_up_speeds(Device device) {
  Peaks peaks{1e5, {5e4, 2e4, 1e4, 5e3}, 1};
  peaks.bytes_per_us.resize(device.memory.size(), peaks.bytes_per_us.back());
  return with_peaks(std::move(device), peaks);
}

RandomPlan draw_plan(const Graph& graph, const Columns& columns, KernelBank& bank, uint64_t seed) {
  RandomPlan plan;
  Problem problem = columns.problem;
  Costs(graph, columns, seed).draw(problem);
  for (;;) {
    plan.solution = solve_narrowly(problem);
    std::vector<KernelRequest> requests;
    for (const int id : plan.solution.chosen)
      if (columns.infos[id].kind != ColumnInfo::Kind::view)
        requests.push_back(kernel_request(graph, columns, id));
    bank.build(requests);
    // Only what this draw met: what else the bank knows depends on who drew before.
    std::set<Hash> refused;
    for (const KernelRequest& request : requests) {
      const Result<BuiltKernel>& built = *bank.find(request.key);
      if (built) continue;
      refused.insert(request.key);
      plan.refusal_examples.emplace(built.refusal().reason, built.refusal().detail);
    }
    if (refused.empty()) return plan;
    for (size_t id = 0; id < columns.infos.size(); ++id)
      if (refused.count(columns.infos[id].key) != 0)
        problem.columns[id].cost_us = std::numeric_limits<double>::infinity();
  }
}

Choice choose_at_random(const Graph& graph, const Columns& columns, KernelBank& bank, uint64_t seed) {
  RandomPlan drawn = draw_plan(graph, columns, bank, seed);
  Choice choice;
  Solution& solution = choice.solved.solution = std::move(drawn.solution);
  solution.objective_us = solution.bound_us = 0;  // drawn costs say nothing
  for (int id : solution.chosen) solution.objective_us += columns.problem.columns[id].cost_us;
  std::set<Hash> kernels;
  for (const ColumnInfo& info : columns.infos)
    if (info.kind != ColumnInfo::Kind::view) kernels.insert(info.key);
  choice.solved.kernels = static_cast<int>(kernels.size());
  choice.solved.refused = columns.refused;
  choice.refusal_examples = std::move(drawn.refusal_examples);
  return choice;
}

}  // namespace korch
