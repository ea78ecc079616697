// The task graph of a plan, given the places of its buffers (docs/design/tasks.md).
#pragma once

#include <optional>
#include <vector>

#include "korch/device/device.h"
#include "korch/package/memory.h"
#include "korch/plan/task_graph.h"

namespace korch {

// The number of tasks per phase of a step with kernel variants: each is one of this many shares of the
// variant that a run takes.
int variant_shares(int threads);

// What a task is: some slices, so that each worker gets a few tasks of a phase; or a phase, whose slices a
// GPU shares out. Kernels of a GPU share their workspace (Kernel::scratch_bytes), so two that have some do
// not run at once.
enum class TaskSize { slices, phase };

// In the plan's order, copies of outputs behind its steps. Two tasks that access the same bytes of the arena
// or of an output keep the plan's order, unless both only read. A kernel without known accesses
// (Kernel::accesses) counts as accessing all of its arguments, and so does each share of a step with kernel
// variants, which has as many phases as any of them. Empty for plans without tasks: with loops, for one
// thread, or with more phases than there may be tasks.
std::vector<TaskUse> plan_task_uses(const Plan& plan, const MemoryPlan& memory,
                                    TaskSize size = TaskSize::slices);

std::optional<TaskGraph> plan_tasks(const Plan& plan, const MemoryPlan& memory,
                                    TaskSize size = TaskSize::slices);
// Faults of structure or order. Empty if there are none.
std::string fault_of(const TaskGraph& tasks, const Plan& plan, const MemoryPlan& memory,
                     TaskSize size = TaskSize::slices);

// The places of buffers, and the tasks, of a plan for a range of shapes. Computed once: the executable gets
// what was checked.
struct Placement {
  ShapePlan shape_plan;
  MemoryPlan memory;
  std::optional<TaskGraph> tasks;
  TaskSize task_size = TaskSize::slices;
};
std::vector<Placement> place(const Plan& plan, const Device& device);
// How many tasks and events the first of them has; false: none.
bool report_tasks(const std::vector<Placement>& placements, PlanReport& report);
// Of the tasks of any of them. Empty when nothing is wrong.
std::string fault_of(const std::vector<Placement>& placements, const Plan& plan);

}  // namespace korch
