// Threads that run tasks: the interface that the step executor needs, and a persistent pool that has it.
#pragma once

#include <pthread.h>
#include <sched.h>

#include "korch/runtime/cpu/board.h"

namespace korch::rt {

using Task = void (*)(void* argument, int index);

// Threads. `parallel` runs task(argument, 0) to task(argument, tasks - 1), each once, and returns when all
// have returned; `tasks` is `threads` or less. Not called for one task. Without `parallel` there is one
// thread, the caller's.
struct Workers {
  int threads = 1;
  // Whether a task may wait for other tasks.
  bool concurrent = false;
  void (*parallel)(void* user, int tasks, Task task, void* argument) = nullptr;
  void* user = nullptr;
  // Instead of `parallel`: a board that threads serve already, as workers 1 to threads - 1.
  Board* board = nullptr;
  // With `user`, by the caller of a run before it publishes anything; or null.
  void (*begin)(void* user) = nullptr;
};

// Its threads serve one board, on which the caller of `run` is worker 0.
class Pool {
 public:
  // Null when the system gives no memory. `threads` >= 1; fewer where it gives no more of them.
  static Pool* create(int threads, int spin_us = 0);
  // `workers_live` false: in a child after fork, which has the pool's memory and none of its threads.
  static void destroy(Pool* pool, bool workers_live = true);

  int threads() const { return threads_; }
  // For one caller at a time.
  Workers workers();
  // Runs task(argument, 0) to task(argument, tasks - 1), each once, and returns when all have returned. They
  // may wait for what others do, not for others to come. One caller at a time.
  void run(int tasks, Task task, void* argument);

 private:
  struct Start;
  static void* worker_main(void* start);
  explicit Pool(int threads) : threads_(threads) {}
  ~Pool() = default;
  void stop();
  void keep_off_callers_processor();

  int threads_;
  int started_ = 1;
  Start* starts_ = nullptr;
  Board* board_ = nullptr;
  std::atomic<bool> stopping_{false};
  cpu_set_t usable_;            // by the thread that made the pool; empty: not known
  int callers_processor_ = -1;  // which the threads may not use
};

}  // namespace korch::rt
