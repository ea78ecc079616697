// Which bytes machine code loads and stores: kernels compiled so that every access calls a function of this
// program (clang's instrumentation for address sanitizers, without their run-time library).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/device/device.h"

namespace korch::testing {

// The object of a printed kernel, instrumented. Prefetches are not accesses.
std::string compile_traced(const std::string& source, const std::string& code);

// What instrumented code does while a Trace is alive. One at a time; not for several threads.
class Trace {
 public:
  struct Memory {
    const char* begin;
    size_t bytes, around;              // beside it so many bytes on both sides are nobody's
    std::vector<char> loaded, stored;  // not 0: by byte
  };
  enum class Access { load, store };

  Trace();
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Returns its number.
  size_t watch(const void* begin, size_t bytes, size_t around);
  const Memory& memory(size_t number) const { return memories_[number]; }
  // Accesses beside a watched memory.
  int64_t astray() const { return astray_; }

  void record(uintptr_t address, size_t bytes, Access access);

 private:
  std::vector<Memory> memories_;
  size_t last_ = 0;
  int64_t astray_ = 0;
};

}  // namespace korch::testing
