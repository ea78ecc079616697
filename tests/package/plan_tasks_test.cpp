#include "korch/package/plan_tasks.h"

#include <gtest/gtest.h>

#include "test_plan.h"

namespace korch {
namespace {

size_t waits_for(const TaskGraph& graph, int step, int phase) {
  size_t triggers = 0;
  for (const Task& task : graph.tasks)
    if (task.step == step && task.phase == phase)
      triggers = std::max<size_t>(triggers, graph.events[static_cast<size_t>(task.waits)].needed);
  return triggers;
}

TEST(PlanTasks, AKernelThatSaysNothingWaitsForAllOfTheStepsBefore) {
  const Plan plan = test_plan();
  const std::optional<TaskGraph> tasks = plan_tasks(plan, plan_memory(plan));
  ASSERT_TRUE(tasks);
  EXPECT_EQ(fault_of(*tasks, plan, plan_memory(plan)), "");
  EXPECT_EQ(tasks->tasks.size(), 13u + 1 + 7 + 1);  // scale, total, relu, the copy of "middle"
  EXPECT_EQ(waits_for(*tasks, 1, 0), 13u);
  EXPECT_EQ(waits_for(*tasks, 1, 1), 1u);
}

TEST(PlanTasks, TheCopyOfAnOutputWaitsForThePartThatItCopies) {
  const Plan plan = plan_with_accesses();
  const std::optional<TaskGraph> tasks = plan_tasks(plan, plan_memory(plan));
  ASSERT_TRUE(tasks);
  EXPECT_EQ(fault_of(*tasks, plan, plan_memory(plan)), "");
  EXPECT_EQ(waits_for(*tasks, 1, 0), 13u);
  EXPECT_EQ(waits_for(*tasks, 2, 0), 2u);  // elements 40 to 49 are in two blocks of eight
}

TEST(PlanTasks, NoneForOneThreadAndForLoops) {
  Plan plan = test_plan();
  plan.threads = 1;
  EXPECT_FALSE(plan_tasks(plan, plan_memory(plan)));
  plan = test_plan();
  plan.steps[0].other_end = 1;
  plan.steps[1].other_end = 0;
  EXPECT_TRUE(plan_task_uses(plan, plan_memory(test_plan())).empty());
}

}  // namespace
}  // namespace korch
