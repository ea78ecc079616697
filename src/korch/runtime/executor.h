// The step executor. It runs a Program's steps in order, each phase's slices shared among workers; or its
// tasks, each when its event has fired. Executables and `profile` use this one.
#pragma once

#include "korch/plan/program.h"
#include "korch/runtime/cpu/pool.h"
#include "korch/runtime/cpu/task_runner.h"
#include "korch/runtime/run.h"
#include "korch/runtime/variants.h"

namespace korch::rt {

constexpr Schedule kAsCompiled{};  // Program::schedule

// As many as the program was compiled for, and no more than this process may use.
int default_threads(const Program& program);

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
  // `program`, which must have no fault (plan/model_fault.h), `weights`, the workers and `mapping` (null: one
  // of its own) must outlive the executor. Null with `status` set on failure. A schedule of tasks needs a
  // program with tasks, and two threads or more that serve a board. Runs that are observed or timed step by
  // step go phase after phase.
  static Executor* create(const Program* program, const void* weights, const Workers& workers,
                          RunStatus* status, Mapping* mapping = nullptr, Schedule schedule = kAsCompiled);
  // `workers_live` false: in a child after fork, where none of them is.
  static void destroy(Executor* executor, bool workers_live = true);

  // Inputs and outputs by number; aligned at least to their element, 64 bytes being fastest. One caller at a
  // time.
  RunStatus run(const void* const* inputs, void* const* outputs, const RunOptions& options = {});

  // Address of the arena, to prepare or inspect buffers in it.
  void* arena() const { return arena_; }

 private:
  struct Run;
  explicit Executor(const Workers& workers) : workers_(workers), board_(workers.board) {}
  ~Executor() = default;
  RunError allocate(uint64_t scratch_bytes, Mapping& mapping);
  RunError prepare_tasks(Schedule schedule);
  RunError prepare_variants();
  RunStatus create_states(uint64_t* scratch_bytes);
  void bind(const void* const* inputs, void* const* outputs);
  // The step after this one, whose arguments are `args`; moves them on.
  uint32_t next_step(uint32_t s, void**& args) const;
  void begin_step(Run* run) const;
  bool go_on(Run* run, int worker);
  void publish(Run* run);
  bool share(Run* run);
  void run_alone(Run* run, int worker) const;
  void end_step(Run* run) const;
  korch_kernel_context context_of(const Run& run, int worker) const;

  const Program* program_ = nullptr;
  const void* weights_ = nullptr;
  const Workers workers_;
  Board* board_;             // where phases are shared; null: nobody shares
  void** states_ = nullptr;  // per step, of library calls
  void** args_ = nullptr;    // of all steps, one after the other, behind each those of its variants
  Mapping own_mapping_;
  unsigned char* arena_ = nullptr;
  unsigned char* scratch_ = nullptr;
  uint64_t scratch_stride_ = 0;
  TaskRunner* tasks_ = nullptr;   // null: phase after phase
  Variants* variants_ = nullptr;  // null: no step has some
};

}  // namespace korch::rt
