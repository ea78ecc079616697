// Stages of the pipeline, each called with values made by hand.
#include "korch/driver/stages.h"

#include <gtest/gtest.h>

#include "korch/base/error.h"
#include "korch/candidate/enumerate.h"
#include "korch/codegen/implementation.h"
#include "korch/profile/footprint.h"

namespace korch {
namespace {

// relu(x) * relu(x) + x
Graph three_primitives() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {8, 16}}, "x");
  const ValueId relu = g.add(Op::Relu, NoAttrs{}, {x}, {"relu"});
  const ValueId square = g.add(Op::Mul, NoAttrs{}, {relu, relu}, {"square"});
  g.set_outputs({g.add(Op::Add, NoAttrs{}, {square, x}, {"add"})}, {"y"});
  return g;
}

class Stages : public ::testing::Test {
 protected:
  Stages() { options_.measure = Measure::none; }

  Setting setting() const { return {options_, device_, deadlines_, nullptr, strikes_}; }
  KernelBank bank(const Rewritten& rewritten) const {
    return KernelBank(rewritten.graph, device_, nullptr, footprint_bytes(graph_), strikes_);
  }
  // Of candidates that the test names, as everything behind them.
  BuiltPlan plan_of(std::vector<Candidate> all) {
    const Rewritten rewritten = with_alternatives(graph_, setting());
    KernelBank kernels = bank(rewritten);
    Candidates candidates;
    candidates.limits = {"made by hand"};
    Columns columns = make_columns(rewritten, std::move(all), candidates.first_optional, setting());
    const Choice choice = choose(rewritten, candidates, kernels, setting(), columns);
    return make_plan({.network = imported(graph_, "three"),
                      .primitives = graph_,
                      .rewritten = rewritten,
                      .candidates = candidates,
                      .columns = columns,
                      .choice = choice,
                      .peaks_are = "nominal",
                      .doubts = {"a doubt"}},
                     kernels, setting());
  }

  const Graph graph_ = three_primitives();
  CompileOptions options_;
  const Device device_ = with_nominal_speeds(cpu_device(Isa::x86_64_v3, 2));
  const StageDeadlines deadlines_{0};
  Strikes* strikes_ = nullptr;
};

TEST_F(Stages, AlternativesAreForTheStrategyThatChooses) {
  Graph graph = graph_;
  for (const Strategy strategy : {Strategy::greedy, Strategy::unfused}) {
    options_.strategy = strategy;
    const Rewritten same = with_alternatives(graph, setting());
    EXPECT_TRUE(same.rules.empty());
    EXPECT_EQ(same.graph.node_count(), graph.node_count());
  }
  options_.strategy = Strategy::optimal;
  EXPECT_FALSE(with_alternatives(graph, setting()).rules.empty());
  options_.alternatives = false;
  EXPECT_TRUE(with_alternatives(graph, setting()).rules.empty());
}

TEST_F(Stages, CandidatesOfEachStrategy) {
  options_.alternatives = false;
  const Rewritten rewritten = with_alternatives(graph_, setting());
  KernelBank kernels = bank(rewritten);
  const auto find = [&](Strategy strategy) {
    options_.strategy = strategy;
    return find_candidates(rewritten, kernels, setting());
  };
  EXPECT_EQ(find(Strategy::unfused).all.size(), 3u);
  const Candidates greedy = find(Strategy::greedy);
  ASSERT_EQ(greedy.all.size(), 1u);
  EXPECT_EQ(greedy.all[0].nodes.size(), 3u);
  EXPECT_TRUE(greedy.greedy_groups.empty());  // no plan to run its own against
  const Candidates optimal = find(Strategy::optimal);
  EXPECT_EQ(optimal.greedy_groups.size(), 1u);
  EXPECT_GT(optimal.all.size(), 3u);
  EXPECT_EQ(optimal.first_optional, std::numeric_limits<size_t>::max());
  options_.budget_s = 1000;  // greedy's groups and single primitives come first
  const Candidates in_time = find(Strategy::optimal);
  EXPECT_EQ(in_time.all.size(), optimal.all.size());
  EXPECT_EQ(in_time.first_optional, 4u);
}

TEST_F(Stages, APlanOfWhatTheStagesBeforeHandOver) {
  const BuiltPlan whole = plan_of(enumerate_candidates(graph_, linear_context()).candidates);
  EXPECT_EQ(whole.plan.steps.size(), 1u);
  const PlanReport& report = whole.plan.report;
  EXPECT_EQ(report.model, "three");
  EXPECT_EQ(report.primitives, 3);
  EXPECT_EQ(report.peaks_are, "nominal");
  EXPECT_EQ(report.doubts, std::vector<std::string>{"a doubt"});
  EXPECT_EQ(report.limits.at(0), "made by hand");
  EXPECT_EQ(report.network, imported(graph_, "another name").hash);
  // With candidates of one primitive each the same functions make another plan.
  options_.alternatives = false;
  std::vector<Candidate> single;
  for (const Candidate& candidate : enumerate_candidates(graph_, linear_context()).candidates)
    if (candidate.nodes.size() == 1) single.push_back(candidate);
  BuiltPlan apart = plan_of(single);
  EXPECT_EQ(apart.plan.steps.size(), 3u);
  options_.schedule = PlanSchedule::barrier;
  const std::vector<Placement> placements = find_tasks(apart, setting());
  EXPECT_EQ(apart.plan.schedule, PlanSchedule::barrier);
  ASSERT_EQ(placements.size(), 1u);
  ASSERT_TRUE(placements[0].tasks);
  EXPECT_GE(placements[0].tasks->tasks.size(), 3u);  // of each step one at least
}

// Of each kernel of greedy's only group it turns out that it cannot be built.
TEST_F(Stages, OfARefusedGroupEachPrimitiveIsAKernel) {
  options_.strategy = Strategy::greedy;
  Strikes strikes(nullptr, device_);
  strikes_ = &strikes;
  std::vector<Candidate> group;
  for (const Candidate& candidate : enumerate_candidates(graph_, linear_context()).candidates)
    if (candidate.nodes.size() == 3) group.push_back(candidate);
  ASSERT_EQ(group.size(), 1u);
  BuiltPlan plan = plan_of(group);
  EXPECT_EQ(plan.plan.report.limits.size(), 1u);  // the test's own
  for (int tries = 0; plan.plan.steps.size() == 1 && tries < 100; ++tries) {
    strikes.strike({plan.plan.kernels[0].key().hex(), "a kernel", "told so"});
    plan = plan_of(group);
  }
  EXPECT_EQ(plan.plan.steps.size(), 3u);
  ASSERT_EQ(plan.plan.report.limits.size(), 2u);
  EXPECT_TRUE(plan.plan.report.limits[1].starts_with("refused groups: ")) << plan.plan.report.limits[1];
}

TEST_F(Stages, WithoutCandidatesThereIsNoPlan) {
  try {
    plan_of({});
    ADD_FAILURE() << "a plan of nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find("no plan exists"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace korch
