// The task graph of a plan: ranges of slices, and the events they wait for and trigger. Which order keeps the
// meaning of the plan is in it; who runs what, and when, is left to a scheduler (docs/design/tasks.md).
//
//   tasks {
//     event 0 of 0
//     event 1 of 2
//     event 2 of 1
//     task step 0 phase 0 slices 0..4 us 1.5 waits 0 triggers 1
//     task step 0 phase 0 slices 4..8 us 1.5 waits 0 triggers 1
//     task step 1 phase 0 slices 0..8 us 3 waits 1 triggers 2
//   }
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/plan/byte_ranges.h"

namespace korch {

// Slices [begin, end) of a phase of a step; each round of a phase counts as a phase.
struct Task {
  int step = 0, phase = 0;
  int64_t begin = 0, end = 0;
  double cost_us = 0;  // of one worker
  int waits = 0;       // for this event
  std::vector<int> triggers;
  bool operator==(const Task&) const = default;
};

// Fires when it was triggered `needed` times: then the tasks that wait for it may run, and it triggers
// others.
struct Event {
  int needed = 0;
  std::vector<int> then;  // events
  bool operator==(const Event&) const = default;
};

// Event 0 needs nothing: it fires when a run begins. The last one fires when all tasks are done, and no task
// waits for it. Tasks stand in an order in which they can run one after the other. Of the tasks that could
// run, the one with the longest path to the end comes first. Tasks that wait for the same event follow one
// another.
struct TaskGraph {
  std::vector<Task> tasks;
  std::vector<Event> events;
  bool operator==(const TaskGraph&) const = default;
};

// [first, second): the tasks that wait for each event.
std::vector<std::pair<int, int>> waiting_tasks(const TaskGraph& graph);

std::string print(const TaskGraph& graph);

// What is wrong with the graph: an event that is triggered less or more often than it needs; a circle of
// waiting; a task that does not come before the end. If nothing is (empty), workers that take any task that
// may run bring all tasks to their end, for any number of workers.
std::string structural_fault(const TaskGraph& graph);

// The bytes of a memory that a task reads and writes; memories have numbers.
struct MemoryUse {
  int memory = 0;
  ByteRanges read, written;
};

// Whether one writes what the other reads or writes.
bool conflict(const std::vector<MemoryUse>& a, const std::vector<MemoryUse>& b);

// Adds to `whole`, which has one range of each memory, from the first byte to the last.
void widen(std::vector<MemoryUse>& whole, const std::vector<MemoryUse>& part);

// `uses[i]`: of task i. Two tasks that conflict, in different phases, must be ordered by events as their
// phases are: so every reader comes after the last writer of what it reads, and before the next one. Names
// the first pair that is not. Empty when nothing is wrong. For a graph without structural fault.
std::string ordering_fault(const TaskGraph& graph, const std::vector<std::vector<MemoryUse>>& uses);

// A task before there are events.
struct TaskUse {
  int step = 0, phase = 0;
  int64_t begin = 0, end = 0;
  double cost_us = 0;
  std::vector<MemoryUse> uses;
};

// More tasks make relations between them that take gigabytes.
constexpr size_t kMostTasks = 1 << 14;

// `tasks` in the plan's order, kMostTasks at most; those of one phase may run in any order. The graph has no
// ordering fault, and removing any event would make one. Tasks with the same predecessors wait for one event.
// Predecessors that several events share trigger one event, which triggers those.
TaskGraph task_graph(const std::vector<TaskUse>& tasks);

// The place in `tasks` of each task of the graph.
std::vector<size_t> places(const TaskGraph& graph, const std::vector<TaskUse>& tasks);

}  // namespace korch
