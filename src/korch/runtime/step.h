// What the step executor runs: plain tables, written by `package` into an executable or built by `profile` in
// memory.
#pragma once

#include "korch/runtime/abi.h"

namespace korch::rt {

struct Phase {
  korch_kernel_fn function;
  int64_t grid;  // its number of slices
  int64_t grain;
  int64_t first = 0;
};

enum Region : uint32_t { kArena, kWeights, kInput, kOutput };

struct BufferRef {
  uint32_t region;
  uint32_t index;   // for kInput and kOutput
  uint64_t offset;  // bytes
};

// Slices that a run does not need: slice s of the phase has the value (s / stride) % count, and those from
// (extent * times + plus) / by on write nothing that counts. The extent is the i64 at args[arg].
struct SliceLimit {
  uint32_t phase, arg;
  int64_t stride, count, times, plus, by;
};

struct LibraryOps;  // create/destroy of a library call's state (library.h)
struct LaunchTable;

struct Step {
  const Phase* phases;
  uint32_t phase_count;
  const BufferRef* args;
  uint32_t arg_count;
  const LibraryOps* library;  // null for generated code
  const int64_t* library_params;
  uint32_t library_param_count;
  const float* library_floats;
  uint32_t library_float_count;
  const char* name;  // for --profile and error messages
  // The ends of a loop: behind this step, where the bool at args[jump_arg] is `jump_when`, the step `jump`
  // further on (or back) is the next.
  int32_t jump_arg = -1;  // -1: the one behind it is
  int32_t jump = 0;
  bool jump_when = false;
  const SliceLimit* limits = nullptr;  // by phase, of each outer strides first
  uint32_t limit_count = 0;
  const LaunchTable* launches = nullptr;  // other ways to run it; null: none
};

// What part of a step a run needs along an extent e: floor((e * times + plus) / by) of `count`, at least; all
// of it where `count` is 0.
struct NeededShare {
  int64_t times, plus, by, count;
};

constexpr uint32_t kMostLaunches = 16;  // of a step, its own included
constexpr uint32_t kMostLaunchExtents = 2, kLaunchTerms = 6;

// Microseconds of a step by the shares x and y that a run needs: the ratio of two polynomials, of each the
// coefficients of 1, x, y, x^2, x y, y^2.
struct LaunchCost {
  NeededShare shares[kMostLaunchExtents];
  double over[kLaunchTerms], under[kLaunchTerms];
};

// How else a step can be run, with the same results. Launch 0 is the step itself, launch i others[i - 1],
// generated code that jumps nowhere.
struct LaunchTable {
  const Step* others;
  const LaunchCost* costs;  // of each launch
  uint32_t count;           // of launches
  uint32_t extent_count;
  uint32_t extent_args[kMostLaunchExtents];  // of the step: one i64 each
  // Costs were measured for such extents; beyond, and where they are not trusted, runs try the best three.
  int64_t least[kMostLaunchExtents], most[kMostLaunchExtents];
  bool trusted;
  uint32_t shares = 1;  // of the launch that a run takes: what tasks of the step count
};

struct LibraryOps {
  // Prepares the call; null when the library refuses (`code` becomes KORCH_KERNEL_LIBRARY_FAILED) or there is
  // no memory (KORCH_KERNEL_OUT_OF_MEMORY). `scratch_bytes` receives the need per worker.
  void* (*create)(const int64_t* params, uint32_t param_count, const float* floats, uint32_t float_count,
                  uint64_t* scratch_bytes, int32_t* code);
  void (*destroy)(void* state);
};

// The task graph (plan/task_graph.h): what replaces the barriers between phases. Slices [begin, end) of a
// phase; of a step with launches shares [begin, end) of the slices that a run needs of the phase, if the
// launch that it takes has so many phases. Tasks of its first phase wait for one event.
struct SliceTask {
  uint32_t step, phase;
  int64_t begin, end;
  uint32_t waits;  // for this event
  uint32_t first_trigger, trigger_count;
};

// Fires when it was triggered so often; then its tasks may run, and it triggers others.
struct TaskEvent {
  uint32_t needed;
  uint32_t first_task, task_count;
  uint32_t first_trigger, trigger_count;
};

// Event 0 fires when a run begins, the last one when all tasks are done. Of the tasks that may run the first
// is the most urgent.
struct TaskTable {
  const SliceTask* tasks;
  uint32_t task_count;
  const TaskEvent* events;
  uint32_t event_count;
  const uint32_t* triggers;  // the events that tasks and events trigger
  // A fixed order of each of `workers`: order[ends[w - 1]] to order[ends[w] - 1] are the tasks of worker w.
  const uint32_t* order;
  const uint32_t* ends;
  uint32_t workers;
};

enum class Schedule : int32_t {
  as_compiled,
  barrier,   // a phase begins when the one before it has ended
  dynamic,   // tasks run when what they wait for has happened, on any worker
  assigned,  // each worker runs its own tasks, in their order
};

struct Program {
  const Step* steps;
  uint32_t step_count;
  uint32_t threads;
  uint64_t arena_bytes;
  uint64_t scratch_bytes;  // per worker, the largest over the steps
  // Results too small for a normal number become 0 while it runs: such results cost a CPU some hundred cycles
  // each.
  bool flushes_subnormals;
  const TaskTable* tasks = nullptr;  // null: phase after phase
  Schedule schedule = Schedule::barrier;
};

}  // namespace korch::rt
