// The step executor: runs a Program's steps in order, each phase's slices shared among the workers of a pool.
// Executables and `profile` use this one.
#pragma once

#include "korch/runtime/cpu/pool.h"
#include "korch/runtime/step.h"

namespace korch::rt {

enum class RunError : int32_t {
  none,
  out_of_memory,
  library_refused,     // at LibraryOps::create
  index_out_of_range,  // the KORCH_KERNEL_ codes of abi.h
  library_failed,
  unknown_code
};

struct RunStatus {
  RunError error = RunError::none;
  int32_t step = -1;  // where it happened, when it happened in a step
};

struct RunOptions {
  double* step_us = nullptr;  // receives the duration of every step
  // Called by worker 0 after each step, the others waiting; `args` as the step's kernel sees them.
  void (*observe)(void* user, uint32_t step, void* const* args) = nullptr;
  void* observe_user = nullptr;
};

// Memory that holds an arena and scratch. Executors that follow one another may share it: it is paged in
// once.
class Mapping {
 public:
  Mapping() = default;
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  // False when there is no memory. Content is lost when it grows.
  bool at_least(uint64_t bytes);
  // Aligned for huge pages.
  unsigned char* start() const { return start_; }
  void release();

 private:
  void* memory_ = nullptr;
  unsigned char* start_ = nullptr;
  uint64_t memory_bytes_ = 0, bytes_ = 0;
};

class Executor {
 public:
  // `program`, `weights`, `pool` and `mapping` (null: one of its own) must outlive the executor. Null with
  // `status` set on failure.
  static Executor* create(const Program* program, const void* weights, Pool* pool, RunStatus* status,
                          Mapping* mapping = nullptr);
  static void destroy(Executor* executor);

  // Inputs and outputs by number; aligned at least to their element, 64 bytes being fastest. One caller at a
  // time.
  RunStatus run(const void* const* inputs, void* const* outputs, const RunOptions& options = {});

  // Address of a byte of the arena, for who prepares or inspects buffers in it.
  void* arena() const { return arena_; }

 private:
  struct Run;
  struct Counter;
  Executor() = default;
  ~Executor() = default;
  RunError allocate(uint64_t scratch_bytes, Mapping& mapping);
  RunStatus create_states(uint64_t* scratch_bytes);
  void bind(const void* const* inputs, void* const* outputs);
  void work(Run* run, int worker);
  int32_t run_phase(const Phase& phase, Counter* counters, const korch_kernel_context& context) const;

  const Program* program_ = nullptr;
  const void* weights_ = nullptr;
  Pool* pool_ = nullptr;
  void** states_ = nullptr;      // per step, of library calls
  void** args_ = nullptr;        // of all steps, one after the other
  Counter* counters_ = nullptr;  // two sets of one per worker
  Mapping own_mapping_;
  unsigned char* arena_ = nullptr;
  unsigned char* scratch_ = nullptr;
  uint64_t scratch_stride_ = 0;
};

}  // namespace korch::rt
