// Whether tables of tasks can be run (plan/program.h).
#pragma once

#include "korch/plan/program.h"

namespace korch::rt {

// Empty if they can: tasks, events and triggers point at existing rows, each event gets as many triggers as
// it needs, and nothing waits in a circle. `room`: for task_fault_room(table) numbers.
const char* task_fault(const Program& program, uint32_t* room);
uint64_t task_fault_room(const TaskTable& table);

}  // namespace korch::rt
