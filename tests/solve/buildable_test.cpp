#include <gtest/gtest.h>

#include <limits>

#include "instances.h"
#include "korch/solve/lazy.h"

namespace korch {
namespace {

// `ways` columns from the input to the output, each dearer than the one before.
Problem ways_to_one_output(int ways) {
  Problem problem;
  problem.tensor_class = {0, 1};
  problem.available = {0};
  problem.required = {1};
  for (int i = 0; i < ways; ++i) {
    Column column;
    column.cost_us = 1 + i;
    column.inputs = {0};
    column.outputs = {1};
    column.covers = {1};
    problem.columns.push_back(column);
  }
  return problem;
}

// Refuses the columns below `first`.
struct Builder {
  Problem& problem;
  int first;
  int asked = 0;
  bool operator()(const std::vector<int>& plan) {
    ++asked;
    bool complete = true;
    for (const int column : plan) {
      if (column >= first) continue;
      problem.columns[column].cost_us = std::numeric_limits<double>::infinity();
      complete = false;
    }
    return complete;
  }
};

Solution solve_buildable(const Problem& problem, Builder& builder, const SolveOptions& options = {}) {
  BuildableSolver solver(problem, options);
  bool can_be_built = false;
  while (const std::optional<std::vector<int>> plan = solver.next(can_be_built))
    can_be_built = builder(*plan);
  return solver.result();
}

TEST(SolveBuildable, GoesOnUntilThePlanCanBeBuilt) {
  Problem problem = ways_to_one_output(6);
  Builder builder{problem, 4};
  const Solution solution = solve_buildable(problem, builder);
  EXPECT_EQ(solution.status, SolveStatus::optimal);
  EXPECT_EQ(solution.chosen, std::vector<int>{4});
  EXPECT_EQ(solution.objective_us, 5);
  EXPECT_EQ(builder.asked, 5);
}

TEST(SolveBuildable, NothingCanBeBuilt) {
  Problem problem = ways_to_one_output(3);
  Builder builder{problem, 3};
  EXPECT_EQ(solve_buildable(problem, builder).status, SolveStatus::infeasible);
}

// The clock decides how much is proven of a plan, and not which one it is.
TEST(SolveBuildable, ThePlanDoesNotDependOnTheTime) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const auto plan = [&](double seconds) {
      Problem problem = network_problem({.blocks = 12, .layouts = 2, .seed = seed});
      Builder builder{problem, 0};
      return solve_buildable(problem, builder, {.time_limit_s = seconds, .start = {}, .width = 1});
    };
    const Solution hurried = plan(0), patient = plan(10);
    EXPECT_EQ(hurried.chosen, patient.chosen) << seed;
    EXPECT_GE(patient.bound_us, hurried.bound_us);
    EXPECT_LE(patient.bound_us, patient.objective_us);
  }
}

// Its limit is for all that it solves, however often something is refused; without any time there is still a
// plan.
TEST(SolveBuildable, WithoutTimeThePlanIsNotProven) {
  Problem problem = ways_to_one_output(6);
  Builder builder{problem, 2};
  const Solution solution = solve_buildable(problem, builder, {.time_limit_s = 0, .start = {}});
  EXPECT_EQ(solution.chosen, std::vector<int>{2});
  EXPECT_LE(solution.bound_us, solution.objective_us);
}

}  // namespace
}  // namespace korch
