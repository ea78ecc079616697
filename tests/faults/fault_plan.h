// What the preloaded library and the test share, in a mapped file named by the environment variable
// KORCH_FAULTS: which call is to fail, and what came of it.
#pragma once

#include <cstdint>

namespace korch {

enum class FaultKind : uint32_t {
  memory = 1,   // malloc and its kin, operator new, mmap
  write = 2,    // files that are made, written, enlarged, renamed
  thread = 4,   // pthread_create
  library = 8,  // dlopen
};

enum class FaultMode : uint32_t {
  count,   // nothing fails
  nth,     // call number `fail_at`
  forked,  // one after the other: where a call could fail, a child goes on with the failure, and the parent
           // waits for its end and goes on without. Needs a process with one thread
};

struct FaultOutcome {
  uint64_t call = 0;      // its number
  uint64_t place = 0;     // of the program's code that made it, as an offset into its file
  int32_t status = 0;     // of the child, as waitpid tells it
  uint32_t compiler = 0;  // made inside LLVM and clang
};

constexpr uint32_t kMostOutcomes = 1 << 16;

// Forked: which calls outside of the compiler fail.
enum class OwnCalls : uint32_t {
  none,
  stacks,  // the first with each call stack (14 frames)
  all,
};

struct FaultPlan {
  uint32_t kinds = 0;  // of FaultKind, or-ed
  FaultMode mode = FaultMode::count;
  uint32_t from_main = 0;  // nothing counts before the program calls signal(), as it does first in main
  OwnCalls own = OwnCalls::none;
  uint32_t stack_share = 1;       // of the stacks, one in so many, drawn with the seed
  uint32_t compiler_samples = 0;  // forked: so many calls inside LLVM and clang, drawn with the seed
  uint64_t compiler_calls = 0;    // forked: how many there will be, as counted before
  uint64_t fail_at = 0;           // nth: counted from 1
  uint64_t seed = 0;
  uint64_t calls = 0;           // out: those outside of the compiler when forked, else all
  uint64_t calls_compiler = 0;  // out, forked
  uint32_t failed = 0;          // out: nth did fail; outcome[0] says where
  uint32_t outcomes = 0;        // out
  FaultOutcome outcome[kMostOutcomes];
};

constexpr unsigned kHangSeconds = 120;  // after which a child counts as hanging: SIGALRM ends it

}  // namespace korch
