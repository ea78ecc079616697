#include "korch/runtime/cpu/barrier.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

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

void Barrier::wait() {
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
