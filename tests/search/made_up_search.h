// A search over a small network with made-up costs and contests: nothing is generated, compiled or run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "korch/candidate/enumerate.h"
#include "korch/codegen/implementation.h"
#include "korch/device/device.h"
#include "korch/search/plan_chooser.h"
#include "korch/search/random_plan.h"
#include "korch/search/strategy.h"

namespace korch {

// Layers with a bias, an activation and a residual. With more than a few, no two share a kernel.
inline Graph layered(int count) {
  constexpr int kFew = 3;
  Graph graph;
  const TensorType type{DType::f32, {8, 32}};
  ValueId x = graph.add_input(type, "x");
  for (int i = 0; i < count; ++i) {
    HostTensor weight(TensorType{DType::f32, {32, 32}}), bias(TensorType{DType::f32, {32}});
    weight.mutable_data<float>()[0] = bias.mutable_data<float>()[0] = static_cast<float>(i);
    const ValueId product = graph.add(Op::MatMul, MatMulAttrs{}, {x, graph.add_constant(weight)});
    const ValueId sum = graph.add(Op::Add, NoAttrs{}, {product, graph.add_constant(bias)});
    const ValueId active = graph.add(Op::Relu, NoAttrs{}, {sum});
    HostTensor own(TensorType{DType::f32, {1}});
    own.mutable_data<float>()[0] = static_cast<float>(i);
    x = graph.add(
        Op::Add, NoAttrs{},
        {x, count <= kFew ? active : graph.add(Op::Mul, NoAttrs{}, {active, graph.add_constant(own)})});
  }
  graph.set_outputs({x}, {"y"});
  return graph;
}

// What every kernel really costs: its bound, times what is drawn for its kind, times what is drawn for it.
// One look in `noise` steps above or below; some kernels do not exist.
class MadeUpCosts : public CostSource {
 public:
  MadeUpCosts(const Columns& columns, uint64_t seed, int refused_of_100)
      : columns_(columns), seed_(seed), refused_of_100_(refused_of_100) {}

  std::vector<Result<Cost>> measure(const std::vector<int>& columns, Care care) override {
    std::vector<Result<Cost>> costs;
    for (int column : columns) {
      ++looks_[care];
      if (!exists(column)) {
        costs.push_back(Refusal{RefusalReason::no_kernel_family, "made up"});
        continue;
      }
      Cost cost;
      cost.us = us(column);
      cost.care = care;
      costs.push_back(cost);
    }
    return costs;
  }
  std::vector<std::optional<Refusal>> build(const std::vector<int>& columns) override {
    std::vector<std::optional<Refusal>> refusals;
    for (int column : columns) {
      ++built_;
      refusals.push_back(exists(column) ? std::nullopt
                                        : std::optional(Refusal{RefusalReason::unproven, "made up"}));
    }
    return refusals;
  }
  double occupancy(int) const override { return 1; }
  bool has_rounds(int) const override { return false; }
  bool has_estimates() const override { return estimate_spread > 0; }
  std::vector<CostEstimate> estimates(const std::vector<int>& columns) override {
    std::vector<CostEstimate> estimates;
    for (int column : columns) {
      const ColumnInfo& info = columns_.infos[column];
      const double error = (draw(info.key.hex(), seed_ + 2, 201) - 100) / 100.0 * estimate_spread;
      estimates.push_back({std::log(1.1 * cost_if_there(info) / info.bound_us) + error, low});
    }
    return estimates;
  }
  std::string estimates_key() const override { return "made up"; }
  // The 5 % quantile of ln(cost / estimate).
  double low = -0.3;
  double estimate_spread =
      0;  // of the estimates' logarithms, which are a tenth too high besides; 0: there are none

  bool exists(int column) const { return std::isfinite(us(column)); }
  double us(int column) const {
    const ColumnInfo& info = columns_.infos[column];
    const bool is_refused =
        info.kind != ColumnInfo::Kind::reorder && draw(info.key.hex(), seed_ + 1, 100) < refused_of_100_;
    return is_refused ? std::numeric_limits<double>::infinity() : cost_if_there(info);
  }
  double cost_if_there(const ColumnInfo& info) const {
    const std::string kind = info.kind == ColumnInfo::Kind::kernel ? info.implementation.family : "reorder",
                      key = info.key.hex();
    const double factor = (1.25 + 0.25 * draw(kind, seed_, 8)) * (1 + 0.01 * draw(key, seed_, 40));
    return info.bound_us * factor * (slow_.contains(info.key) ? 3 : 1);
  }
  // The kernel, whichever of its columns is asked for.
  void slow_down(int column) { slow_.insert(columns_.infos[column].key); }
  int looks(Care care) { return looks_[care]; }
  int built() const { return built_; }

 private:
  static int draw(const std::string& what, uint64_t seed, uint64_t count) {
    return static_cast<int>(hash_text(what + std::to_string(seed)).low % count);
  }
  const Columns& columns_;
  const uint64_t seed_;
  const int refused_of_100_;
  std::set<Hash> slow_;
  std::map<Care, int> looks_;
  int built_ = 0;
};

class MadeUpContests : public Contests {
 public:
  ContestOutcome run(const std::vector<int>& kept, const std::vector<int>& challenger,
                     const ContestEffort& effort) override {
    EXPECT_NE(kept, challenger);
    EXPECT_GE(effort.rounds, effort.min_rounds);
    ++contests;
    const bool is_rescheduled = std::ranges::max(challenger) >= listed;
    const double its_ratio = is_rescheduled ? ratio_of_rescheduled : ratio;
    return {100, its_ratio, its_ratio + 0.01};
  }
  std::optional<SimulatedPlan> simulate(const std::vector<int>&) override { return std::nullopt; }
  int listed = std::numeric_limits<int>::max();  // columns; those behind them have other schedules
  double ratio = 1.1, ratio_of_rescheduled = 1.1;
  int contests = 0;
};

struct Search {
  explicit Search(uint64_t seed = 1, int refused_of_100 = 0, int layer_count = 3)
      : graph(layered(layer_count)), costs(columns, seed, refused_of_100) {
    contests.listed = listed();
  }

  Choice choose(const SearchOptions& options = {}, Database* database = nullptr) {
    return choose_plan({&graph, &graph, &target, options, &costs, &contests, database, nullptr, rivals, {}},
                       columns);
  }
  static Columns columns_of(const Graph& graph, const Device& target, CandidateSet& rivals) {
    std::vector<Candidate> candidates = enumerate_candidates(graph, linear_context()).candidates;
    const std::vector<Candidate> greedy =
        greedy_candidates(graph, [](const Candidate&) { return true; }).candidates;
    CandidateSet known;
    for (const Candidate& candidate : candidates) known.insert({candidate.nodes, candidate.outputs});
    for (const Candidate& candidate : greedy) {
      rivals.insert({candidate.nodes, candidate.outputs});
      if (!known.contains({candidate.nodes, candidate.outputs})) candidates.push_back(candidate);
    }
    return build_columns(graph, std::move(candidates), with_made_up_speeds(target));
  }
  int listed() const { return static_cast<int>(columns.infos.size()); }
  // Greedy's, or no kernel of primitives.
  bool is_of_rivals(int column) const {
    if (columns.infos[column].kind != ColumnInfo::Kind::kernel) return true;
    const Candidate& candidate = columns.candidates[columns.infos[column].candidate];
    return rivals.contains({candidate.nodes, candidate.outputs});
  }
  double true_us(const std::vector<int>& plan) const {
    double sum = 0;
    for (int column : plan) sum += costs.us(column);
    return sum;
  }
  // With everything known of the columns that the program lists.
  double best_us() const {
    Problem problem = columns.problem;
    problem.columns.resize(static_cast<size_t>(contests.listed));
    for (size_t id = 0; id < problem.columns.size(); ++id) {
      problem.columns[id].cost_us = costs.us(static_cast<int>(id));
      problem.columns[id].measured = true;
    }
    return solve(problem).objective_us;
  }

  Graph graph;
  Device target = detect_device("x86-64-v3", 2);
  CandidateSet rivals;
  Columns columns = columns_of(graph, target, rivals);
  MadeUpCosts costs;
  MadeUpContests contests;
};

inline bool exists(const Search& search, const std::vector<int>& plan) {
  return std::all_of(plan.begin(), plan.end(), [&](int column) { return search.costs.exists(column); });
}

}  // namespace korch
