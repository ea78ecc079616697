#include "korch/runtime/executor.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <new>

namespace korch::rt {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kHugePageBytes = 2 << 20;

uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

double now_us() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

// Beside the codes of kernels; as unsigned numbers above them all.
constexpr int32_t kCancelled = -1, kTasksMissing = -2;

bool is_set(const int32_t* cancel) {
  return cancel != nullptr && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0;
}

int64_t chunks_of(const Phase& phase) {
  return (phase.grid + phase.grain - 1) / phase.grain;
}

RunError error_of(int32_t kernel_code) {
  switch (kernel_code) {
    case KORCH_KERNEL_OK:
      return RunError::none;
    case KORCH_KERNEL_INDEX_OUT_OF_RANGE:
      return RunError::index_out_of_range;
    case KORCH_KERNEL_LIBRARY_FAILED:
      return RunError::library_failed;
    case KORCH_KERNEL_OUT_OF_MEMORY:
      return RunError::out_of_memory;
    case kCancelled:
      return RunError::cancelled;
    case kTasksMissing:
      return RunError::parallel_failed;
  }
  return RunError::unknown_code;
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

}  // namespace

// Chunks that a worker's share has handed out so far, on a cache line of its own.
struct alignas(64) Executor::Counter {
  std::atomic<int64_t> next{0};
};

struct Executor::Run {
  Executor* executor;
  const RunOptions* options;
  // The first phase (counted over all steps) in which a kernel failed, and one of its failures: low word
  // code, high word phase, so that the smallest value is the earliest phase.
  std::atomic<uint64_t> failure{UINT64_MAX};
  std::atomic<int> tasks_done{0};

  void note(uint64_t phase_number, int32_t code) {
    if (code == KORCH_KERNEL_OK) return;
    const uint64_t mine = phase_number << 32 | static_cast<uint32_t>(code);
    uint64_t seen = failure.load();
    while (mine < seen && !failure.compare_exchange_weak(seen, mine)) {
    }
  }
  bool failed_by(uint64_t phase_number) const {
    return failure.load(std::memory_order_relaxed) >> 32 <= phase_number;
  }
};

Mapping::~Mapping() {
  release();
}

void Mapping::release() {
  if (memory_ != nullptr) munmap(memory_, memory_bytes_);
  memory_ = nullptr;
  bytes_ = 0;
}

bool Mapping::at_least(uint64_t bytes) {
  if (memory_ != nullptr && bytes <= bytes_) return true;
  release();
  memory_bytes_ = bytes + kHugePageBytes;
  void* memory = mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = memory;
  bytes_ = bytes;
  const uint64_t address = reinterpret_cast<uint64_t>(memory);
  start_ = static_cast<unsigned char*>(memory) + (round_up(address, kHugePageBytes) - address);
  // Advice only: without huge pages everything works as well.
  if (bytes >= kHugePageBytes) madvise(start_, bytes, MADV_HUGEPAGE);
  return true;
}

Executor* Executor::create(const Program* program, const void* weights, const Workers& workers,
                           RunStatus* status, Mapping* mapping) {
  *status = {};
  void* memory = aligned_alloc(alignof(Executor), sizeof(Executor));
  if (memory == nullptr) {
    status->error = RunError::out_of_memory;
    return nullptr;
  }
  Executor* executor = new (memory) Executor(workers);
  executor->program_ = program;
  executor->weights_ = weights;
  uint64_t scratch_bytes = program->scratch_bytes;
  *status = executor->create_states(&scratch_bytes);
  if (status->error == RunError::none)
    status->error = executor->allocate(scratch_bytes, mapping != nullptr ? *mapping : executor->own_mapping_);
  if (status->error == RunError::none) return executor;
  destroy(executor);
  return nullptr;
}

void Executor::destroy(Executor* executor) {
  if (executor == nullptr) return;
  for (uint32_t s = 0; executor->states_ != nullptr && s < executor->program_->step_count; ++s)
    if (executor->states_[s] != nullptr) executor->program_->steps[s].library->destroy(executor->states_[s]);
  free(executor->states_);
  free(executor->args_);
  free(executor->counters_);
  executor->~Executor();
  free(executor);
}

RunStatus Executor::create_states(uint64_t* scratch_bytes) {
  states_ = static_cast<void**>(calloc(program_->step_count + 1, sizeof(void*)));
  if (states_ == nullptr) return {RunError::out_of_memory, -1};
  for (uint32_t s = 0; s < program_->step_count; ++s) {
    const Step& step = program_->steps[s];
    if (step.library == nullptr) continue;
    uint64_t need = 0;
    int32_t code = KORCH_KERNEL_LIBRARY_FAILED;
    states_[s] = step.library->create(step.library_params, step.library_param_count, step.library_floats,
                                      step.library_float_count, &need, &code);
    if (states_[s] == nullptr)
      return {code == KORCH_KERNEL_OUT_OF_MEMORY ? RunError::out_of_memory : RunError::library_refused,
              static_cast<int32_t>(s)};
    if (need > *scratch_bytes) *scratch_bytes = need;
  }
  return {};
}

// In the mapping: the arena, then one scratch per worker on pages of its own.
RunError Executor::allocate(uint64_t scratch_bytes, Mapping& mapping) {
  uint64_t arg_count = 0;
  for (uint32_t s = 0; s < program_->step_count; ++s) arg_count += program_->steps[s].arg_count;
  const auto workers = static_cast<uint64_t>(workers_.threads);
  args_ = static_cast<void**>(calloc(arg_count + 1, sizeof(void*)));
  void* counters = aligned_alloc(alignof(Counter), 2 * workers * sizeof(Counter));
  if (args_ == nullptr || counters == nullptr) {
    free(counters);
    return RunError::out_of_memory;
  }
  counters_ = static_cast<Counter*>(counters);
  for (uint64_t i = 0; i < 2 * workers; ++i) new (&counters_[i]) Counter;

  const uint64_t arena_bytes = round_up(program_->arena_bytes, kPageBytes);
  // An odd number of pages apart, so that equal offsets of two workers do not fall into one cache set.
  scratch_stride_ = round_up(scratch_bytes, kPageBytes) + kPageBytes;
  if (!mapping.at_least(arena_bytes + workers * scratch_stride_)) return RunError::out_of_memory;
  arena_ = mapping.start();
  scratch_ = arena_ + arena_bytes;
  return RunError::none;
}

void Executor::bind(const void* const* inputs, void* const* outputs) {
  void** arg = args_;
  for (uint32_t s = 0; s < program_->step_count; ++s) {
    const Step& step = program_->steps[s];
    for (uint32_t a = 0; a < step.arg_count; ++a) {
      const BufferRef& ref = step.args[a];
      const void* base = nullptr;
      switch (static_cast<Region>(ref.region)) {
        case kArena:
          base = arena_;
          break;
        case kWeights:
          base = weights_;
          break;
        case kInput:
          base = inputs[ref.index];
          break;
        case kOutput:
          base = outputs[ref.index];
          break;
      }
      *arg++ = const_cast<unsigned char*>(static_cast<const unsigned char*>(base) + ref.offset);
    }
  }
}

RunStatus Executor::run(const void* const* inputs, void* const* outputs, const RunOptions& options) {
  bind(inputs, outputs);
  Run run;
  run.executor = this;
  run.options = &options;
  for (int i = 0; i < 2 * workers_.threads; ++i) counters_[i].next.store(0, std::memory_order_relaxed);
  if (workers_.threads == 1) {
    work(&run, 0);
  } else if (workers_.concurrent) {
    const Task task = [](void* argument, int worker) {
      Run* run = static_cast<Run*>(argument);
      run->executor->work(run, worker);
      run->tasks_done.fetch_add(1);
    };
    workers_.parallel(workers_.user, workers_.threads, task, &run);
    if (run.tasks_done.load() != workers_.threads) return {RunError::parallel_failed, -1};
  } else {
    work_by_phase(&run);
  }
  const uint64_t failure = run.failure.load();
  if (failure == UINT64_MAX) return {};
  uint32_t phase = static_cast<uint32_t>(failure >> 32);
  uint32_t step = 0;
  while (phase >= program_->steps[step].phase_count) phase -= program_->steps[step++].phase_count;
  const auto code = static_cast<int32_t>(failure & UINT32_MAX);
  return {error_of(code), static_cast<int32_t>(step)};
}

korch_kernel_context Executor::context_of(int worker, void** args) const {
  return {args, scratch_ + static_cast<uint64_t>(worker) * scratch_stride_, nullptr, worker};
}

// Every worker walks all steps; a barrier ends each phase, and all of them look at `failure` behind the same
// barrier, for phases up to that one only, so that they stop at the same place.
void Executor::work(Run* run, int worker) {
  const FlushSubnormals mode(program_->flushes_subnormals);
  const int threads = workers_.threads;
  const RunOptions& options = *run->options;
  korch_kernel_context context = context_of(worker, args_);
  uint64_t phase_number = 0;
  for (uint32_t s = 0; s < program_->step_count; ++s) {
    const Step& step = program_->steps[s];
    context.state = states_[s];
    // The clock is read before anyone may begin: a worker 0 that is descheduled between two steps must not
    // find the next one done by the others, for nothing.
    const double before = options.step_us != nullptr && worker == 0 ? now_us() : 0;
    if (options.step_us != nullptr) barrier_.wait();
    for (uint32_t p = 0; p < step.phase_count; ++p, ++phase_number) {
      Counter* counters = counters_ + (phase_number % 2) * threads;
      run->note(phase_number, run_phase(step.phases[p], threads, counters, context, options.cancel));
      // The other set was last used before the previous barrier and is next used behind this one.
      counters_[((phase_number + 1) % 2) * threads + worker].next.store(0, std::memory_order_relaxed);
      barrier_.wait();
      if (run->failed_by(phase_number)) return;
    }
    if (worker == 0 && options.step_us != nullptr) options.step_us[s] = now_us() - before;
    if (options.observe != nullptr) {
      if (worker == 0) options.observe(options.observe_user, s, context.args);
      barrier_.wait();
    }
    context.args += step.arg_count;
  }
}

// For workers that may come one after the other: the caller walks the steps, and each phase is a call of
// `parallel`, unless one worker is enough for it.
void Executor::work_by_phase(Run* run) {
  const RunOptions& options = *run->options;
  void** args = args_;
  uint64_t phase_number = 0;
  for (uint32_t s = 0; s < program_->step_count; ++s) {
    const Step& step = program_->steps[s];
    const double before = options.step_us != nullptr ? now_us() : 0;
    for (uint32_t p = 0; p < step.phase_count; ++p, ++phase_number) {
      run_apart(run, step.phases[p], args, states_[s], phase_number);
      if (run->failed_by(phase_number)) return;
    }
    if (options.step_us != nullptr) options.step_us[s] = now_us() - before;
    if (options.observe != nullptr) options.observe(options.observe_user, s, args);
    args += step.arg_count;
  }
}

void Executor::run_apart(Run* run, const Phase& phase, void** args, void* state, uint64_t phase_number) {
  struct Call {
    Run* run;
    const Phase* phase;
    void** args;
    void* state;
    uint64_t phase_number;
    int tasks;
  };
  const int64_t chunks = chunks_of(phase);
  const int tasks = chunks < workers_.threads ? static_cast<int>(chunks) : workers_.threads;
  Call call{run, &phase, args, state, phase_number, tasks};
  const Task task = [](void* argument, int index) {
    const Call& call = *static_cast<Call*>(argument);
    Executor* executor = call.run->executor;
    const FlushSubnormals mode(executor->program_->flushes_subnormals);
    korch_kernel_context context = executor->context_of(index, call.args);
    context.state = call.state;
    call.run->note(call.phase_number, executor->run_phase(*call.phase, call.tasks, executor->counters_,
                                                          context, call.run->options->cancel));
    call.run->tasks_done.fetch_add(1);
  };
  for (int i = 0; i == 0 || i < tasks; ++i) counters_[i].next.store(0, std::memory_order_relaxed);
  if (tasks <= 1) return task(&call, 0);
  run->tasks_done.store(0);
  workers_.parallel(workers_.user, tasks, task, &call);
  if (run->tasks_done.load() != tasks) run->note(phase_number, kTasksMissing);
}

// A worker takes the chunks of its own contiguous share, then what is left of the others'. Which worker runs
// a slice cannot change the result: slices are independent.
int32_t Executor::run_phase(const Phase& phase, int workers, Counter* counters,
                            const korch_kernel_context& context, const int32_t* cancel) const {
  if (workers <= 1 && cancel == nullptr) return phase.function(&context, 0, phase.grid);
  const int64_t chunks = chunks_of(phase);
  int32_t code = KORCH_KERNEL_OK;
  for (int k = 0; k < workers; ++k) {
    const int owner = (context.worker + k) % workers;
    const int64_t first = chunks * owner / workers, last = chunks * (owner + 1) / workers;
    for (;;) {
      const int64_t chunk = first + counters[owner].next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= last) break;
      if (is_set(cancel)) return code == KORCH_KERNEL_OK ? kCancelled : code;
      const int64_t begin = chunk * phase.grain;
      const int64_t end = begin + phase.grain < phase.grid ? begin + phase.grain : phase.grid;
      const int32_t result = phase.function(&context, begin, end);
      if (result != KORCH_KERNEL_OK) code = result;
    }
  }
  return code;
}

}  // namespace korch::rt
