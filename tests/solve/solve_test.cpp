#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "instances.h"
#include "korch/solve/landmark_cuts.h"
#include "korch/solve/network.h"
#include "korch/solve/orchestrator.h"
#include "korch/solve/problem.h"

namespace korch {
namespace {

constexpr double kTolerance = 1e-6;  // relative; costs are sums of a few numbers

double cost_of(const Problem& problem, const std::vector<int>& chosen) {
  double sum = 0;
  for (const int column : chosen) sum += problem.columns[column].cost_us;
  return sum;
}

// The chosen columns run in the order given and leave every required tensor.
testing::AssertionResult runs(const Problem& problem, const std::vector<int>& chosen) {
  std::vector<bool> there(problem.tensor_class.size());
  for (const int tensor : problem.available) there[tensor] = true;
  for (const int column : chosen) {
    for (const int tensor : problem.columns[column].inputs)
      if (!there[tensor])
        return testing::AssertionFailure() << "column " << column << " lacks tensor " << tensor;
    for (const int tensor : problem.columns[column].outputs) there[tensor] = true;
  }
  for (const int tensor : problem.required)
    if (!there[tensor]) return testing::AssertionFailure() << "tensor " << tensor << " is not made";
  return testing::AssertionSuccess();
}

void expect_optimal(const Problem& problem, const Solution& solution, double optimum) {
  EXPECT_EQ(solution.status, SolveStatus::optimal);
  EXPECT_TRUE(runs(problem, solution.chosen));
  EXPECT_NEAR(solution.objective_us, optimum, kTolerance * (1 + optimum));
  EXPECT_NEAR(solution.objective_us, cost_of(problem, solution.chosen), 1e-9);
  EXPECT_LE(solution.bound_us, solution.objective_us);
  EXPECT_GE(solution.bound_us, solution.objective_us - kTolerance * (1 + optimum));
}

// Branch and bound alone, then with plans by regression: both must say the same.
Solution solve_both_ways(const Problem& problem) {
  const Solution alone = solve(problem, {.time_limit_s = {}, .start = {}, .width = 0});
  const Solution together = solve(problem);
  EXPECT_EQ(alone.status, together.status);
  EXPECT_TRUE(alone.chosen.empty() == together.chosen.empty());
  if (!alone.chosen.empty()) {
    EXPECT_TRUE(runs(problem, alone.chosen));
    EXPECT_NEAR(alone.objective_us, together.objective_us, kTolerance * (1 + together.objective_us));
  }
  return together;
}

// Solves and compares with brute force; true when the problem had a plan.
bool agrees_with_brute_force(const Problem& problem, bool both_ways) {
  const std::optional<double> optimum = brute_force(problem);
  const Solution solution = both_ways ? solve_both_ways(problem) : solve(problem);
  if (optimum) {
    expect_optimal(problem, solution, *optimum);
  } else {
    EXPECT_EQ(solution.status, SolveStatus::infeasible);
    EXPECT_TRUE(solution.chosen.empty());
  }
  return optimum.has_value();
}

#ifdef KORCH_SANITIZED
constexpr int kInstances = 6000;  // of each kind: sanitizers look at memory, not at answers
#else
constexpr int kInstances = 20000;  // of each kind
#endif
constexpr int kBothWays =
    20;  // every so many-th also by branch and bound alone, which takes ten times longer

TEST(Solve, RandomGraphsAgreeWithBruteForce) {
  Random random(1);
  int feasible = 0;
  for (int i = 0; i < kInstances && !testing::Test::HasFailure(); ++i) {
    const Problem problem = random_graph_problem(random);
    feasible += agrees_with_brute_force(problem, i % kBothWays == 0);
    if (testing::Test::HasFailure()) std::printf("instance %d: %s\n", i, describe(problem).c_str());
  }
  EXPECT_GT(feasible, kInstances / 2);
}

TEST(Solve, RandomColumnsAgreeWithBruteForce) {
  Random random(2);
  int feasible = 0;
  for (int i = 0; i < kInstances && !testing::Test::HasFailure(); ++i) {
    const Problem problem = random_problem(random);
    feasible += agrees_with_brute_force(problem, i % kBothWays == 0);
    if (testing::Test::HasFailure()) std::printf("instance %d: %s\n", i, describe(problem).c_str());
  }
  EXPECT_GT(feasible, kInstances / 3);
}

// One class per tensor.
Problem plain_problem(int tensors, std::vector<int> available, std::vector<int> required) {
  Problem problem;
  for (int t = 0; t < tensors; ++t) problem.tensor_class.push_back(t);
  problem.available = std::move(available);
  problem.required = std::move(required);
  return problem;
}

void add(Problem& problem, double cost, std::vector<int> inputs, std::vector<int> outputs,
         std::vector<int> covers) {
  problem.columns.push_back({cost, true, std::move(inputs), std::move(outputs), std::move(covers), false});
}

// p1 -> p2, p3 -> p4; A = {p1, p4} and B = {p3, p2} wait for each other.
TEST(Solve, CandidatesThatWaitForEachOther) {
  Problem problem = plain_problem(4, {}, {1, 3});
  add(problem, 1, {2}, {0, 3}, {0, 3});
  add(problem, 1, {0}, {2, 1}, {2, 1});
  add(problem, 0.9, {}, {0}, {0});
  add(problem, 0.9, {0}, {1}, {1});
  add(problem, 0.9, {}, {2}, {2});
  add(problem, 0.9, {2}, {3}, {3});
  const std::optional<double> optimum = brute_force(problem);
  ASSERT_TRUE(optimum);
  EXPECT_NEAR(*optimum, 2.8, 1e-12);
  const Solution solution = solve_both_ways(problem);
  expect_optimal(problem, solution, 2.8);
  EXPECT_TRUE(order_columns(problem, {0, 1}).empty());
}

// The connected form: x -> a0, a0 -> a1 -> b1, x -> b0, b0 -> b2 -> a2, A = {a1, a2}, B = {b1, b2}.
TEST(Solve, ConnectedCandidatesThatWaitForEachOther) {
  enum { x, a0, a1, a2, b0, b1, b2 };
  Problem problem = plain_problem(7, {x}, {a2, b1});
  add(problem, 1, {a0, b2}, {a1, a2}, {a1, a2});
  add(problem, 1, {a1, b0}, {b1, b2}, {b1, b2});
  for (const auto& [from, to] : {std::pair(x, a0), {x, b0}, {a0, a1}, {a1, b1}, {b0, b2}, {b2, a2}})
    add(problem, 0.9, {from}, {to}, {to});
  const std::optional<double> optimum = brute_force(problem);
  ASSERT_TRUE(optimum);
  EXPECT_NEAR(*optimum, 0.9 * 4 + 1, 1e-12);
  expect_optimal(problem, solve_both_ways(problem), *optimum);
}

// C = f(X); D = g(C) or h(X): C is live and need not be computed.
TEST(Solve, LiveClassThatIsNotMandatory) {
  Problem problem = plain_problem(3, {0}, {2});
  add(problem, 1, {0}, {1}, {1});
  add(problem, 1, {1}, {2}, {2});
  add(problem, 1, {0}, {2}, {2});
  expect_optimal(problem, solve_both_ways(problem), 1);
}

TEST(Solve, ReordersDoNotMakeTheirOwnInput) {
  Problem problem;
  problem.tensor_class = {0, 1, 1, 1};
  problem.available = {0};
  problem.required = {3};
  add(problem, 100, {0}, {1}, {1});
  for (int from = 1; from <= 3; ++from)
    for (int to = 1; to <= 3; ++to)
      if (from != to) problem.columns.push_back({0.1, true, {from}, {to}, {1}, true});
  expect_optimal(problem, solve_both_ways(problem), 100.1);
}

TEST(Solve, ViewsOfEachOtherAreNotAPlan) {
  Problem problem = plain_problem(3, {0}, {2});
  add(problem, 0, {1}, {2}, {2});
  add(problem, 0, {2}, {1}, {1});
  EXPECT_EQ(solve_both_ways(problem).status, SolveStatus::infeasible);
  add(problem, 5, {0}, {1}, {1});
  const Solution solution = solve_both_ways(problem);
  expect_optimal(problem, solution, 5);
  EXPECT_EQ(solution.chosen, (std::vector<int>{2, 0}));
}

TEST(Solve, RecomputesWhatIsCheap) {
  Problem problem = plain_problem(4, {0}, {2, 3});
  add(problem, 5, {0}, {1}, {1});
  add(problem, 5, {1}, {2}, {2});
  add(problem, 5, {1}, {3}, {3});
  add(problem, 6, {0}, {2}, {1, 2});
  add(problem, 6, {0}, {3}, {1, 3});
  expect_optimal(problem, solve_both_ways(problem), 12);
}

TEST(Solve, InfeasibleIsSaid) {
  Problem problem = plain_problem(3, {0}, {2});
  add(problem, 1, {0}, {1}, {1});
  EXPECT_EQ(solve_both_ways(problem).status, SolveStatus::infeasible);
  add(problem, std::numeric_limits<double>::infinity(), {1}, {2}, {2});
  EXPECT_EQ(solve_both_ways(problem).status, SolveStatus::infeasible);
}

TEST(Solve, NothingToDo) {
  const Solution solution = solve(plain_problem(1, {0}, {0}));
  EXPECT_EQ(solution.status, SolveStatus::optimal);
  EXPECT_TRUE(solution.chosen.empty());
  EXPECT_EQ(solution.objective_us, 0);
}

TEST(Solve, RequiredViewOfAnInputIsInThePlan) {
  Problem problem = plain_problem(2, {0}, {1});
  add(problem, 0, {0}, {1}, {1});
  const Solution solution = solve_both_ways(problem);
  expect_optimal(problem, solution, 0);
  EXPECT_EQ(solution.chosen, std::vector<int>{0});
}

TEST(Solve, OutOfTimeThereIsAPlan) {
  NetworkOptions options;
  options.blocks = 6;
  const Problem problem = network_problem(options);
  SolveOptions solve_options;
  solve_options.time_limit_s = 0;
  const Solution unproven = solve(problem, solve_options);
  EXPECT_EQ(unproven.status, SolveStatus::feasible);
  EXPECT_TRUE(runs(problem, unproven.chosen));
  // Primitives one by one: the columns that cover one class.
  for (size_t k = 0; k < problem.columns.size(); ++k)
    if (problem.columns[k].covers.size() == 1) solve_options.start.push_back(static_cast<int>(k));
  const Solution solution = solve(problem, solve_options);
  EXPECT_EQ(solution.status, SolveStatus::feasible);
  EXPECT_TRUE(runs(problem, solution.chosen));
  EXPECT_LT(solution.bound_us, solution.objective_us);
  EXPECT_LE(solution.objective_us, cost_of(problem, solve_options.start));
}

// C by f(X), D by g(X); E by either: none of C and D is mandatory, one of them is.
TEST(Solve, OneOfTwoClassesIsMandatory) {
  Problem problem = plain_problem(4, {0}, {3});
  add(problem, 5, {0}, {1}, {1});
  add(problem, 6, {0}, {2}, {2});
  add(problem, 1, {1}, {3}, {3});
  add(problem, 1, {2}, {3}, {3});
  expect_optimal(problem, solve_both_ways(problem), 6);
}

// Without a cut's arcs there is no plan, and the shares pay no arc more than it costs.
void expect_cuts(const Problem& problem, CutSides sides, size_t part) {
  const Network network = reduce(problem);
  if (!network.feasible) return;
  std::vector<double> left_us;
  for (const Arc& arc : network.arcs) {
    left_us.push_back(problem.columns[arc.columns[0]].cost_us);
    for (const int column : arc.columns)
      left_us.back() = std::min(left_us.back(), problem.columns[column].cost_us);
  }
  double sum = 0;
  for (const LandmarkCut& cut : landmark_cuts(network, left_us, 60, sides, part)) {
    sum += cut.share_us;
    std::vector<int> others;
    for (size_t a = 0; a < network.arcs.size(); ++a)
      if (!std::binary_search(cut.arcs.begin(), cut.arcs.end(), static_cast<int>(a)))
        others.push_back(static_cast<int>(a));
    EXPECT_FALSE(order_arcs(network, others).reached) << describe(problem);
    for (const int arc : cut.arcs) {
      left_us[arc] -= cut.share_us;
      EXPECT_GE(left_us[arc], -kTolerance);
    }
  }
  std::vector<int> free;
  for (size_t a = 0; a < left_us.size(); ++a)
    if (left_us[a] < kTolerance) free.push_back(static_cast<int>(a));
  EXPECT_TRUE(order_arcs(network, free).reached) << "cuts are left to be found";
  EXPECT_LE(sum, *brute_force(problem) + kTolerance);
}

TEST(Solve, NoPlanMissesACut) {
  Random random(11);
  for (int i = 0; i < kInstances / 20 && !testing::Test::HasFailure(); ++i) {
    for (const CutSides sides : {CutSides::zone, CutSides::both}) {
      for (const size_t part : {size_t{2}, kLandmarkPart}) {
        expect_cuts(random_graph_problem(random), sides, part);
        expect_cuts(random_problem(random), sides, part);
      }
    }
  }
}

TEST(Solve, ACutWithoutArcsSaysThatThereIsNoPlan) {
  Problem problem = plain_problem(2, {}, {1});
  add(problem, 1, {}, {0}, {0});
  add(problem, 1, {0}, {1}, {1});
  const Network network = reduce(problem);
  const std::vector<double> cost(network.arcs.size(), std::numeric_limits<double>::infinity());
  const std::vector<LandmarkCut> cuts = landmark_cuts(network, cost, 60, CutSides::both);
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_TRUE(cuts[0].arcs.empty());
}

// Whatever a time limit cuts off a relaxation, those that follow are not worse for it.
TEST(Solve, RelaxationsCutShortDoNoHarm) {
  NetworkOptions options;
  options.blocks = 10;
  options.layouts = 2;
  options.alternatives = 50;
  const Problem problem = network_problem(options);
  Orchestrator orchestrator(problem);
  for (int i = 1; i <= 30; ++i) orchestrator.relax(i * 1e-3, Orchestrator::kThorough);
  const Solution solution = orchestrator.solve(60, {}, SolveOptions().width);
  EXPECT_EQ(solution.status, SolveStatus::optimal);
  EXPECT_NEAR(solution.objective_us, solve(problem).objective_us, kTolerance * solution.objective_us);
}

// Regression alone: the optimum where it leaves nothing out, some plan where it may keep one state at a
// place, and never worse than what it is given.
void expect_regression(const Problem& problem, int& complete) {
  const std::optional<double> optimum = brute_force(problem);
  Orchestrator orchestrator(problem);
  const Solution narrow = orchestrator.regress({}, 1), wide = orchestrator.regress({}, 1 << 20);
  if (!optimum) {
    EXPECT_TRUE(narrow.chosen.empty() && wide.chosen.empty()) << describe(problem);
    return;
  }
  const double tolerance = kTolerance * (1 + *optimum);
  EXPECT_TRUE(runs(problem, narrow.chosen)) << describe(problem);
  EXPECT_TRUE(runs(problem, wide.chosen)) << describe(problem);
  EXPECT_GE(narrow.objective_us, *optimum - tolerance);
  EXPECT_LE(orchestrator.regress(narrow.chosen, 2).objective_us, narrow.objective_us + tolerance);
  if (wide.status != SolveStatus::optimal) return;
  ++complete;
  EXPECT_NEAR(wide.objective_us, *optimum, tolerance) << describe(problem);
}

TEST(Solve, RegressionAgreesWithBruteForce) {
  Random random(7);
  int complete = 0;
  for (int i = 0; i < kInstances / 20 && !testing::Test::HasFailure(); ++i) {
    expect_regression(random_graph_problem(random), complete);
    expect_regression(random_problem(random), complete);
  }
  EXPECT_GT(complete, kInstances / 20);
}

TEST(Solve, SameAnswerEveryTime) {
  NetworkOptions options;
  options.blocks = 8;
  options.layouts = 2;
  const Problem problem = network_problem(options);
  EXPECT_EQ(solve_both_ways(problem).chosen, solve_both_ways(problem).chosen);
}

TEST(Order, OfColumnsThatCanRun) {
  Problem problem = plain_problem(4, {0}, {3});
  add(problem, 1, {2}, {3}, {3});
  add(problem, 1, {1}, {2}, {2});
  add(problem, 1, {0}, {1}, {1});
  EXPECT_EQ(order_columns(problem, {0, 1, 2}), (std::vector<int>{2, 1, 0}));
  EXPECT_TRUE(order_columns(problem, {0, 2}).empty());
}

}  // namespace
}  // namespace korch
