#include "korch/driver/stage_deadlines.h"

#include <gtest/gtest.h>

#include "korch/inspect/check_time.h"

namespace korch {
namespace {

constexpr double kClock = 60;  // seconds that a test may take

TEST(StageDeadlines, WithoutABudgetEveryStageEnds) {
  const StageDeadlines stages(0);
  EXPECT_FALSE(stages.whole().is_over());
  EXPECT_LE(stages.growing().left_s(), StageLimits().growing_s);
  EXPECT_LE(stages.search().left_s(), StageLimits().search_s);
  EXPECT_LE(stages.check().left_s(), StageLimits().check_s);
}

TEST(StageDeadlines, TheSearchLeavesTimeForTheCheck) {
  StageDeadlines stages(1000);
  EXPECT_NEAR(stages.search().left_s(), 800, kClock);
  stages.reserve_for_check(400);
  EXPECT_NEAR(stages.search().left_s(), 500, kClock);
  EXPECT_LE(stages.growing().left_s(), stages.search().left_s());
  EXPECT_NEAR(stages.check().left_s(), 1102, kClock);
}

TEST(StageDeadlines, NothingIsLeftToACheckThatWouldNotEnd) {
  StageDeadlines stages(1000);
  stages.reserve_for_check(600);
  EXPECT_NEAR(stages.search().left_s(), 800, kClock);
}

TEST(CheckTime, GrowsWithTheWork) {
  const auto seconds = [](int64_t side) {
    Graph graph;
    const ValueId x = graph.add_input({DType::f32, {side, side}}, "x");
    graph.set_outputs({graph.add(Op::Exp, NoAttrs{}, {x})}, {"y"});
    return check_seconds(graph);
  };
  EXPECT_GT(seconds(1 << 15), seconds(1 << 4));  // a million times the work
}

}  // namespace
}  // namespace korch
