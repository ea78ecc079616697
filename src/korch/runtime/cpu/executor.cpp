#include "korch/runtime/executor.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <atomic>
#include <new>

#include "korch/base/usable_cpus.h"
#include "korch/runtime/active_slices.h"
#include "korch/runtime/cpu/slices.h"
#include "korch/runtime/library.h"

namespace korch::rt {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kHugePageBytes = 2 << 20;

uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Slices of a chunk: no more chunks than can be counted.
int64_t grain_of(const Phase& phase) {
  const int64_t least = (phase.grid + Board::kMostChunks - 1) / Board::kMostChunks;
  return phase.grain < least ? least : phase.grain;
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
    case KORCH_KERNEL_LOOP_WITHOUT_END:
      return RunError::loop_without_end;
    case kCancelled:
      return RunError::cancelled;
  }
  return RunError::unknown_code;
}

}  // namespace

int default_threads(const Program& program) {
  const int compiled = static_cast<int>(program.threads), usable = usable_cpus();
  return usable < compiled ? usable : compiled;
}

// Where a run stands. Whoever takes it on writes here before others may take chunks, and they only read.
struct Executor::Run {
  Executor* executor;
  const RunOptions* options;
  void** step_args;  // of the step
  uint32_t step = 0, phase = 0;
  const Step* variant = nullptr;  // how the step is run
  void** args = nullptr;          // of that
  bool tries = false;             // what it takes decides on later runs
  double began = 0;               // the step
  ActiveSlices active = {};       // of the phase
  // Of a chunk of this phase: the smallest that is not KORCH_KERNEL_OK.
  std::atomic<int32_t> failure{KORCH_KERNEL_OK};
  std::atomic<bool> handed_back{false};  // to the caller
  std::atomic<int> tasks_done{0};

  const Phase& current_phase() const { return variant->phases[phase]; }
  int64_t chunks() const {
    return (active.count() + grain_of(current_phase()) - 1) / grain_of(current_phase());
  }
  int32_t call(const korch_kernel_context& context, int64_t begin, int64_t end) const {
    const Phase& of = current_phase();
    const auto run = [&] {
      return active.visit(begin, end, [&](int64_t first, int64_t last) {
        return of.function(&context, of.first + first, of.first + last);
      });
    };
    return options->on_slices.observed(step, phase, begin, end, context.worker, run);
  }
  void note(int32_t code) {
    int32_t seen = failure.load(std::memory_order_relaxed);
    while (code != KORCH_KERNEL_OK && (seen == KORCH_KERNEL_OK || code < seen) &&
           !failure.compare_exchange_weak(seen, code, std::memory_order_relaxed)) {
    }
  }
  bool failed() const { return failure.load(std::memory_order_relaxed) != KORCH_KERNEL_OK; }
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
                           RunStatus* status, Mapping* mapping, Schedule schedule) {
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
  if (status->error == RunError::none) status->error = executor->prepare_variants();
  if (status->error == RunError::none) status->error = executor->prepare_tasks(schedule);
  if (status->error == RunError::none) return executor;
  destroy(executor);
  return nullptr;
}

void Executor::destroy(Executor* executor, bool workers_live) {
  if (executor == nullptr) return;
  TaskRunner::destroy(executor->tasks_, workers_live);
  Variants::destroy(executor->variants_);
  for (uint32_t s = 0; executor->states_ != nullptr && s < executor->program_->step_count; ++s)
    if (executor->states_[s] != nullptr) executor->program_->steps[s].library->destroy(executor->states_[s]);
  free(executor->states_);
  free(executor->args_);
  if (executor->workers_.board == nullptr) Board::destroy(executor->board_);
  executor->~Executor();
  free(executor);
}

RunError Executor::prepare_variants() {
  bool any = false;
  for (uint32_t s = 0; s < program_->step_count; ++s) any = any || program_->steps[s].variants != nullptr;
  if (!any) return RunError::none;
  variants_ = Variants::create(program_);
  return variants_ != nullptr ? RunError::none : RunError::out_of_memory;
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
  for (uint32_t s = 0; s < program_->step_count; ++s) arg_count += all_args(program_->steps[s]);
  const auto workers = static_cast<uint64_t>(workers_.threads);
  args_ = static_cast<void**>(calloc(arg_count + 1, sizeof(void*)));
  if (workers_.threads == 1)
    board_ = nullptr;
  else if (board_ == nullptr)
    board_ = Board::create(workers_.threads);
  if (args_ == nullptr || (board_ == nullptr && workers_.threads > 1)) return RunError::out_of_memory;

  const uint64_t arena_bytes = round_up(program_->arena_bytes, kPageBytes);
  // An odd number of pages apart, so that equal offsets of two workers do not fall into one cache set.
  scratch_stride_ = round_up(scratch_bytes, kPageBytes) + kPageBytes;
  if (!mapping.at_least(arena_bytes + workers * scratch_stride_)) return RunError::out_of_memory;
  arena_ = mapping.start();
  scratch_ = arena_ + arena_bytes;
  return RunError::none;
}

RunError Executor::prepare_tasks(Schedule schedule) {
  if (schedule == kAsCompiled) schedule = program_->schedule;
  if (schedule == Schedule::barrier || program_->tasks == nullptr || workers_.board == nullptr ||
      workers_.threads == 1)
    return RunError::none;
  tasks_ = TaskRunner::create({program_, args_, states_, scratch_, scratch_stride_, variants_}, board_,
                              workers_.threads);
  return tasks_ != nullptr ? RunError::none : RunError::out_of_memory;
}

void Executor::bind(const void* const* inputs, void* const* outputs) {
  void** arg = args_;
  const auto bind_step = [&](const Step& step) {
    for (uint32_t a = 0; a < step.arg_count; ++a) {
      const BufferRef& ref = step.args[a];
      const void* base = nullptr;
      switch (static_cast<MemoryKind>(ref.memory)) {
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
  };
  for (uint32_t s = 0; s < program_->step_count; ++s) for_each_variant(program_->steps[s], bind_step);
}

RunStatus Executor::run(const void* const* inputs, void* const* outputs, const RunOptions& options) {
  bind(inputs, outputs);
  if (workers_.begin != nullptr) workers_.begin(workers_.user);
  for (uint32_t s = 0; options.step_us != nullptr && s < program_->step_count; ++s) options.step_us[s] = 0;
  const FlushSubnormals mode(program_->flushes_subnormals);
  if (tasks_ != nullptr && options.step_us == nullptr && options.observe == nullptr) {
    const TaskRunner::Outcome outcome = tasks_->run(options.cancel, options.on_slices);
    if (outcome.code == KORCH_KERNEL_OK) return {};
    return {error_of(outcome.code), outcome.step};
  }
  Run run{this, &options, args_};
  while (go_on(&run, 0))
    if (!share(&run)) return {RunError::parallel_failed, -1};
  if (!run.failed()) return {};
  return {error_of(run.failure.load()), static_cast<int32_t>(run.step)};
}

korch_kernel_context Executor::context_of(const Run& run, int worker) const {
  return {run.args, scratch_ + static_cast<uint64_t>(worker) * scratch_stride_, states_[run.step], worker};
}

uint32_t Executor::next_step(uint32_t s, void**& args) const {
  const Step& step = program_->steps[s];
  const bool jumps =
      step.jump_arg >= 0 && (*static_cast<const unsigned char*>(args[step.jump_arg]) != 0) == step.jump_when;
  const uint32_t next = jumps ? s + static_cast<uint32_t>(step.jump) : s + 1;
  for (; s < next; ++s) args += all_args(program_->steps[s]);
  for (; s > next; --s) args -= all_args(program_->steps[s - 1]);
  return next;
}

// Runs what one worker runs alone, up to the next phase that is to be shared, which is then published. False
// at the end of the program, or where a kernel failed.
bool Executor::go_on(Run* run, int worker) {
  while (!run->failed() && run->step < program_->step_count) {
    if (run->phase == 0) begin_step(run);
    if (run->phase == run->variant->phase_count) {
      end_step(run);
      continue;
    }
    // Who observes sees all that kernels can write.
    if (run->options->observe == nullptr)
      run->active = active_slices(*run->variant, run->phase, run->args);
    else
      run->active = ActiveSlices(run->current_phase().grid);
    if (board_ != nullptr && run->chunks() > 1) {
      publish(run);
      return true;
    }
    run_alone(run, worker);
    if (!run->failed()) ++run->phase;
  }
  return false;
}

// Who observes sees the step itself.
void Executor::begin_step(Run* run) const {
  const Step& step = program_->steps[run->step];
  run->tries = false;
  uint32_t number = 0;
  if (step.variants != nullptr && run->options->observe == nullptr)
    number = variants_->choose(run->step, run->step_args, &run->tries);
  const StepVariant variant = variant_of(step, number, run->step_args);
  run->variant = variant.step;
  run->args = variant.args;
  if (run->tries || run->options->step_us != nullptr) run->began = now_us();
}

void Executor::end_step(Run* run) const {
  const RunOptions& options = *run->options;
  const double us = run->tries || options.step_us != nullptr ? now_us() - run->began : 0;
  if (run->tries) variants_->note(run->step, us);
  if (options.step_us != nullptr) options.step_us[run->step] += us;
  if (options.observe != nullptr) options.observe(options.observe_user, run->step, run->args);
  run->step = next_step(run->step, run->step_args);
  run->phase = 0;
}

void Executor::run_alone(Run* run, int worker) const {
  const Phase& phase = run->current_phase();
  const korch_kernel_context context = context_of(*run, worker);
  const int64_t end = run->active.count();
  const int64_t length = run->options->cancel == nullptr ? end : grain_of(phase);
  for (int64_t begin = 0; begin < end; begin += length) {
    if (is_set(run->options->cancel)) return run->note(kCancelled);
    run->note(run->call(context, begin, end - begin < length ? end : begin + length));
  }
}

void Executor::publish(Run* run) {
  const auto chunk = [](void* user, int worker, int64_t chunk) {
    Run* run = static_cast<Run*>(user);
    if (is_set(run->options->cancel)) return run->note(kCancelled);
    const FlushSubnormals mode(run->executor->program_->flushes_subnormals);
    const Phase& phase = run->current_phase();
    const korch_kernel_context context = run->executor->context_of(*run, worker);
    const int64_t grain = grain_of(phase), begin = chunk * grain, all = run->active.count();
    run->note(run->call(context, begin, all - begin < grain ? all : begin + grain));
  };
  // The caller alone goes on where somebody observes, or where workers must return before others come.
  const auto done = [](void* user, int worker) {
    Run* run = static_cast<Run*>(user);
    Executor* executor = run->executor;
    Board* board = executor->board_;
    const bool served_by_tasks = executor->workers_.board == nullptr;
    if (!run->failed()) ++run->phase;
    const bool relays = executor->workers_.concurrent && run->options->observe == nullptr;
    if (relays && executor->go_on(run, worker)) return;
    run->handed_back.store(true, std::memory_order_release);  // `run` may end here
    served_by_tasks ? board->notify_all() : board->notify_first();
  };
  board_->publish({run->chunks(), chunk, done, run});
}

// Takes part in what is published until the run is handed back. False when the workers did not do what they
// had to.
bool Executor::share(Run* run) {
  if (workers_.board != nullptr) {
    board_->serve(0, run->handed_back);
  } else {
    const Task task = [](void* argument, int worker) {
      Run* run = static_cast<Run*>(argument);
      Board* board = run->executor->board_;
      if (run->executor->workers_.concurrent)
        board->serve(worker, run->handed_back);
      else
        board->take(worker);
      run->tasks_done.fetch_add(1);
    };
    int64_t tasks = workers_.threads;
    if (!workers_.concurrent && run->chunks() < tasks) tasks = run->chunks();
    run->tasks_done.store(0);
    workers_.parallel(workers_.user, static_cast<int>(tasks), task, run);
    if (run->tasks_done.load() != tasks || !run->handed_back.load()) return false;
  }
  run->handed_back.store(false);
  return true;
}

}  // namespace korch::rt
