// Libraries that exceptions must not pass through: LLVM is compiled without, and what a bad_alloc leaves
// behind in it crashes or waits for ever.
#pragma once

namespace korch {

// While one lives, an allocation by `new` that fails on its thread ends the process in order (end_at_once,
// Error{resource}'s exit code) instead of throwing; so does a library that calls abort there.
class EndOnShortage {
 public:
  EndOnShortage();
  ~EndOnShortage();
  EndOnShortage(const EndOnShortage&) = delete;
  EndOnShortage& operator=(const EndOnShortage&) = delete;
};

}  // namespace korch
