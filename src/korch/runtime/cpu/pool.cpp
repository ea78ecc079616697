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

Pool* Pool::create(int threads) {
  void* memory = aligned_alloc(64, (sizeof(Pool) + 63) / 64 * 64);
  if (memory == nullptr) return nullptr;
  Pool* pool = new (memory) Pool(threads);
  pool->starts_ = static_cast<Start*>(calloc(static_cast<size_t>(threads), sizeof(Start)));
  if (pool->starts_ == nullptr) {
    free(memory);
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
  if (pool->started_ == threads) return pool;
  pool->barrier_.excuse(threads - pool->started_);
  destroy(pool);
  return nullptr;
}

void Pool::destroy(Pool* pool, bool workers_live) {
  if (pool == nullptr) return;
  if (workers_live) pool->stop();
  free(pool->starts_);
  pool->~Pool();
  free(pool);
}

void Pool::stop() {
  task_ = nullptr;
  barrier_.wait();
  for (int worker = 1; worker < started_; ++worker) pthread_join(starts_[worker].thread, nullptr);
}

Workers Pool::workers() {
  const auto parallel = [](void* user, int tasks, Task task, void* argument) {
    static_cast<Pool*>(user)->run(tasks, task, argument);
  };
  return {threads_, /*concurrent=*/true, parallel, this};
}

void Pool::run(int tasks, Task task, void* argument) {
  if (threads_ == 1) return task(argument, 0);
  tasks_ = tasks;
  task_ = task;
  argument_ = argument;
  barrier_.wait();
  task(argument, 0);
  barrier_.wait();
}

void* Pool::worker_main(void* argument) {
  const Start* start = static_cast<const Start*>(argument);
  Pool* pool = start->pool;
  for (;;) {
    pool->barrier_.wait();
    if (pool->task_ == nullptr) return nullptr;
    if (start->worker < pool->tasks_) pool->task_(pool->argument_, start->worker);
    pool->barrier_.wait();
  }
}

}  // namespace korch::rt
