#include "korch/solve/lazy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "instances.h"
#include "korch/solve/network.h"
#include "korch/solve/orchestrator.h"

namespace korch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Costs = std::function<bool(const std::vector<int>&)>;  // false: nothing was learnt

// What answers the solver's questions; who has no answer is not asked.
struct Answers {
  Costs costs = [](const std::vector<int>&) { return false; };
  Costs second_look = nullptr;
  std::function<Solution(const Solution&)> other_plan = nullptr;
  std::function<void()> bounds = nullptr;
  Costs audit = nullptr;
  bool prove = true;
};

LazyResult solve_lazily(Problem& problem, const Answers& answers, const SolveOptions& options = {}) {
  LazySolver solver(problem, {.solve = options,
                              .second_looks = answers.second_look != nullptr,
                              .other_plan = answers.other_plan != nullptr,
                              .prove = answers.prove,
                              .bounds = answers.bounds != nullptr,
                              .audit = answers.audit != nullptr});
  Answer answer;
  while (const std::optional<Question> question = solver.next(answer)) {
    answer = {};
    switch (question->kind) {
      case Question::Kind::costs:
        answer.has_learnt = answers.costs(question->columns);
        break;
      case Question::Kind::second_look:
        answer.has_learnt = answers.second_look(question->columns);
        break;
      case Question::Kind::other_plan:
        answer.plan = answers.other_plan(question->best);
        break;
      case Question::Kind::bounds:
        answers.bounds();
        break;
      case Question::Kind::audit:
        answer.has_learnt = answers.audit(question->columns);
        break;
    }
  }
  return solver.result();
}

struct Lazy {
  Problem problem;
  std::vector<double> costs;
  int measured = 0, calls = 0;

  LazyResult run(const SolveOptions& options = {}) {
    const auto measure = [&](const std::vector<int>& columns) {
      ++calls;
      for (const int k : columns) {
        EXPECT_FALSE(problem.columns[k].measured);
        problem.columns[k].measured = true;
        problem.columns[k].cost_us = costs[k];
        ++measured;
      }
      return true;
    };
    return solve_lazily(problem, {.costs = measure}, options);
  }
  Solution exhaustive() const {
    Problem all = problem;
    for (size_t k = 0; k < costs.size(); ++k) {
      all.columns[k].cost_us = costs[k];
      all.columns[k].measured = true;
    }
    return solve(all);
  }
};

// The plan runs on measured columns and its objective is what they cost.
void expect_measured(const Problem& problem, const std::vector<double>& costs, const Solution& solution) {
  double sum = 0;
  for (const int k : solution.chosen) {
    EXPECT_TRUE(problem.columns[k].measured);
    sum += costs[k];
  }
  EXPECT_NEAR(solution.objective_us, sum, 1e-6);
}

TEST(Lazy, AgreesWithExhaustiveOnRandomProblems) {
  Random random(3);
  int64_t measured = 0, columns = 0;
  for (int i = 0; i < 1000 && !testing::Test::HasFailure(); ++i) {
    Lazy lazy{i % 2 == 0 ? random_graph_problem(random) : random_problem(random), {}};
    lazy.costs = true_costs(lazy.problem, i);
    for (double& cost : lazy.costs)
      if (cost > 0 && random() % 20 == 0) cost = kInfinity;  // a kernel that cannot be built
    for (size_t k = 0; k < lazy.costs.size(); ++k)
      if (lazy.problem.columns[k].measured) lazy.costs[k] = lazy.problem.columns[k].cost_us;
    const Solution exhaustive = lazy.exhaustive();
    const LazyResult result = lazy.run();
    EXPECT_EQ(result.solution.status, exhaustive.status) << i;
    EXPECT_EQ(result.bound_violations, 0);
    EXPECT_EQ(result.certified, exhaustive.status == SolveStatus::optimal);
    EXPECT_NEAR(result.solution.objective_us, exhaustive.objective_us, 1e-6) << i;
    for (const int k : result.solution.chosen) EXPECT_TRUE(lazy.problem.columns[k].measured);
    measured += lazy.measured;
    columns += static_cast<int64_t>(lazy.costs.size());
  }
  EXPECT_LT(measured, columns / 2);
}

// A first look at a kernel errs either way; only the second is final.
TEST(Lazy, FirstLooksAreNotTheAnswer) {
  Random random(5);
  for (int i = 0; i < 200 && !testing::Test::HasFailure(); ++i) {
    Problem problem = random_graph_problem(random);
    const std::vector<double> costs = true_costs(problem, i);
    std::vector<bool> seen(costs.size());
    const auto measure = [&](const std::vector<int>& columns) {
      for (const int k : columns) {
        problem.columns[k].measured = seen[k];
        problem.columns[k].cost_us = costs[k] * (seen[k] ? 1 : 0.9 + 0.2 * static_cast<double>(random() % 2));
        seen[k] = true;
      }
      return true;
    };
    const LazyResult result = solve_lazily(problem, {.costs = measure});
    expect_measured(problem, costs, result.solution);
  }
}

// One kernel in four was disturbed while it was measured, and no plan takes it. What a second look finds is
// what counts, and nobody looks a third time.
TEST(Lazy, SecondLooksFindDisturbedKernels) {
  constexpr double kDisturbance = 1.2;
  Random random(7);
  double once_us = 0, again_us = 0, true_us = 0;
  for (int i = 0; i < 200 && !testing::Test::HasFailure(); ++i) {
    Problem problem = random_graph_problem(random);
    const std::vector<double> costs = true_costs(problem, i);
    Problem exact = problem;
    for (size_t k = 0; k < costs.size(); ++k) {
      exact.columns[k].cost_us = costs[k];
      Column& column = problem.columns[k];
      column.may_cost_less = !column.measured;
      column.cost_us = costs[k] * (column.may_cost_less && random() % 4 == 0 ? kDisturbance : 1);
      exact.columns[k].measured = column.measured = true;
    }
    Problem looked_at = problem;
    const auto look = [&](const std::vector<int>& columns) {
      for (const int k : columns) {
        EXPECT_TRUE(looked_at.columns[k].may_cost_less);
        looked_at.columns[k].may_cost_less = false;
        looked_at.columns[k].cost_us = costs[k];
      }
      return true;
    };
    const LazyResult again = solve_lazily(looked_at, {.second_look = look});
    if (again.solution.status != SolveStatus::optimal) continue;
    for (const int k : again.solution.chosen) again_us += costs[k];
    for (const int k : solve_lazily(problem, {}).solution.chosen) once_us += costs[k];
    true_us += solve(exact).objective_us;
  }
  EXPECT_GT(once_us, true_us);
  EXPECT_LT(again_us - true_us, 0.5 * (once_us - true_us));
}

TEST(Lazy, MeasuresAFractionOfANetwork) {
  NetworkOptions options;
  options.blocks = 8;
  options.layouts = 2;
  options.alternatives = 30;
  Lazy lazy{network_problem(options), {}};
  lazy.costs = true_costs(lazy.problem, 7);
  const Solution exhaustive = lazy.exhaustive();
  const LazyResult result = lazy.run();
  EXPECT_TRUE(result.certified);
  EXPECT_NEAR(result.solution.objective_us, exhaustive.objective_us, 1e-6);
  EXPECT_LT(lazy.measured, static_cast<int>(lazy.costs.size()) / 2);
}

TEST(Lazy, OutOfTimeTakesTheBestOfWhatIsMeasured) {
  NetworkOptions options;
  options.blocks = 16;
  options.layouts = 2;
  options.alternatives = 30;
  Lazy lazy{network_problem(options), {}};
  lazy.costs = true_costs(lazy.problem, 11);
  SolveOptions solve_options;
  solve_options.time_limit_s = 0.01;
  const LazyResult result = lazy.run(solve_options);
  ASSERT_FALSE(result.solution.chosen.empty());
  EXPECT_EQ(result.certified, result.solution.status == SolveStatus::optimal);
  EXPECT_FALSE(order_columns(lazy.problem, result.solution.chosen).empty());
  expect_measured(lazy.problem, lazy.costs, result.solution);
  EXPECT_LE(result.solution.bound_us, lazy.exhaustive().objective_us * (1 + 1e-9));
}

Problem two_ways() {
  Problem problem;
  problem.tensor_class = {0, 1};
  problem.available = {0};
  problem.required = {1};
  problem.columns = {{2, false, {0}, {1}, {1}, false}, {3, false, {0}, {1}, {1}, false}};
  return problem;
}

TEST(Lazy, MeasurementBelowItsBoundVoidsTheCertificate) {
  Lazy lazy{two_ways(), {1.9, 9}};
  const LazyResult result = lazy.run();
  EXPECT_EQ(result.bound_violations, 1);
  EXPECT_FALSE(result.certified);
  EXPECT_EQ(result.solution.chosen, std::vector<int>{0});
}

TEST(Lazy, TurnsToTheNextWhenAKernelCannotBeBuilt) {
  Lazy lazy{two_ways(), {kInfinity, 4}};
  const LazyResult result = lazy.run();
  EXPECT_TRUE(result.certified);
  EXPECT_EQ(result.solution.chosen, std::vector<int>{1});
  EXPECT_EQ(result.solution.objective_us, 4);
}

// As when the time is over; the address sanitizer sees what stays behind.
TEST(Lazy, CanBeLeftAtAnyQuestion) {
  NetworkOptions options;
  options.blocks = 3;
  options.layouts = 2;
  for (int left_at = 1; left_at < 6; ++left_at) {
    Problem problem = network_problem(options);
    const std::vector<double> costs = true_costs(problem, 7);
    LazySolver solver(problem, {.second_looks = true, .other_plan = true});
    std::optional<Question> question;
    for (int i = 0; i < left_at; ++i) {
      question = solver.next({.has_learnt = true});
      ASSERT_TRUE(question) << left_at;
      for (const int column : question->columns) {
        problem.columns[column].measured = problem.columns[column].may_cost_less = true;
        problem.columns[column].cost_us = costs[column];
      }
    }
  }
}

TEST(Lazy, NothingCanBeBuilt) {
  Lazy lazy{two_ways(), {kInfinity, kInfinity}};
  const LazyResult result = lazy.run();
  EXPECT_EQ(result.solution.status, SolveStatus::infeasible);
  EXPECT_FALSE(result.certified);
}

TEST(Lazy, NothingIsToBeComputed) {
  for (const bool prove : {true, false}) {
    Problem problem;
    LazySolver solver(problem, {.prove = prove, .bounds = !prove});
    EXPECT_FALSE(solver.next());
    EXPECT_EQ(solver.result().solution.status, SolveStatus::optimal);
    EXPECT_TRUE(solver.result().solution.chosen.empty());
  }
}

TEST(Lazy, ColumnsMeasuredAlongCount) {
  Problem problem = two_ways();
  int calls = 0;
  const auto measure = [&](const std::vector<int>&) {
    ++calls;
    for (Column& column : problem.columns) {
      column.measured = true;
      column.cost_us = 5;
    }
    return true;
  };
  const LazyResult result = solve_lazily(problem, {.costs = measure});
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(result.certified);
  EXPECT_EQ(result.solution.objective_us, 5);
}

// Two ways that turn out to cost nearly the same, and a dear one.
TEST(Lazy, TellsPlansThatAreNearlyAsGood) {
  Problem problem = two_ways();
  problem.columns.push_back(problem.columns[0]);
  const std::vector<double> costs = {5.05, 5, 9};
  const auto measure = [&](const std::vector<int>& columns) {
    for (const int column : columns) {
      problem.columns[column].measured = true;
      problem.columns[column].cost_us = costs[column];
    }
    return true;
  };
  const LazyResult result = solve_lazily(problem, {.costs = measure});
  EXPECT_EQ(result.solution.chosen, std::vector<int>{1});
  EXPECT_EQ(result.others, (std::vector<CostedPlan>{{5.05, {0}}}));
}

// What is measured for another plan's sake counts before anything is proven.
TEST(Lazy, TakesAnotherPlanThatTurnsOutCheaper) {
  Problem problem = two_ways();
  problem.columns[0].cost_us = 9;
  problem.columns[1].measured = true;
  int calls = 0;
  const auto other_plan = [&](const Solution& best) {
    ++calls;
    EXPECT_EQ(best.chosen, std::vector<int>{1});
    EXPECT_EQ(best.objective_us, 3);
    problem.columns[0].cost_us = 2.5;
    problem.columns[0].measured = true;
    Solution other;
    other.chosen = {0};
    other.seconds = 17;
    return other;
  };
  const LazyResult result = solve_lazily(problem, {.other_plan = other_plan});
  EXPECT_EQ(calls, 1);
  EXPECT_GT(result.solution.seconds, 17);
  EXPECT_EQ(result.solution.chosen, std::vector<int>{0});
  EXPECT_EQ(result.solution.status, SolveStatus::optimal);
  EXPECT_EQ(result.solution.bound_us, 2.5);
}

TEST(Lazy, KeepsItsProofWhereTheOtherPlanIsTheSame) {
  Problem problem = two_ways();
  for (Column& column : problem.columns) column.measured = true;
  const auto same = [](const Solution& best) { return best; };
  const LazyResult result = solve_lazily(problem, {.other_plan = same});
  EXPECT_EQ(result.solution.status, SolveStatus::optimal);
  EXPECT_EQ(result.solution.bound_us, 2);
}

// What a relaxation proved bounds the plans at other costs too, as far as its multipliers tell.
TEST(Orchestrator, BoundHoldsWhenCostsChange) {
  Random random(13);
  int solved = 0;
  double share = 0;
  for (int i = 0; i < 1000 && !testing::Test::HasFailure(); ++i) {
    Problem problem = random_graph_problem(random);
    Orchestrator orchestrator(problem);
    const Orchestrator::Relaxed relaxed = orchestrator.relax(60, Orchestrator::kThorough);
    if (!relaxed.is_complete) continue;
    EXPECT_NEAR(orchestrator.bound_now(), relaxed.bound_us, 1e-9);
    for (Column& column : problem.columns) column.cost_us *= 0.5 + 0.1 * static_cast<double>(random() % 8);
    const Solution best = solve(problem);
    if (best.status != SolveStatus::optimal) continue;
    const double bound_us = orchestrator.bound_now();
    EXPECT_LE(bound_us, best.objective_us * (1 + 1e-9));
    ++solved;
    share += best.objective_us > 0 ? bound_us / best.objective_us : 1;
    // A relaxation without time does not know less.
    EXPECT_GE(orchestrator.relax(0, Orchestrator::kQuick).bound_us, bound_us * (1 - 1e-9));
  }
  EXPECT_GT(solved, 900);
  EXPECT_GT(share / solved, 0.9);
}

TEST(Lazy, StopsWhenNothingMoreIsMeasured) {
  Problem problem = two_ways();
  problem.columns[1].measured = true;
  SolveOptions options;
  options.start = {1};
  const LazyResult result = solve_lazily(problem, {}, options);
  EXPECT_EQ(result.solution.status, SolveStatus::feasible);
  EXPECT_EQ(result.solution.chosen, std::vector<int>{1});
  EXPECT_FALSE(result.certified);
  EXPECT_EQ(result.solution.bound_us, 2);
}

}  // namespace
}  // namespace korch
