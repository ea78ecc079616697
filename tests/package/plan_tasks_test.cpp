#include "korch/package/plan_tasks.h"

#include <gtest/gtest.h>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/package/loaded.h"
#include "test_plan.h"

namespace korch {
namespace {

// The accesses of test_plan's kernels, in blocks as block_slices cuts them.
Plan plan_with_accesses() {
  Plan plan = test_plan();
  const auto blocks = [&](const KernelPhase& phase, const auto& access) {
    PhaseAccess result{static_cast<double>(phase.grid), {}};
    const int64_t slices = block_slices(phase, plan.threads);
    for (int64_t begin = 0; begin < phase.grid; begin += slices)
      result.blocks.push_back(access(ByteRange{4 * begin, 4 * std::min(phase.grid, begin + slices)}));
    return result;
  };
  using Accesses = std::vector<ArgumentAccess>;
  Kernel &scale = plan.kernels[0], &relu = plan.kernels[1];
  scale.accesses = {blocks(scale.phases[0], [](ByteRange part) {
    return Accesses{{0, {part}, {}}, {2, {}, {part}}};
  })};
  relu.accesses = {blocks(relu.phases[0],
                          [](ByteRange) {
                            return Accesses{{0, {{0, 4 * kElements}}, {}}, {2, {}, {{0, 4}}}};
                          }),
                   blocks(relu.phases[1], [](ByteRange part) {
                     return Accesses{{0, {part}, {}}, {1, {}, {part}}, {2, {{0, 4}}, {}}};
                   })};
  return plan;
}

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

TEST(PlanTasks, ExecutablesGiveTheSameByAnyScheduleAndNumberOfThreads) {
  const TempDir folder;
  const std::string path = folder.path() + "/model.so";
  HostTensor x(TensorType{DType::f32, {kElements}});
  for (int64_t i = 0; i < kElements; ++i) x.mutable_data<float>()[i] = 0.37f * static_cast<float>(i % 13);
  std::vector<HostTensor> wanted;
  for (const Plan& original : {test_plan(), plan_with_accesses()})
    for (const PlanSchedule compiled : kSchedules) {
      Plan plan = original;
      plan.schedule = compiled;
      write_executable(test_package(plan, Isa::portable), path);
      for (const int threads : {1, 2, 3, 5})
        for (const std::optional<PlanSchedule> schedule :
             {std::optional<PlanSchedule>(), std::optional(PlanSchedule::barrier),
              std::optional(PlanSchedule::dynamic)}) {
          LoadedExecutable model(path, threads, schedule);
          const std::vector<HostTensor> outputs = model.run({x});
          if (wanted.empty()) wanted = outputs;
          for (size_t o = 0; o < outputs.size(); ++o)
            ASSERT_EQ(std::string_view(static_cast<const char*>(outputs[o].raw()), outputs[o].bytes()),
                      std::string_view(static_cast<const char*>(wanted[o].raw()), wanted[o].bytes()));
          std::vector<HostTensor> again = model.allocate_outputs();
          EXPECT_EQ(model.profile({x}, again).size(), 3u);  // timed step by step: phase after phase
        }
    }
}

TEST(PlanTasks, AFailureNamesItsStep) {
  const TempDir folder;
  Plan plan = plan_with_accesses();
  plan.schedule = PlanSchedule::dynamic;
  write_executable(test_package(plan, Isa::portable), folder.path() + "/model.so");
  LoadedExecutable model(folder.path() + "/model.so", 2);
  HostTensor x(TensorType{DType::f32, {kElements}});
  x.mutable_data<float>()[0] = 2000;  // which the first kernel refuses
  for (int run = 0; run < 20; ++run) {
    try {
      model.run({x});
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("Mul \"scale\""), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace korch
