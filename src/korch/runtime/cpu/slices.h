// What every way to run slices has in common.
#pragma once

#include "korch/runtime/abi.h"

namespace korch::rt {

// Beside the codes of kernels.
constexpr int32_t kCancelled = 0xfe;

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
