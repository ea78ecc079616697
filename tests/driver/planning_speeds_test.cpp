// What a compilation says of the machine that it takes for granted.
#include "korch/driver/planning_speeds.h"

#include <gtest/gtest.h>

#include "korch/candidate/enumerate.h"
#include "korch/codegen/implementation.h"

namespace korch {
namespace {

TEST(Crowding, NamesBothNumbers) {
  EXPECT_EQ(crowding(2, 2), "");
  EXPECT_NE(crowding(400, 2).find("400 workers share 2 processors"), std::string::npos) << crowding(400, 2);
  EXPECT_NE(crowding(2, 1).find("2 workers share one processor"), std::string::npos) << crowding(2, 1);
}

TEST(PlanningSpeeds, OfATargetThatDoesNotRunHereAreNominalAndSaidToBe) {
  const Device target = cpu_device(Isa::x86_64_v4);
  const PlanningSpeeds speeds = planning_speeds(target, Strategy::optimal, nullptr);
  EXPECT_EQ(speeds.device, with_nominal_speeds(target));
  EXPECT_EQ(speeds.are, "nominal speeds of x86-64-v4, not measured");
  EXPECT_NE(speeds.doubt.find("nominal speeds of x86-64-v4, not measured"), std::string::npos)
      << speeds.doubt;
  EXPECT_EQ(planning_speeds(target, Strategy::random, nullptr).doubt, "");
}

TEST(DoubtsAfterMeasuring, NameWhatRanAndWhatWasBeaten) {
  const Device target = detect_device("native", 1);
  SolveMemo memo;
  Columns columns;
  const Graph graph;
  EXPECT_TRUE(doubts_after_measuring(memo, graph, columns, target, nullptr).empty());
  memo.disturbed = "other programs used 1.5 of 2 processors";
  memo.bound_violations = 3;
  const std::vector<std::string> doubts = doubts_after_measuring(memo, graph, columns, target, nullptr);
  ASSERT_EQ(doubts.size(), 2u);
  EXPECT_NE(doubts[0].find("this machine is busy: when kernels were measured, " + memo.disturbed),
            std::string::npos)
      << doubts[0];
  EXPECT_NE(doubts[1].find("(3)"), std::string::npos) << doubts[1];
}

TEST(DoubtsAfterMeasuring, NameTheKernelThatIsTooFastToBeBelieved) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {64, 64}}, "x");
  graph.set_outputs({graph.add(Op::Relu, NoAttrs{}, {x})}, {"y"});
  const Device target = detect_device("native", 1);
  Columns columns = build_columns(graph, enumerate_candidates(graph, linear_context()).candidates,
                                  with_nominal_speeds(target));
  ASSERT_FALSE(columns.infos.empty());
  for (size_t id = 0; id < columns.infos.size(); ++id) {
    columns.problem.columns[id].measured = true;
    columns.problem.columns[id].cost_us = columns.infos[id].bound_us / 3;
  }
  SolveMemo memo;
  memo.bound_violations = static_cast<int>(columns.infos.size());
  const std::vector<std::string> doubts =
      doubts_after_measuring(memo, graph, columns, with_nominal_speeds(target), nullptr);
  ASSERT_EQ(doubts.size(), 1u);
  for (const std::string& part : {std::string("Relu"), std::string("the speeds stay")})
    EXPECT_NE(doubts[0].find(part), std::string::npos) << doubts[0];
}

}  // namespace
}  // namespace korch
