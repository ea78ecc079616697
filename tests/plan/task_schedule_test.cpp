#include "korch/plan/task_schedule.h"

#include <gtest/gtest.h>

#include <array>

#include "korch/plan/kernel.h"
#include "random_tasks.h"

namespace korch::testing {
namespace {

constexpr uint32_t kRandomPlans = 500;
constexpr int kSchedulesOfEach = 20;  // 10,000 in all

using Memories = std::array<std::array<uint64_t, kRandomBytes>, kRandomMemories>;

// What every byte of every memory holds at the end, when each task writes a number made of its own and of
// what it reads.
Memories outcome(const std::vector<TaskUse>& tasks, const std::vector<size_t>& order) {
  Memories memories{};
  for (size_t task : order) {
    uint64_t value = 1469598103934665603u + task;
    const auto each_byte = [&](bool written, const auto& visit) {
      for (const MemoryUse& use : tasks[task].uses)
        for (const ByteRange& range : written ? use.written : use.read)
          for (int64_t byte = range.begin; byte < range.end; ++byte)
            visit(memories[static_cast<size_t>(use.memory)][static_cast<size_t>(byte)]);
    };
    each_byte(false, [&](uint64_t& byte) { value = (value ^ byte) * 1099511628211u; });
    each_byte(true, [&](uint64_t& byte) { byte = value++; });
  }
  return memories;
}

TEST(TaskSchedule, RandomSchedulesEndAndAgree) {
  for (uint32_t seed = 0; seed < kRandomPlans; ++seed) {
    const std::vector<TaskUse> tasks = random_tasks(seed);
    const TaskGraph graph = task_graph(tasks);
    const std::vector<size_t> at = places(graph, tasks);
    std::vector<size_t> plan_order(tasks.size());
    for (size_t i = 0; i < tasks.size(); ++i) plan_order[i] = i;
    const auto wanted = outcome(tasks, plan_order);
    std::mt19937 random(seed);
    for (int schedule = 0; schedule < kSchedulesOfEach; ++schedule) {
      const int workers = std::uniform_int_distribution<int>(1, 9)(random);
      const Simulation run = simulate(
          graph, workers, [&](const std::vector<int>& ready, int) { return random() % ready.size(); },
          [&](int) { return static_cast<double>(random() % 50); });
      ASSERT_EQ(run.runs.size(), tasks.size());
      std::vector<size_t> order;
      for (const TaskRun& task : run.runs) order.push_back(at[static_cast<size_t>(task.task)]);
      ASSERT_EQ(outcome(tasks, order), wanted) << seed << ", schedule " << schedule;
    }
  }
}

TEST(TaskSchedule, ListSchedulesAreWholeAndEnd) {
  for (uint32_t seed = 0; seed < kRandomPlans; ++seed) {
    const TaskGraph graph = task_graph(random_tasks(seed));
    double work = 0;
    for (const Task& task : graph.tasks) work += task.cost_us;
    for (int workers : {1, 2, 3, 8}) {
      const Simulation run = list_schedule(graph, workers);
      ASSERT_EQ(run.runs.size(), graph.tasks.size());
      ASSERT_LE(run.end_us, work + 1e-6);
      ASSERT_GE(run.end_us * workers, work - 1e-6);
    }
  }
}

// Three equal tasks, then three that each follow one of them, on two workers: three times as long as two
// tasks, where a barrier between them takes four.
TEST(TaskSchedule, ThreeEqualTilesOnTwoWorkers) {
  std::vector<TaskUse> tasks;
  for (int64_t i = 0; i < 3; ++i) tasks.push_back({0, 0, i, i + 1, 10, {{0, {}, {{i, i + 1}}}}});
  for (int64_t i = 0; i < 3; ++i)
    tasks.push_back({1, 0, i, i + 1, 10, {{0, {{i, i + 1}}, {}}, {1, {}, {{i, i + 1}}}}});
  const TaskGraph graph = task_graph(tasks);
  EXPECT_EQ(list_schedule(graph, 2).end_us, 30);
}

TEST(TaskSchedule, WhatOthersUseOfWhatAStepLeaves) {
  // A step of one task of 30 us, beside it one of 10 us; a third one follows both.
  TaskGraph graph;
  graph.events = {{0, {}}, {2, {}}, {1, {}}};
  graph.tasks = {{0, 0, 0, 1, 30, 0, {1}}, {1, 0, 0, 1, 10, 0, {1}}, {2, 0, 0, 1, 5, 1, {2}}};
  ASSERT_EQ(structural_fault(graph), "");
  const Simulation simulation = list_schedule(graph, 2);
  EXPECT_EQ(simulation.end_us, 35);
  const std::vector<double> shares = overlaps(graph, simulation, 2, 3);
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_DOUBLE_EQ(shares[0], 10.0 / 30);
  EXPECT_DOUBLE_EQ(shares[1], 1);
  EXPECT_DOUBLE_EQ(shares[2], 0);
}

TEST(Kernel, OccupancyIsTheShareOfWorkersThatHaveSlices) {
  Kernel kernel;
  kernel.phases = {{"k", 1, 1, 1}};
  EXPECT_DOUBLE_EQ(occupancy(kernel, 4), 0.25);
  kernel.phases = {{"k", 8, 4, 10}};  // two chunks in each round
  EXPECT_DOUBLE_EQ(occupancy(kernel, 4), 0.5);
  kernel.phases.push_back({"l", 80, 1, 1});
  EXPECT_DOUBLE_EQ(occupancy(kernel, 4), 0.75);
  EXPECT_DOUBLE_EQ(occupancy(kernel, 1), 1);
}

}  // namespace
}  // namespace korch::testing
