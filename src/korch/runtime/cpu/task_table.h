// Whether tables of tasks can be run (runtime/step.h).
#pragma once

#include "korch/runtime/step.h"

namespace korch::rt {

// Empty when they can: what tasks, events and triggers point at is there, each event gets as many triggers as
// it needs, and each task is assigned once. `counts`: room for as many numbers as there are tasks or events.
const char* task_fault(const Program& program, uint32_t* counts);

}  // namespace korch::rt
