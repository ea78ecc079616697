#include <gtest/gtest.h>

#include <limits>

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
