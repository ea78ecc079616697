// Threads that run tasks: what the step executor asks of them, and a persistent pool that offers it.
#pragma once

#include <pthread.h>

#include "korch/runtime/cpu/barrier.h"

namespace korch::rt {

using Task = void (*)(void* argument, int index);

// Somebody's threads. `parallel` runs task(argument, 0) to task(argument, tasks - 1), each once, and returns
// when all have returned; `tasks` is `threads` or less. Not called for one task. Without `parallel` there is
// one thread, the caller's.
struct Workers {
  int threads = 1;
  // Whether all tasks are sure to run at the same time, so that they may wait for each other.
  bool concurrent = false;
  void (*parallel)(void* user, int tasks, Task task, void* argument) = nullptr;
  void* user = nullptr;
};

// Its threads wait for the next run together. The caller of `run` is worker 0.
class Pool {
 public:
  // Null when the system gives no memory or no threads. `threads` >= 1.
  static Pool* create(int threads);
  // `workers_live` false: in a child after fork, which has the pool's memory and none of its threads.
  static void destroy(Pool* pool, bool workers_live = true);

  int threads() const { return threads_; }
  Workers workers();
  // Runs the task on the first `tasks` workers, at the same time, and returns when all are done. One caller
  // at a time.
  void run(int tasks, Task task, void* argument);

 private:
  struct Start;
  static void* worker_main(void* start);
  explicit Pool(int threads) : threads_(threads), barrier_(threads) {}
  ~Pool() = default;
  void stop();

  int threads_;
  int started_ = 1;
  Start* starts_ = nullptr;
  int tasks_ = 0;
  Task task_ = nullptr;  // null tells the workers to end
  void* argument_ = nullptr;
  Barrier barrier_;
};

}  // namespace korch::rt
