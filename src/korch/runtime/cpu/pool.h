// A persistent pool of workers that meet at barriers. The caller of `run` is worker 0. Waiting spins briefly,
// then sleeps.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include <atomic>

namespace korch::rt {

class Pool {
 public:
  using Task = void (*)(void* argument, int worker);

  // Null when the system gives no memory or no threads. `threads` >= 1.
  static Pool* create(int threads);
  // `workers_live` false: in a child after fork, which has the pool's memory and none of its threads.
  static void destroy(Pool* pool, bool workers_live = true);

  int threads() const { return threads_; }
  // Runs the task on all workers and returns when all are done. One caller at a time.
  void run(Task task, void* argument);
  // Inside a task: returns when every worker has called it.
  void barrier();

 private:
  struct Start;
  static void* worker_main(void* start);
  explicit Pool(int threads) : threads_(threads) {}
  ~Pool() = default;
  void stop();

  int threads_;
  int started_ = 1;
  Start* starts_ = nullptr;
  Task task_ = nullptr;  // null tells the workers to end
  void* argument_ = nullptr;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> generation_{0};
  std::atomic<uint32_t> sleepers_{0};
};

}  // namespace korch::rt
