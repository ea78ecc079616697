// The task graph of a plan, with its buffers where the memory plan has put them (docs/design/tasks.md).
#pragma once

#include <optional>
#include <vector>

#include "korch/package/memory.h"
#include "korch/plan/task_graph.h"

namespace korch {

// Of a step that can be run in several ways: a task is some of so many shares of whatever way a run takes.
int launch_shares(int threads);

// In the plan's order, copies of outputs behind its steps. Two tasks that meet in the arena or in an output
// are ordered as the plan has them, whether one reads what the other wrote or gets its memory. A kernel that
// does not say what its slices access (Kernel::accesses) is taken to access all of its arguments, and so is
// each share of a step that can be run in several ways, which has as many phases as any of these. Empty for
// plans that have none: with loops, for one thread, or with more phases than there may be tasks.
std::vector<TaskUse> plan_task_uses(const Plan& plan, const MemoryPlan& memory);

std::optional<TaskGraph> plan_tasks(const Plan& plan, const MemoryPlan& memory);
// What is wrong with them: of structure or order. Empty when nothing is.
std::string fault_of(const TaskGraph& tasks, const Plan& plan, const MemoryPlan& memory);

// Where the buffers of one of a plan's variants are, and its tasks. Computed once: what is checked is what
// the executable gets.
struct Placement {
  PlanVariant variant;
  MemoryPlan memory;
  std::optional<TaskGraph> tasks;
};
std::vector<Placement> place(const Plan& plan);
// How many tasks and events the first of them has; false: none.
bool report_tasks(const std::vector<Placement>& placements, PlanReport& report);
// Of the tasks of any of them. Empty when nothing is wrong.
std::string fault_of(const std::vector<Placement>& placements, const Plan& plan);

}  // namespace korch
