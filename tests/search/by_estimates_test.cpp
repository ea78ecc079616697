// The search by estimates, with made-up costs and contests.
#include <gtest/gtest.h>

#include "korch/base/files.h"
#include "made_up_search.h"

namespace korch {
namespace {

// Estimates search; what they choose is measured, and nothing is proven.
TEST(ByEstimates, MeasuresWhatThePlanTakes) {
  int by_estimates = 0, proven = 0, kernels = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Search quick(seed, /*refused_of_100=*/20), careful(seed, 20);
    quick.costs.estimate_spread = 0.15;
    const SolveMemo solved = quick.choose({.prove = false}).solved;
    EXPECT_FALSE(solved.certified);
    EXPECT_EQ(solved.solution.status, SolveStatus::feasible);
    EXPECT_TRUE(quick.columns.estimated);
    EXPECT_TRUE(exists(quick, solved.solution.chosen));
    for (const int id : solved.solution.chosen) EXPECT_TRUE(quick.columns.problem.columns[id].measured);
    EXPECT_NEAR(solved.solution.objective_us, quick.true_us(solved.solution.chosen), 1e-9);
    EXPECT_LE(quick.true_us(solved.solution.chosen), 1.06 * quick.best_us()) << seed;
    by_estimates += solved.measured;
    proven += careful.choose().solved.measured;
    kernels += solved.kernels;
  }
  EXPECT_LT(by_estimates, proven);
  EXPECT_LT(5 * by_estimates, 2 * kernels);
}

// Bounds are of quantiles, below every cost here: none is above the best plan's.
TEST(ByEstimates, BoundsAreOfQuantiles) {
  std::vector<double> bounds_us;
  // Estimates are a tenth too high, give or take 0.15: just below all costs, below them, and where no cost
  // is.
  for (const double low : {-0.25, -0.5, -1000.0}) {
    double sum_us = 0;
    for (uint64_t seed = 0; seed < 3; ++seed) {
      Search search(seed, /*refused_of_100=*/10, /*layer_count=*/20);
      search.costs.estimate_spread = 0.15;
      search.costs.low = low;
      const SolveMemo solved = search.choose({.prove = false}).solved;
      EXPECT_TRUE(solved.bounded_low);
      EXPECT_FALSE(solved.certified);
      EXPECT_EQ(solved.audited, 0);
      EXPECT_LE(solved.solution.bound_us, search.best_us() + 1e-9) << seed;
      sum_us += solved.solution.bound_us;
    }
    bounds_us.push_back(sum_us);
  }
  EXPECT_GT(bounds_us[0], 1.02 * bounds_us[1]);
  EXPECT_GT(bounds_us[1], 1.02 * bounds_us[2]);
  EXPECT_GT(bounds_us[2], 0);  // the analytic one
}

TEST(ByEstimates, AnAuditTellsHowManyCostLessThanTheirQuantiles) {
  const auto audited = [](double low, int most) {
    Search search(3, 0, /*layer_count=*/20);
    search.costs.estimate_spread = 0.15;
    search.costs.low = low;
    const SolveMemo solved = search.choose({.prove = false, .audit = most}).solved;
    EXPECT_TRUE(solved.bounded_low);
    EXPECT_TRUE(exists(search, solved.solution.chosen));
    // What stands for the costs of the others are estimates again.
    for (int id = 0; id < search.listed(); ++id)
      if (const Column& column = search.columns.problem.columns[id];
          !column.measured && search.columns.infos[id].kind != ColumnInfo::Kind::view) {
        EXPECT_GT(column.cost_us, 0.8 * search.costs.us(id));
      }
    return solved;
  };
  const SolveMemo honest = audited(-0.25, 10), boasting = audited(0, 10);
  EXPECT_EQ(honest.audited, 10);
  EXPECT_EQ(honest.audited_below, 0);
  EXPECT_EQ(boasting.audited, 10);
  EXPECT_GT(boasting.audited_below, 0);
  EXPECT_GT(honest.measured, audited(-0.25, 0).measured);
}

TEST(ByEstimates, AnAuditIsRemembered) {
  const TempDir folder;
  Database database(folder.path() + "/k.db");
  Search first(3), again(3), without(3);
  first.costs.estimate_spread = again.costs.estimate_spread = without.costs.estimate_spread = 0.15;
  const SearchOptions options{.prove = false, .audit = 5};
  const SolveMemo chosen = first.choose(options, &database).solved,
                  remembered = again.choose(options, &database).solved;
  EXPECT_EQ(chosen.audited, 5);
  EXPECT_EQ(again.contests.contests, 0);
  EXPECT_EQ(remembered.audited, 5);
  EXPECT_EQ(remembered.audited_below, chosen.audited_below);
  EXPECT_TRUE(remembered.bounded_low);
  EXPECT_EQ(without.choose({.prove = false}, &database).solved.audited, 0);
}

// Nothing is measured, and the plan is better than one by bounds.
TEST(ByEstimates, WithoutMeasuringEstimatesStandForCosts) {
  double by_estimates_us = 0, by_bounds_us = 0, best_us = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Search estimated(seed, /*refused_of_100=*/20), bounded(seed, 20);
    estimated.costs.estimate_spread = 0.15;
    const SolveMemo solved = estimated.choose({.measure = false}).solved;
    EXPECT_TRUE(estimated.columns.estimated);
    EXPECT_TRUE(exists(estimated, solved.solution.chosen));
    EXPECT_EQ(solved.measured, 0);
    EXPECT_FALSE(solved.certified);
    EXPECT_FALSE(solved.bounded_low);
    EXPECT_EQ(estimated.costs.looks(Care::quick), 0);
    EXPECT_EQ(estimated.contests.contests, 0);
    by_estimates_us += estimated.true_us(solved.solution.chosen);
    by_bounds_us += bounded.true_us(bounded.choose({.measure = false}).solved.solution.chosen);
    EXPECT_FALSE(bounded.columns.estimated);
    best_us += estimated.best_us();
  }
  EXPECT_LT(by_estimates_us, by_bounds_us);
  EXPECT_LT(by_estimates_us, 1.05 * best_us);
}

// Another model makes another plan.
TEST(ByEstimates, WithoutMeasuringPlansAreRememberedByTheirModel) {
  class OtherModel : public MadeUpCosts {
   public:
    using MadeUpCosts::MadeUpCosts;
    std::vector<CostEstimate> estimates(const std::vector<int>& columns) override {
      asked = true;
      return MadeUpCosts::estimates(columns);
    }
    std::string estimates_key() const override { return key; }
    std::string key;
    bool asked = false;
  };
  const TempDir folder;
  Database database(folder.path() + "/k.db");
  const auto asks = [&](const char* key) {
    Search search;
    OtherModel costs(search.columns, 1, 0);
    costs.estimate_spread = 0.15;
    costs.key = key;
    choose_plan({&search.graph,
                 &search.graph,
                 &search.target,
                 {.measure = false},
                 &costs,
                 &search.contests,
                 &database,
                 nullptr,
                 search.rivals,
                 {}},
                search.columns);
    EXPECT_TRUE(search.columns.estimated);
    return costs.asked;
  };
  EXPECT_TRUE(asks("one"));
  EXPECT_FALSE(asks("one"));
  EXPECT_TRUE(asks("another"));
}

// Who asked is told that there is no plan, not that the time was short; single primitives may take over.
TEST(ByEstimates, SaysThatThereIsNoPlan) {
  Search search(1, /*refused_of_100=*/100);
  search.costs.estimate_spread = 0.15;
  const SolveMemo solved = search.choose({.prove = false}).solved;
  EXPECT_EQ(solved.solution.status, SolveStatus::infeasible);
  EXPECT_TRUE(solved.solution.chosen.empty());
}

TEST(ByEstimates, RemembersApartFromProofs) {
  const TempDir folder;
  Database database(folder.path() + "/k.db");
  Search first, again, proven;
  first.costs.estimate_spread = again.costs.estimate_spread = proven.costs.estimate_spread = 0.15;
  const SolveMemo chosen = first.choose({.prove = false}, &database).solved,
                  remembered = again.choose({.prove = false}, &database).solved;
  EXPECT_EQ(remembered.solution.chosen, chosen.solution.chosen);
  EXPECT_TRUE(again.columns.estimated);
  EXPECT_EQ(again.contests.contests, 0);
  EXPECT_TRUE(proven.choose({}, &database).solved.certified);
  EXPECT_FALSE(proven.columns.estimated);
}

}  // namespace
}  // namespace korch
