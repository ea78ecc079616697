// Common parts of running slices, by phases and by tasks.
#pragma once

#include <time.h>

#include "korch/runtime/abi.h"

namespace korch::rt {

// Beside the codes of kernels.
constexpr int32_t kCancelled = 0xfe;

inline double now_us() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

// Slices of a phase that a worker ran, in the order of those that the run needs.
struct SlicesRun {
  uint32_t step, phase;
  int64_t begin, end;
  int32_t worker;
  double begin_us, end_us;  // of CLOCK_MONOTONIC
};

// Called by the worker that ran them, by several at once; null: not called.
struct SliceObserver {
  void (*call)(void* user, const SlicesRun& slices) = nullptr;
  void* user = nullptr;

  // run() as these slices of a worker.
  template <typename Run>
  int32_t observed(uint32_t step, uint32_t phase, int64_t begin, int64_t end, int worker,
                   const Run& run) const {
    if (call == nullptr) return run();
    const double began = now_us();
    const int32_t code = run();
    call(user, {step, phase, begin, end, worker, began, now_us()});
    return code;
  }
};

inline bool is_set(const int32_t* cancel) {
  return cancel != nullptr && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0;
}

// Sets the thread's flush-to-zero mode while it lives, if asked to. Subnormal operands stay what they are.
class FlushSubnormals {
 public:
  explicit FlushSubnormals(bool flush) : before_(__builtin_ia32_stmxcsr()) {
    constexpr unsigned kFlushToZero = 1 << 15;
    if (flush) __builtin_ia32_ldmxcsr(before_ | kFlushToZero);
  }
  ~FlushSubnormals() { __builtin_ia32_ldmxcsr(before_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  const unsigned before_;
};

}  // namespace korch::rt
