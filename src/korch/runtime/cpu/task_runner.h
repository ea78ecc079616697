// Runs the task graph of a program, on whichever worker is free.
#pragma once

#include "korch/plan/program.h"
#include "korch/runtime/cpu/board.h"
#include "korch/runtime/cpu/ready.h"
#include "korch/runtime/cpu/slices.h"
#include "korch/runtime/variants.h"

namespace korch::rt {

// The data of a program's slices.
struct Frame {
  const Program* program;
  void** args;          // of all steps, one after the other
  void* const* states;  // one per step
  unsigned char* scratch;
  uint64_t scratch_stride;
  Variants* variants;  // null: no step has some
};

// Lives as long as an executor, since idle workers may read it after a run. At the end of a run all counters
// are back at their start, also if the run failed: then its tasks are passed over.
class TaskRunner {
 public:
  // For a program with tasks. `board` is served by `workers`; of several runners on it one runs at a time.
  // Null when there is no memory.
  static TaskRunner* create(const Frame& frame, Board* board, int workers);
  static void destroy(TaskRunner* runner, bool workers_live = true);

  struct Outcome {
    int32_t code = KORCH_KERNEL_OK;  // of the first step that failed
    int32_t step = 0;
  };
  // By the caller, who is worker 0.
  Outcome run(const int32_t* cancel, const SliceObserver& on_slices);

 private:
  TaskRunner(const Frame& frame, Board* board, int workers)
      : frame_(frame), table_(*frame.program->tasks), board_(board), workers_(workers) {}
  ~TaskRunner() = default;
  bool allocate();
  uint32_t home_of(const SliceTask& task) const;

  // The variant that a run takes of a step.
  struct Taken {
    StepVariant variant;
    bool tries;               // what it takes decides on later runs
    std::atomic<int64_t> ns;  // then: of all its tasks together
  };

  void run_ready(int worker);
  bool take(int worker, uint32_t* task);
  void execute(const SliceTask& task, int worker);
  int32_t run_slices(const SliceTask& task, const korch_kernel_context& context) const;
  int32_t run_shares(const SliceTask& task, korch_kernel_context context);
  void take_variants(const TaskEvent& fired);
  void note_tries();
  void note(int32_t code, uint32_t step);

  int64_t end(const SliceTask& task);
  int64_t trigger(uint32_t event);
  int64_t fire(uint32_t event);

  const Frame frame_;
  const TaskTable& table_;
  Board* const board_;
  const int workers_;
  OpenWork open_work_{};

  void* memory_ = nullptr;
  std::atomic<uint32_t>* left_ = nullptr;  // triggers that each event still needs
  ReadyTasks* ready_ = nullptr;            // of each worker
  uint32_t* homes_ = nullptr;              // of each task: the worker that has its part of every phase
  uint32_t* arg_starts_ = nullptr;         // of each step: in args
  Taken* taken_ = nullptr;                 // of each step

  // Of the present run.
  const int32_t* cancel_ = nullptr;
  SliceObserver on_slices_ = {};
  std::atomic<bool> over_{false};
  std::atomic<uint64_t> failure_{UINT64_MAX};  // step and code, the smallest
};

}  // namespace korch::rt
