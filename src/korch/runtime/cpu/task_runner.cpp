#include "korch/runtime/cpu/task_runner.h"

#include <stdlib.h>
#include <string.h>

#include <new>

#include "korch/runtime/active_slices.h"

namespace korch::rt {
namespace {

constexpr uint64_t kLineBytes = 64;
constexpr int kCodeBits = 32;

uint64_t whole_lines(uint64_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

// Hands out parts of one piece of memory.
class Parts {
 public:
  explicit Parts(unsigned char* memory) : at_(memory) {}
  template <typename T>
  T* next(uint64_t count) {
    T* part = reinterpret_cast<T*>(at_);
    at_ += whole_lines(count * sizeof(T));
    return part;
  }

 private:
  unsigned char* at_;
};

}  // namespace

TaskRunner* TaskRunner::create(const Frame& frame, Board* board, int workers) {
  void* memory = aligned_alloc(alignof(TaskRunner), whole_lines(sizeof(TaskRunner)));
  if (memory == nullptr) return nullptr;
  auto* runner = new (memory) TaskRunner(frame, board, workers);
  if (!runner->allocate()) {
    destroy(runner);
    return nullptr;
  }
  const auto run = [](void* user, int worker) { static_cast<TaskRunner*>(user)->run_ready(worker); };
  const auto any = [](const void* user) {
    const auto* runner = static_cast<const TaskRunner*>(user);
    for (int i = 0; i < runner->workers_; ++i)
      if (runner->ready_[i].any()) return true;
    return false;
  };
  runner->open_work_ = {run, any, runner};
  return runner;
}

void TaskRunner::destroy(TaskRunner* runner, bool workers_live) {
  if (runner == nullptr) return;
  if (workers_live) runner->board_->close();
  free(runner->memory_);
  runner->~TaskRunner();
  free(runner);
}

bool TaskRunner::allocate() {
  const uint32_t steps = frame_.program->step_count;
  const auto workers = static_cast<uint64_t>(workers_);
  const uint64_t words = whole_lines(table_.event_count * sizeof(uint32_t));
  const uint64_t ready = ReadyTasks::bytes_for(table_.task_count);
  const uint64_t bytes = words + whole_lines(workers * sizeof(ReadyTasks)) + workers * ready +
                         whole_lines(table_.task_count * sizeof(uint32_t)) +
                         whole_lines(steps * sizeof(uint32_t)) + whole_lines(steps * sizeof(Taken));
  memory_ = aligned_alloc(kLineBytes, bytes);
  if (memory_ == nullptr) return false;
  memset(memory_, 0, bytes);
  Parts parts(static_cast<unsigned char*>(memory_));
  left_ = parts.next<std::atomic<uint32_t>>(table_.event_count);
  ready_ = parts.next<ReadyTasks>(workers);
  homes_ = parts.next<uint32_t>(table_.task_count);
  arg_starts_ = parts.next<uint32_t>(steps);
  taken_ = parts.next<Taken>(steps);
  for (uint32_t i = 0; i < steps; ++i) new (&taken_[i]) Taken;
  for (uint32_t i = 0; i < table_.event_count; ++i)
    new (&left_[i]) std::atomic<uint32_t>(table_.events[i].needed);
  for (uint64_t i = 0; i < workers; ++i) {
    new (&ready_[i]) ReadyTasks;
    ready_[i].place(parts.next<unsigned char>(ready), table_.task_count);
  }
  for (uint32_t i = 0; i < table_.task_count; ++i) homes_[i] = home_of(table_.tasks[i]);
  for (uint32_t s = 1; s < steps; ++s)
    arg_starts_[s] = arg_starts_[s - 1] + all_args(frame_.program->steps[s - 1]);
  return true;
}

// Neighbouring slices stay on one worker, from phase to phase: what it wrote it finds in its cache.
uint32_t TaskRunner::home_of(const SliceTask& task) const {
  const Step& step = frame_.program->steps[task.step];
  if (step.variants != nullptr) return static_cast<uint32_t>(task.begin * workers_ / step.variants->shares);
  const Phase& phase = step.phases[task.phase];
  return static_cast<uint32_t>((task.begin - phase.first) * workers_ / phase.grid);
}

TaskRunner::Outcome TaskRunner::run(const int32_t* cancel, const SliceObserver& on_slices) {
  cancel_ = cancel;
  on_slices_ = on_slices;
  over_.store(false, std::memory_order_relaxed);
  failure_.store(UINT64_MAX, std::memory_order_relaxed);
  board_->open(&open_work_);
  board_->poke(fire(0));
  board_->serve(0, over_);
  const uint64_t failure = failure_.load(std::memory_order_relaxed);
  if (failure == UINT64_MAX) {
    note_tries();
    return {};
  }
  return {static_cast<int32_t>(failure), static_cast<int32_t>(failure >> kCodeBits)};
}

void TaskRunner::run_ready(int worker) {
  uint32_t task;
  if (!take(worker, &task)) return;
  const FlushSubnormals mode(frame_.program->flushes_subnormals);
  do {
    const SliceTask& now = table_.tasks[task];
    execute(now, worker);
    const int64_t added = end(now);
    if (added > 1) board_->poke(added - 1);  // one is this worker's, if only for being here
  } while (take(worker, &task));
}

// How many tasks may run now that could not before.
int64_t TaskRunner::end(const SliceTask& task) {
  int64_t added = 0;
  for (uint32_t i = 0; i < task.trigger_count; ++i) added += trigger(table_.triggers[task.first_trigger + i]);
  return added;
}

bool TaskRunner::take(int worker, uint32_t* task) {
  for (int i = 0; i < workers_; ++i)
    if (ready_[(worker + i) % workers_].take(task)) return true;
  return false;
}

void TaskRunner::execute(const SliceTask& task, int worker) {
  if (failure_.load(std::memory_order_relaxed) != UINT64_MAX) return;
  if (is_set(cancel_)) return note(kCancelled, task.step);
  const korch_kernel_context context = {
      frame_.args + arg_starts_[task.step],
      frame_.scratch + static_cast<uint64_t>(worker) * frame_.scratch_stride, frame_.states[task.step],
      worker};
  const bool is_share = frame_.program->steps[task.step].variants != nullptr;
  const int32_t code = is_share ? run_shares(task, context) : run_slices(task, context);
  if (code != KORCH_KERNEL_OK) note(code, task.step);
}

int32_t TaskRunner::run_slices(const SliceTask& task, const korch_kernel_context& context) const {
  const Step& step = frame_.program->steps[task.step];
  const Phase& phase = step.phases[task.phase];
  const auto run = [&] {
    if (step.limit_count == 0) return phase.function(&context, task.begin, task.end);
    return active_slices(step, task.phase, context.args)
        .visit_within(task.begin, task.end,
                      [&](int64_t begin, int64_t end) { return phase.function(&context, begin, end); });
  };
  return on_slices_.observed(task.step, task.phase, task.begin - phase.first, task.end - phase.first,
                             context.worker, run);
}

// Of the slices that the run needs, in pieces of the phase's grain.
int32_t TaskRunner::run_shares(const SliceTask& task, korch_kernel_context context) {
  Taken& taken = taken_[task.step];
  const Step& variant = *taken.variant.step;
  if (task.phase >= variant.phase_count) return KORCH_KERNEL_OK;
  context.args = taken.variant.args;
  const Phase& phase = variant.phases[task.phase];
  const ActiveSlices active = active_slices(variant, task.phase, context.args);
  const int64_t all = active.count(), pieces = (all + phase.grain - 1) / phase.grain;
  const int64_t shares = frame_.program->steps[task.step].variants->shares;
  const int64_t begin = pieces * task.begin / shares * phase.grain;
  const int64_t behind = pieces * task.end / shares * phase.grain, end = behind < all ? behind : all;
  if (begin >= end) return KORCH_KERNEL_OK;
  const double began = taken.tries ? now_us() : 0;
  const int32_t code = on_slices_.observed(task.step, task.phase, begin, end, context.worker, [&] {
    return active.visit(begin, end, [&](int64_t first, int64_t last) {
      return phase.function(&context, phase.first + first, phase.first + last);
    });
  });
  if (taken.tries)
    taken.ns.fetch_add(static_cast<int64_t>(1e3 * (now_us() - began)), std::memory_order_relaxed);
  return code;
}

// By who makes their first tasks ready, so that all of a step find the same, and extents that steps before
// have written. Behind a failure nobody looks.
void TaskRunner::take_variants(const TaskEvent& fired) {
  if (failure_.load(std::memory_order_relaxed) != UINT64_MAX) return;
  for (uint32_t t = fired.first_task; t < fired.first_task + fired.task_count; ++t) {
    const SliceTask& task = table_.tasks[t];
    const Step& step = frame_.program->steps[task.step];
    if (task.phase != 0 || task.begin != 0 || step.variants == nullptr) continue;
    Taken& taken = taken_[task.step];
    void** args = frame_.args + arg_starts_[task.step];
    taken.variant = variant_of(step, frame_.variants->choose(task.step, args, &taken.tries), args);
    taken.ns.store(0, std::memory_order_relaxed);
  }
}

void TaskRunner::note_tries() {
  for (uint32_t s = 0; frame_.variants != nullptr && s < frame_.program->step_count; ++s)
    if (frame_.program->steps[s].variants != nullptr && taken_[s].tries)
      frame_.variants->note(s, 1e-3 * static_cast<double>(taken_[s].ns.load()) / workers_);
}

void TaskRunner::note(int32_t code, uint32_t step) {
  const uint64_t failure = uint64_t{step} << kCodeBits | static_cast<uint32_t>(code);
  uint64_t seen = failure_.load(std::memory_order_relaxed);
  while (failure < seen && !failure_.compare_exchange_weak(seen, failure, std::memory_order_relaxed)) {
  }
}

// Who triggers it last makes it new for the next run, and lets go on who waits.
int64_t TaskRunner::trigger(uint32_t event) {
  if (left_[event].fetch_sub(1, std::memory_order_acq_rel) != 1) return 0;
  left_[event].store(table_.events[event].needed, std::memory_order_relaxed);
  return fire(event);
}

int64_t TaskRunner::fire(uint32_t event) {
  const TaskEvent& fired = table_.events[event];
  int64_t added = fired.task_count;
  for (uint32_t i = 0; i < fired.trigger_count; ++i)
    added += trigger(table_.triggers[fired.first_trigger + i]);
  if (frame_.variants != nullptr) take_variants(fired);
  for (uint32_t task = fired.first_task; task < fired.first_task + fired.task_count; ++task)
    ready_[homes_[task]].add(task);
  if (event + 1 < table_.event_count) return added;
  // Whoever is here is counted inside the open work, which `destroy` closes first.
  over_.store(true, std::memory_order_release);
  board_->notify_first();
  return added;
}

}  // namespace korch::rt
