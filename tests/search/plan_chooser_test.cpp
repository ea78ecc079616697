// The search with made-up costs and contests: nothing is generated, compiled or run.
#include "korch/search/plan_chooser.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <thread>

#include "korch/base/files.h"
#include "korch/candidate/enumerate.h"
#include "korch/codegen/implementation.h"
#include "korch/device/device.h"
#include "korch/search/random_plan.h"
#include "korch/search/strategy.h"
#include "made_up_search.h"

namespace korch {
namespace {

TEST(PlanChooser, FindsTheBestPlanAndMeasuresAFraction) {
  int refused = 0, measured = 0, kernels = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Search search(seed, /*refused_of_100=*/20);
    const Choice choice = search.choose({.bounds = Bounds::analytic});
    EXPECT_EQ(choice.solved.solution.status, SolveStatus::optimal);
    EXPECT_TRUE(choice.solved.certified);
    EXPECT_TRUE(exists(search, choice.solved.solution.chosen));
    EXPECT_NEAR(search.true_us(choice.solved.solution.chosen), search.best_us(), 1e-9) << seed;
    measured += choice.solved.measured;
    kernels += choice.solved.kernels;
    for (const auto& [reason, count] : choice.solved.refused) {
      EXPECT_EQ(reason, "no kernel family");
      EXPECT_EQ(choice.refusal_examples.at(RefusalReason::no_kernel_family), "made up");
      refused += count;
    }
  }
  EXPECT_GT(refused, 10);
  EXPECT_LT(measured, kernels);
}

TEST(PlanChooser, LearnedBoundsMeasureLess) {
  int learned = 0, analytic = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Search careful(seed), quick(seed);
    analytic += careful.choose({.bounds = Bounds::analytic}).solved.measured;
    const Choice choice = quick.choose();
    learned += choice.solved.measured;
    EXPECT_LE(quick.true_us(choice.solved.solution.chosen), 1.05 * quick.best_us()) << seed;
    EXPECT_EQ(choice.solved.bound_violations, 0);
  }
  EXPECT_LT(learned, analytic);
}

TEST(PlanChooser, ExhaustiveLooksAtEveryKernel) {
  Search search;
  const Choice choice = search.choose({.exhaustive = true});
  EXPECT_EQ(choice.solved.measured, choice.solved.kernels);
  // Besides, other schedules of the plan's kernels.
  EXPECT_GE(search.costs.looks(Care::quick), choice.solved.kernels);
  EXPECT_GE(search.costs.looks(Care::twice), choice.solved.kernels);
  EXPECT_NEAR(choice.solved.solution.objective_us, search.best_us(), 1e-9);
}

// Run whole, another plan may be the faster one; then it is the answer, and costs and proof stay the
// solver's.
TEST(PlanChooser, KeepsWhatIsFasterBeyondDoubt) {
  Search slower, faster, unsure;
  faster.contests.ratio = 0.9;
  unsure.contests.ratio = 0.995;  // its interval goes beyond 1
  const SolveMemo as_solved = slower.choose().solved;
  ASSERT_GT(slower.contests.contests, 0);
  ASSERT_EQ(as_solved.whole_runs[0].plan, "solver's");
  const SolveMemo other = faster.choose().solved;
  EXPECT_NE(other.whole_runs[0].plan, "solver's");
  EXPECT_NE(other.solution.chosen, as_solved.solution.chosen);
  EXPECT_EQ(other.solution.objective_us, as_solved.solution.objective_us);
  EXPECT_LT(other.whole_runs[0].measured_us, other.whole_runs.back().measured_us);
  EXPECT_EQ(unsure.choose().solved.solution.chosen, as_solved.solution.chosen);
}

TEST(PlanChooser, RemembersWhileCostsAreTheSame) {
  const TempDir folder;
  Database database(folder.path() + "/k.db");
  const auto choose = [&](Search& search) {
    return search.choose({.bounds = Bounds::analytic}, &database).solved;
  };
  Search first;
  const SolveMemo chosen = choose(first);
  const auto looks = [](Search& search) {
    return search.costs.looks(Care::quick) + search.costs.looks(Care::thorough) +
           search.costs.looks(Care::twice);
  };
  Search again;
  EXPECT_EQ(choose(again).solution.chosen, chosen.solution.chosen);
  EXPECT_LE(looks(again), static_cast<int>(chosen.solution.chosen.size()));
  EXPECT_EQ(again.contests.contests, 0);

  Search slower;
  for (int column : chosen.solution.chosen) slower.costs.slow_down(column);
  EXPECT_NEAR(slower.true_us(choose(slower).solution.chosen), slower.best_us(), 1e-9);
  EXPECT_GT(looks(slower), looks(again));
}

// Schedules that the program does not list, for kernels of its plan: taken where the whole plan is faster
// with them, and remembered like the plan.
TEST(PlanChooser, OtherSchedulesAreMeasuredTakenAndRemembered) {
  const TempDir folder;
  Database database(folder.path() + "/k.db");
  Search own, other, again;
  const int listed = own.listed();
  other.contests.ratio_of_rescheduled = 0.9;
  const SolveMemo as_solved = own.choose().solved, better = other.choose({}, &database).solved;
  ASSERT_FALSE(better.rescheduled.empty());
  EXPECT_LT(std::ranges::max(as_solved.solution.chosen), listed);
  EXPECT_GE(std::ranges::max(better.solution.chosen), listed);
  EXPECT_EQ(better.solution.chosen.size(), as_solved.solution.chosen.size());
  EXPECT_LT(other.true_us(better.solution.chosen), 0.99 * other.true_us(as_solved.solution.chosen));
  EXPECT_EQ(better.whole_runs[0].plan, "with other schedules");
  EXPECT_EQ(better.solution.objective_us, as_solved.solution.objective_us);

  const SolveMemo remembered = again.choose({}, &database).solved;
  EXPECT_EQ(remembered.solution.chosen, better.solution.chosen);
  EXPECT_EQ(again.contests.contests, 0);
  for (const int id : remembered.solution.chosen) {
    EXPECT_EQ(to_string(again.columns.infos[id].implementation),
              to_string(other.columns.infos[id].implementation));
    EXPECT_EQ(again.columns.problem.columns[id].cost_us, other.columns.problem.columns[id].cost_us);
    EXPECT_EQ(again.columns.problem.columns[id].measured, other.columns.problem.columns[id].measured);
  }
}

// A family that no longer knows a remembered schedule: the plan is chosen anew.
TEST(OtherSchedules, UnknownOnesAddNothing) {
  Search search;
  const size_t listed = search.columns.infos.size();
  int kernel = 0;
  while (search.columns.infos[kernel].implementation.family != "matmul") ++kernel;
  EXPECT_FALSE(add_columns(search.graph, search.target, {{kernel, "no such schedule", 1}}, search.columns));
  EXPECT_EQ(search.columns.infos.size(), listed);
  EXPECT_EQ(search.columns.problem.columns.size(), listed);
}

TEST(PlanChooser, OnBoundsTakesWhatExists) {
  Search search(7, /*refused_of_100=*/30);
  const Choice choice = search.choose({.measure = false});
  ASSERT_FALSE(choice.solved.solution.chosen.empty());
  EXPECT_TRUE(exists(search, choice.solved.solution.chosen));
  EXPECT_GT(search.columns.refused[std::string(name(RefusalReason::unproven))], 0);
  EXPECT_EQ(choice.solved.measured, 0);
  EXPECT_FALSE(choice.solved.certified);
  EXPECT_EQ(search.contests.contests, 0);
}

// A model, which learns of some kernels that they are slow when they are compiled.
class ModelledCosts : public MadeUpCosts {
 public:
  using MadeUpCosts::MadeUpCosts;
  std::optional<Cost> cost_when_built(int column) override {
    Cost cost;
    cost.us = us_when_built(column);
    return cost;
  }
  double us_when_built(int column) const { return us(column) * (slow.contains(column) ? 3 : 1); }
  std::set<int> slow;
};

TEST(PlanChooser, WhatCompilingTellsOfAKernelCounts) {
  const Search search(5);
  const auto chosen_by = [&](ModelledCosts& costs, Columns& columns) {
    MadeUpContests contests;
    return choose_plan({&search.graph,
                        &search.graph,
                        &search.target,
                        {.measure = false, .modelled = true},
                        &costs,
                        &contests,
                        nullptr,
                        nullptr,
                        search.rivals,
                        {}},
                       columns)
        .solved.solution.chosen;
  };
  Columns columns = search.columns;
  ModelledCosts costs(columns, 5, 0);
  const std::vector<int> first = chosen_by(costs, columns);
  for (const int id : first)
    if (columns.infos[id].kind == ColumnInfo::Kind::kernel) costs.slow.insert(id);
  ASSERT_FALSE(costs.slow.empty());
  columns = search.columns;
  const std::vector<int> second = chosen_by(costs, columns);
  const auto us = [&](const std::vector<int>& plan) {
    double sum = 0;
    for (const int id : plan) sum += costs.us_when_built(id);
    return sum;
  };
  EXPECT_LT(us(second), us(first));
  for (const int id : second)
    if (columns.infos[id].kind == ColumnInfo::Kind::kernel) {
      EXPECT_DOUBLE_EQ(columns.problem.columns[id].cost_us, costs.us_when_built(id));
    }
}

// Some kernels were measured elsewhere, and none can be here.
class CarriedCosts : public MadeUpCosts {
 public:
  CarriedCosts(const Search& search, const std::vector<int>& carried)
      : MadeUpCosts(search.columns, 1, 0), carried_(carried.begin(), carried.end()) {}
  std::optional<Cost> carried(int column) override {
    if (!carried_.contains(column)) return std::nullopt;
    Cost cost;
    cost.us = us(column);
    return cost;
  }
  std::vector<Result<Cost>> measure(const std::vector<int>& columns, Care care) override {
    ADD_FAILURE() << "measured";
    return MadeUpCosts::measure(columns, care);
  }

 private:
  const std::set<int> carried_;
};

Choice choose_carried(Search& search, CostSource& costs, Database* database = nullptr) {
  return choose_plan({&search.graph,
                      &search.graph,
                      &search.target,
                      {.measure = false, .carried = true},
                      &costs,
                      &search.contests,
                      database,
                      nullptr,
                      search.rivals,
                      {}},
                     search.columns);
}

// The kernels that share one are carried with it.
std::vector<int> with_equals(const Columns& columns, const std::vector<int>& some) {
  std::vector<int> all;
  for (size_t id = 0; id < columns.infos.size(); ++id)
    if (std::any_of(some.begin(), some.end(),
                    [&](int one) { return columns.infos[one].key == columns.infos[id].key; }))
      all.push_back(static_cast<int>(id));
  return all;
}

// By what another machine measured its best plan is found again; bounds, though lower, do not count beside
// it.
TEST(PlanChooser, CarriedCostsThatCoverTheNetworkAloneCount) {
  Search there, here;
  const std::vector<int> best = there.choose().solved.solution.chosen;
  CarriedCosts costs(here, with_equals(here.columns, best));
  const Choice choice = choose_carried(here, costs);
  EXPECT_NEAR(choice.solved.solution.objective_us, here.true_us(best), 1e-9);
  EXPECT_TRUE(choice.limits.empty());
  EXPECT_GT(choice.solved.measured, 0);
  EXPECT_FALSE(choice.solved.certified);
}

TEST(PlanChooser, BoundsStandForWhatIsNotCarriedAndThatIsSaid) {
  Search here, bounds;
  // A kernel of one primitive.
  int one = 0;
  while (here.columns.infos[one].kind != ColumnInfo::Kind::kernel ||
         here.columns.candidates[here.columns.infos[one].candidate].nodes.size() != 1)
    ++one;
  CarriedCosts some(here, with_equals(here.columns, {one})), none(bounds, {});
  const Choice choice = choose_carried(here, some);
  EXPECT_FALSE(choice.solved.solution.chosen.empty());
  ASSERT_EQ(choice.limits.size(), 1u);
  EXPECT_NE(choice.limits[0].find("do not cover"), std::string::npos) << choice.limits[0];
  EXPECT_EQ(choose_carried(bounds, none).solved.solution.chosen,
            Search().choose({.measure = false}).solved.solution.chosen);
}

// More may be carried the next time.
TEST(PlanChooser, WhatIsChosenByCarriedCostsIsNotRemembered) {
  Database database(":memory:");
  Search there, before, after;
  const std::vector<int> best = there.choose().solved.solution.chosen;
  CarriedCosts none(before, {}), all(after, with_equals(after.columns, best));
  choose_carried(before, none, &database);
  EXPECT_NEAR(choose_carried(after, all, &database).solved.solution.objective_us, after.true_us(best), 1e-9);
}

// Of the first plans one kernel each turns out not to exist.
class ReluctantCosts : public MadeUpCosts {
 public:
  ReluctantCosts(const Search& search, size_t refused)
      : MadeUpCosts(search.columns, 1, 0), refused_(refused) {}
  std::vector<std::optional<Refusal>> build(const std::vector<int>& columns) override {
    std::vector<std::optional<Refusal>> refusals(columns.size());
    if (plans < refused_)
      refusals[plans % columns.size()] = Refusal{RefusalReason::no_kernel_family, "made up"};
    ++plans;
    for (size_t i = 0; i < columns.size(); ++i)
      if (!refusals[i]) built.insert(columns[i]);
    return refusals;
  }
  size_t plans = 0;
  std::set<int> built;

 private:
  const size_t refused_;
};

// The number of plans that cannot be built ends the search, however long each takes.
TEST(PlanChooser, OnBoundsManyPlansThatCannotBeBuiltLeaveTheRestOfThem) {
  const auto choose = [](Search& search, ReluctantCosts& costs) {
    return choose_plan({&search.graph,
                        &search.graph,
                        &search.target,
                        {.measure = false},
                        &costs,
                        &search.contests,
                        nullptr,
                        nullptr,
                        search.rivals,
                        {}},
                       search.columns);
  };
  Search few(1, 0, /*layer_count=*/120), many(1, 0, 120);
  ReluctantCosts refuse_few(few, 24), refuse_many(many, 25);
  EXPECT_TRUE(choose(few, refuse_few).limits.empty());
  const Choice choice = choose(many, refuse_many);
  EXPECT_EQ(refuse_many.plans, 26);  // greedy's own is the last
  ASSERT_EQ(choice.limits.size(), 1u);
  EXPECT_NE(choice.limits[0].find("25 plans"), std::string::npos) << choice.limits[0];
  for (int id : choice.solved.solution.chosen) EXPECT_EQ(refuse_many.built.count(id), 1u);
}

// What holds both of two primitives is no kernel, however many others it holds.
class NeverTogether : public MadeUpCosts {
 public:
  NeverTogether(const Search& search, NodeId a, NodeId b)
      : MadeUpCosts(search.columns, 1, 0), search_(search), a_(a), b_(b) {}
  std::vector<std::optional<Refusal>> build(const std::vector<int>& columns) override {
    ++plans;
    return refusals_of(columns);
  }
  std::vector<std::optional<Refusal>> refusals_of(const std::vector<int>& columns) override {
    std::vector<std::optional<Refusal>> refusals;
    for (int column : columns) {
      const ColumnInfo& info = search_.columns.infos[column];
      const bool is_kernel = info.kind == ColumnInfo::Kind::kernel;
      const std::vector<NodeId> none,
          &nodes = is_kernel ? search_.columns.candidates[info.candidate].nodes : none;
      const auto holds = [&](NodeId node) { return std::count(nodes.begin(), nodes.end(), node) != 0; };
      refusals.push_back(holds(a_) && holds(b_)
                             ? std::optional(Refusal{RefusalReason::redundant_work, "made up"})
                             : std::nullopt);
    }
    return refusals;
  }
  int plans = 0;

 private:
  const Search& search_;
  const NodeId a_, b_;
};

TEST(PlanChooser, OnBoundsKernelsLikeARefusedOneAreProposedWithIt) {
  Search search(1);
  const auto added = [&](Op op) {
    for (NodeId node : search.graph.topological_order())
      if (search.graph.node(node).op == op) return node;
    return kNoId;
  };
  NeverTogether costs(search, added(Op::Add), added(Op::Relu));
  const Choice choice = choose_plan({&search.graph,
                                     &search.graph,
                                     &search.target,
                                     {.measure = false},
                                     &costs,
                                     &search.contests,
                                     nullptr,
                                     nullptr,
                                     search.rivals,
                                     {}},
                                    search.columns);
  EXPECT_TRUE(choice.limits.empty());
  EXPECT_LE(costs.plans, 3);
  for (const auto& refusal : costs.refusals_of(choice.solved.solution.chosen)) EXPECT_FALSE(refusal);
}

// Kernels take long to compile, as on a busy machine.
class SlowCosts : public MadeUpCosts {
 public:
  using MadeUpCosts::MadeUpCosts;
  std::vector<Result<Cost>> measure(const std::vector<int>& columns, Care care) override {
    ++batches;
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    return MadeUpCosts::measure(columns, care);
  }
  int batches = 0;
};

// The second batch would end too late by what the first one took.
TEST(PlanChooser, NoBatchBeginsThatWouldEndTooLate) {
  Search search(1, 0, /*layer_count=*/40);
  SlowCosts costs(search.columns, 1, 0);
  const Choice choice = choose_plan({&search.graph,
                                     &search.graph,
                                     &search.target,
                                     {.budget_s = 1, .deadline = Deadline(1)},
                                     &costs,
                                     &search.contests,
                                     nullptr,
                                     nullptr,
                                     search.rivals,
                                     {}},
                                    search.columns);
  EXPECT_LE(costs.batches, 1);
  EXPECT_TRUE(choice.solved.budget_spent);
  EXPECT_FALSE(choice.solved.solution.chosen.empty());
}

TEST(PlanChooser, WithoutTimeThereIsGreedysPlan) {
  Search search;
  const Choice choice = search.choose({.budget_s = 1e-3, .deadline = Deadline(0)});
  ASSERT_FALSE(choice.solved.solution.chosen.empty());
  EXPECT_TRUE(choice.solved.budget_spent);
  EXPECT_FALSE(choice.solved.certified);
  EXPECT_EQ(search.costs.looks(Care::quick), 0);
  EXPECT_GT(search.costs.built(), 0);
  for (int id : choice.solved.solution.chosen) EXPECT_TRUE(search.is_of_rivals(id));
  ASSERT_EQ(choice.limits.size(), 1u);
  EXPECT_NE(choice.limits[0].find("budget"), std::string::npos);
}

}  // namespace
}  // namespace korch
