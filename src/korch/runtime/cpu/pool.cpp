#include "korch/runtime/cpu/pool.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

namespace korch::rt {
namespace {

// Pauses before sleeping, some 50 us: about what a sleep and the wake-up cost, so waiting is at worst twice
// that.
constexpr int kSpins = 2000;

void futex_wait(std::atomic<uint32_t>* word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake_all(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace

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
  // The workers that exist wait for all to arrive: the missing ones arrive by proxy.
  for (int missing = pool->started_; missing < threads; ++missing) pool->arrived_.fetch_add(1);
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
  barrier();
  for (int worker = 1; worker < started_; ++worker) pthread_join(starts_[worker].thread, nullptr);
}

void Pool::run(Task task, void* argument) {
  if (threads_ == 1) return task(argument, 0);
  task_ = task;
  argument_ = argument;
  barrier();
  task(argument, 0);
  barrier();
}

void* Pool::worker_main(void* argument) {
  const Start* start = static_cast<const Start*>(argument);
  Pool* pool = start->pool;
  for (;;) {
    pool->barrier();
    if (pool->task_ == nullptr) return nullptr;
    pool->task_(pool->argument_, start->worker);
    pool->barrier();
  }
}

void Pool::barrier() {
  if (threads_ == 1) return;
  const uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1);
    if (sleepers_.load() != 0) futex_wake_all(&generation_);
    return;
  }
  for (int spin = 0; spin < kSpins; ++spin) {
    if (generation_.load(std::memory_order_acquire) != generation) return;
    _mm_pause();
  }
  // A sleeper counts itself before the kernel compares the word, and the last to arrive changes the word
  // before it looks for sleepers: one of the two sees the other.
  sleepers_.fetch_add(1);
  while (generation_.load() == generation) futex_wait(&generation_, generation);
  sleepers_.fetch_sub(1);
}

}  // namespace korch::rt
