// A budget of which nothing is left, in every stage; and the limit on the size of the program.
#include <gtest/gtest.h>

#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/inspect/verify.h"

namespace korch {
namespace {

// Relu and tanh in turn, with sums that read what was there before.
Graph network(int length) {
  Graph graph;
  ValueId x = graph.add_input({DType::f32, {2, 16}}, "x");
  for (int i = 0; i < length; ++i) {
    const ValueId y = graph.add(i % 2 == 0 ? Op::Tanh : Op::Relu, NoAttrs{}, {x});
    x = i % 3 == 0 ? graph.add(Op::Add, NoAttrs{}, {x, y}) : y;
  }
  graph.set_outputs({graph.add(Op::Tanh, NoAttrs{}, {x})}, {"y"});
  return graph;
}

CompileOptions on_bounds() {
  CompileOptions options;
  options.threads = 2;
  options.measure = Measure::none;
  return options;
}

bool is_spent(const CompileResult& result) {
  return result.plan.report.solver_status == "budget spent";
}

TEST(Budget, WithoutTimeThePlanIsGreedys) {
  const TempDir folder;
  CompileOptions options = on_bounds();
  const Graph graph = network(40);
  options.strategy = Strategy::greedy;
  const CompileResult greedy = compile_graph(graph, "g", folder.path() + "/g.so", options);
  options.strategy = Strategy::optimal;
  options.budget_s = 1e-6;
  for (const Measure measure : {Measure::none, Measure::plan, Measure::prove}) {
    options.measure = measure;
    const std::string file = folder.path() + "/m.so";
    const CompileResult result = compile_graph(graph, "m", file, options);
    EXPECT_TRUE(is_spent(result));
    EXPECT_EQ(result.measured, 0);
    EXPECT_EQ(result.plan.steps.size(), greedy.plan.steps.size());
    EXPECT_EQ(result.plan.report.measured_us, 0);  // nor was it run whole
    EXPECT_TRUE(result.plan.report.schedules.empty());
    EXPECT_FALSE(result.plan.report.certified);
    EXPECT_LE(result.plan.report.bound_us, result.plan.report.objective_us);
    EXPECT_EQ(result.plan.report.refused.count("budget"), 0u);  // nothing grew, so that nothing was left out
    EXPECT_GT(result.plan.report.pruned.at("budget"), 0);
    ASSERT_FALSE(result.warnings.empty());
    EXPECT_NE(result.warnings.back().find("more than the budget"), std::string::npos)
        << result.warnings.back();
    EXPECT_TRUE(compare_executable(graph, file, {}).passed);
  }
}

TEST(Budget, VerificationEndsWithIt) {
  const TempDir folder;
  const CompileOptions options = on_bounds();
  const Graph graph = network(10);
  const std::string file = folder.path() + "/m.so";
  compile_graph(graph, "m", file, options);
  VerifyOptions verify_options;
  verify_options.deadline = Deadline(-1);
  EXPECT_THROW(compare_executable(graph, file, verify_options), BudgetSpent);
}

TEST(Budget, ALargeOneChangesNothing) {
  const TempDir folder;
  CompileOptions options = on_bounds();
  const Graph graph = network(20);
  const CompileResult without = compile_graph(graph, "m", folder.path() + "/a.so", options);
  options.budget_s = 3600;
  const CompileResult within = compile_graph(graph, "m", folder.path() + "/b.so", options);
  EXPECT_FALSE(is_spent(within));
  EXPECT_EQ(within.plan.steps.size(), without.plan.steps.size());
  EXPECT_EQ(within.plan.report.columns, without.plan.report.columns);
  EXPECT_EQ(within.plan.report.candidates, without.plan.report.candidates);
  EXPECT_TRUE(within.plan.report.limits.empty());
  for (const std::string& warning : within.warnings)  // a busy machine's alone
    EXPECT_NE(warning.find("this machine is busy"), std::string::npos) << warning;
}

TEST(LargeProgram, IsPlannedWithGreedysGroupsAndSaysSo) {
  const TempDir folder;
  const Graph graph = network(6000);
  CompileOptions options = on_bounds();
  options.verify = false;
  options.stop_after = "plan";
  const CompileResult result = compile_graph(graph, "m", "", options);
  const PlanReport& report = result.plan.report;
  ASSERT_EQ(report.limits.size(), 1u);
  EXPECT_EQ(report.limits[0].substr(0, 13), "program_size:");
  EXPECT_GT(report.primitives, 6000);
  EXPECT_LE(report.candidates, report.primitives);
  EXPECT_TRUE(report.alternatives.empty());
  options.budget_s = 1e-6;
  EXPECT_EQ(compile_graph(graph, "m", "", options).plan.steps.size(), result.plan.steps.size());
  options.budget_s = 0;
  options.stop_after = "";
  const CompileResult small = compile_graph(network(30), "m", folder.path() + "/m.so", options);
  EXPECT_TRUE(small.plan.report.limits.empty());
}

}  // namespace
}  // namespace korch
