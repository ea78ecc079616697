#include "korch/runtime/cpu/pool.h"

#include <signal.h>
#include <stdlib.h>

#include <new>

namespace korch::rt {

struct Pool::Start {
  Pool* pool;
  int worker;
  pthread_t thread;
};

Pool* Pool::create(int threads, int spin_us) {
  void* memory = malloc(sizeof(Pool));
  if (memory == nullptr) return nullptr;
  Pool* pool = new (memory) Pool(threads);
  if (sched_getaffinity(0, sizeof pool->usable_, &pool->usable_) != 0) CPU_ZERO(&pool->usable_);
  pool->starts_ = static_cast<Start*>(calloc(static_cast<size_t>(threads), sizeof(Start)));
  pool->board_ = Board::create(threads, spin_us);
  if (pool->starts_ == nullptr || pool->board_ == nullptr) {
    destroy(pool);
    return nullptr;
  }
  // Signals go to the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int worker = 1; worker < threads; ++worker) {
    Start& start = pool->starts_[worker];
    start.pool = pool;
    start.worker = worker;
    if (pthread_create(&start.thread, nullptr, worker_main, &start) != 0) break;
    ++pool->started_;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pool->threads_ = pool->started_;
  return pool;
}

void Pool::destroy(Pool* pool, bool workers_live) {
  if (pool == nullptr) return;
  if (workers_live) pool->stop();
  free(pool->starts_);
  Board::destroy(pool->board_);
  pool->~Pool();
  free(pool);
}

void Pool::stop() {
  if (started_ == 1) return;
  stopping_.store(true);
  board_->notify_all();
  for (int worker = 1; worker < started_; ++worker) pthread_join(starts_[worker].thread, nullptr);
}

Workers Pool::workers() {
  const auto begin = [](void* user) { static_cast<Pool*>(user)->keep_off_callers_processor(); };
  return {threads_, /*concurrent=*/true, nullptr, this, board_, begin};
}

// Linux likes to wake a thread where the one that wakes it runs. The caller goes on computing there, so a run
// of a millisecond would end before the thread began.
void Pool::keep_off_callers_processor() {
  const int processor = sched_getcpu();
  if (processor < 0 || processor == callers_processor_ || !CPU_ISSET(processor, &usable_)) return;
  if (started_ == 1 || threads_ > CPU_COUNT(&usable_)) return;
  callers_processor_ = processor;
  cpu_set_t others = usable_;
  CPU_CLR(processor, &others);
  for (int worker = 1; worker < started_; ++worker)
    pthread_setaffinity_np(starts_[worker].thread, sizeof others, &others);  // for speed alone
}

void Pool::run(int tasks, Task task, void* argument) {
  keep_off_callers_processor();
  struct Call {
    Task task;
    void* argument;
    Board* board;
    std::atomic<bool> over;
  } call{task, argument, board_, false};
  const auto chunk = [](void* user, int, int64_t index) {
    const Call& call = *static_cast<Call*>(user);
    call.task(call.argument, static_cast<int>(index));
  };
  const auto done = [](void* user, int) {
    Board* board = static_cast<Call*>(user)->board;
    static_cast<Call*>(user)->over.store(true, std::memory_order_release);  // `user` ends here
    board->notify_first();
  };
  board_->publish({tasks, chunk, done, &call});
  board_->serve(0, call.over);
}

void* Pool::worker_main(void* argument) {
  const Start* start = static_cast<const Start*>(argument);
  start->pool->board_->serve(start->worker, start->pool->stopping_);
  return nullptr;
}

}  // namespace korch::rt
