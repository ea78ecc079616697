// Where a fixed number of threads wait for each other. Waiting spins briefly, then sleeps.
#pragma once

#include <stdint.h>

#include <atomic>

namespace korch::rt {

class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  // Returns when every thread has called it.
  void wait();
  // Counts `missing` threads, which will never come, as come to the next wait().
  void excuse(int missing) { arrived_.fetch_add(missing); }

 private:
  const int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> generation_{0};
  std::atomic<uint32_t> sleepers_{0};
};

}  // namespace korch::rt
