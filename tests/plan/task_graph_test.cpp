#include "korch/plan/task_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "korch/base/error.h"
#include "random_tasks.h"
#include "removed_edges.h"
#include "task_graph_reader.h"

namespace korch::testing {
namespace {

constexpr uint32_t kRandomGraphs = 500;

// Three rows, then three that each read their own row and its neighbours, then one that reads all, then one
// that overwrites the first memory.
std::vector<TaskUse> small_tasks() {
  std::vector<TaskUse> tasks;
  for (int64_t i = 0; i < 3; ++i) tasks.push_back({0, 0, i, i + 1, 1, {{0, {}, {{10 * i, 10 * i + 10}}}}});
  for (int64_t i = 0; i < 3; ++i) {
    const ByteRange read = {std::max<int64_t>(0, 10 * i - 1), std::min<int64_t>(30, 10 * i + 11)};
    tasks.push_back({1, 0, i, i + 1, 2, {{0, {read}, {}}, {1, {}, {{10 * i, 10 * i + 10}}}}});
  }
  tasks.push_back({2, 0, 0, 1, 4, {{1, {{0, 30}}, {}}, {2, {}, {{0, 4}}}}});
  tasks.push_back({3, 0, 0, 1, 1, {{0, {}, {{0, 30}}}}});
  return tasks;
}

TEST(TaskGraph, WaitsForWhatItReadsAndForWhoReadsWhatItOverwrites) {
  const TaskGraph graph = task_graph(small_tasks());
  EXPECT_EQ(structural_fault(graph), "");
  EXPECT_EQ(ordering_fault(graph, uses_of(graph, small_tasks())), "");
  EXPECT_EQ(print(graph), R"(tasks {
  event 0 of 0
  event 1 of 2
  event 2 of 3
  event 3 of 2
  event 4 of 3
  event 5 of 2
  task step 0 phase 0 slices 0..1 us 1 waits 0 triggers 1, 2
  task step 0 phase 0 slices 1..2 us 1 waits 0 triggers 1, 2, 3
  task step 0 phase 0 slices 2..3 us 1 waits 0 triggers 2, 3
  task step 1 phase 0 slices 0..1 us 2 waits 1 triggers 4
  task step 1 phase 0 slices 1..2 us 2 waits 2 triggers 4
  task step 1 phase 0 slices 2..3 us 2 waits 3 triggers 4
  task step 2 phase 0 slices 0..1 us 4 waits 4 triggers 5
  task step 3 phase 0 slices 0..1 us 1 waits 4 triggers 5
}
)");
}

// Two phases that wait for all of another one, each task also for a neighbour of its own: one event for
// "all", which triggers the others.
TEST(TaskGraph, WhatSeveralWaitForIsOneEvent) {
  std::vector<TaskUse> tasks;
  for (int64_t i = 0; i < 8; ++i) tasks.push_back({0, 0, i, i + 1, 1, {{0, {}, {{i, i + 1}}}}});
  for (int64_t i = 0; i < 8; ++i) tasks.push_back({1, 0, i, i + 1, 1, {{1, {}, {{i, i + 1}}}}});
  for (int64_t i = 0; i < 8; ++i)
    tasks.push_back({2, 0, i, i + 1, 1, {{0, {{0, 8}}, {}}, {1, {{i, i + 1}}, {}}, {2, {}, {{i, i + 1}}}}});
  const TaskGraph graph = task_graph(tasks);
  EXPECT_EQ(ordering_fault(graph, uses_of(graph, tasks)), "");
  for (const Task& task : graph.tasks) EXPECT_EQ(task.triggers.size(), 1u);
  const auto join = std::find_if(graph.events.begin(), graph.events.end(),
                                 [](const Event& event) { return event.then.size() == 8; });
  ASSERT_NE(join, graph.events.end());
  EXPECT_EQ(join->needed, 8);
}

TEST(TaskGraph, NoTasksBeginAndEnd) {
  const TaskGraph graph = task_graph({});
  EXPECT_EQ(structural_fault(graph), "");
  EXPECT_EQ(parse_task_graph(print(graph)), graph);
}

// Removing any one trigger leaves an event that never fires, or, counted out, two tasks without an order
// between them.
TEST(TaskGraph, EveryEdgeOfRandomGraphsIsNeeded) {
  size_t edges = 0;
  for (uint32_t seed = 0; seed < kRandomGraphs; ++seed) {
    const std::vector<TaskUse> tasks = random_tasks(seed);
    const TaskGraph graph = task_graph(tasks);
    const std::vector<std::vector<MemoryUse>> uses = uses_of(graph, tasks);
    ASSERT_EQ(structural_fault(graph), "") << seed;
    ASSERT_EQ(ordering_fault(graph, uses), "") << seed;
    ASSERT_EQ(parse_task_graph(print(graph)), graph) << seed;
    for (const Edge& edge : edges_of(graph)) {
      TaskGraph less = without(graph, edge);
      // A task needs a trigger to be seen by the end, so what has none left is a fault of structure.
      ASSERT_TRUE(structural_fault(less) != "" || ordering_fault(less, uses) != "") << seed << "\n"
                                                                                    << print(less);
      const int event = edge.of_task ? graph.tasks[edge.from].triggers[edge.place]
                                     : graph.events[edge.from].then[edge.place];
      ++less.events[static_cast<size_t>(event)].needed;
      ASSERT_NE(structural_fault(less), "") << seed << "\n" << print(less);
      ++edges;
    }
  }
  EXPECT_GT(edges, 5000u);
}

TEST(TaskGraph, RefusesWhatIsNone) {
  const auto fault = [](const std::string& text) -> std::string {
    try {
      parse_task_graph(text);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  const std::string events = "event 0 of 0 event 1 of 1 event 2 of 1 ";
  const std::string first = "task step 0 phase 0 slices 0..4 us 1 waits 0 triggers 1 ";
  const auto second = [](const std::string& rest) { return "task step 1 phase 0 slices 0..4 us 1 " + rest; };
  EXPECT_EQ(fault("tasks {" + events + first + second("waits 1 triggers 2 }")), "");
  EXPECT_NE(fault("tasks {" + events + first + second("waits 1 triggers 3 }")).find("event 3"),
            std::string::npos);
  EXPECT_NE(fault("tasks {" + events + first + second("waits 1 triggers 0 }")).find("event 0"),
            std::string::npos);
  EXPECT_NE(fault("tasks {" + events + first + second("waits 2 triggers 2 }")).find("waits for event 2"),
            std::string::npos);
  EXPECT_NE(fault("tasks {" + events + first + second("waits 1 triggers 2, 2 }"))
                .find("needs 1 triggers and gets 2"),
            std::string::npos);
  EXPECT_NE(
      fault("tasks { event 0 of 0 event 1 of 2 event 2 of 1 " + first + second("waits 1 triggers 1, 2 }"))
          .find("stands before what it waits for"),
      std::string::npos);
  EXPECT_NE(fault("tasks { event 0 of 0 then 0 event 1 of 1 " + first + "}").find("triggers event 0"),
            std::string::npos);
  EXPECT_NE(fault("tasks {" + events + "task step 0 phase 0 slices 4..4 us 1 waits 0 triggers 1 }")
                .find("no slices"),
            std::string::npos);
  EXPECT_NE(
      fault("tasks {" + events + "task step 0 phase 0 slices 0..4 us -1 waits 0 triggers 1 }").find("line 1"),
      std::string::npos);
  EXPECT_NE(fault("tasks { event 1 of 0 }").find("order of their numbers"), std::string::npos);
  EXPECT_NE(fault("tasks { }").find("begins"), std::string::npos);
}

TEST(ByteRanges, JoinedAndComparedWithBytes) {
  EXPECT_EQ(to_string(joined({{4, 8}, {0, 4}, {20, 20}, {10, 12}, {11, 16}}, 9)), "0..8 10..16");
  EXPECT_EQ(to_string(joined({{0, 1}, {2, 3}, {10, 11}, {13, 14}}, 2)), "0..3 10..14");
  EXPECT_EQ(to_string(joined({{0, 1}, {2, 3}, {10, 11}}, 1)), "0..11");
  EXPECT_TRUE(joined({}, 1).empty());
  EXPECT_FALSE(overlap({{0, 4}, {8, 12}}, {{4, 8}, {12, 16}}));
  EXPECT_TRUE(overlap({{0, 4}, {8, 12}}, {{4, 9}}));
  EXPECT_FALSE(overlap({}, {{0, 4}}));
}

}  // namespace
}  // namespace korch::testing
