// The C interface (korch.h) over this executable's tables. Lives in the archive that `package` links into
// executables.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "korch/runtime/check.h"
#include "korch/runtime/executor.h"
#include "korch/runtime/model.h"
#include "korch/runtime/packed.h"
#include "korch/runtime/shared_pool.h"
#include "korch/runtime/sized.h"

using korch::rt::Executor;
using korch::rt::Pool;
using korch::rt::RunError;
using korch::rt::RunOptions;
using korch::rt::RunStatus;
using korch::rt::Workers;

// Where the linker puts this executable's ELF header: the start of its image.
extern "C" __attribute__((visibility("hidden"))) const unsigned char __ehdr_start[];

struct korch_instance {
  Pool* own_pool = nullptr;
  Executor* executor = nullptr;
  const pid_t process = getpid();
  std::atomic<bool> busy{false};
  std::atomic<bool> has_run{false};
  char message[512] = "";
  // What the executor writes to: the caller's outputs, then the extents that depend on the data.
  void** outputs = nullptr;
  int64_t* extents = nullptr;
  int64_t* dims = nullptr;  // room for those of any output
};

namespace {

bool forked(const korch_instance* instance) {
  return instance->process != getpid();
}

korch_status status_of(RunError error) {
  switch (error) {
    case RunError::none:
      return KORCH_OK;
    case RunError::out_of_memory:
      return KORCH_OUT_OF_MEMORY;
    case RunError::library_refused:
      return KORCH_LIBRARY_REFUSED;
    case RunError::index_out_of_range:
      return KORCH_INDEX_OUT_OF_RANGE;
    case RunError::loop_without_end:
      return KORCH_LOOP_WITHOUT_END;
    case RunError::library_failed:
      return KORCH_LIBRARY_FAILED;
    case RunError::unknown_code:
      return KORCH_INTERNAL;
    case RunError::cancelled:
      return KORCH_CANCELLED;
    case RunError::parallel_failed:
      return KORCH_PARALLEL_FAILED;
  }
  return KORCH_INTERNAL;
}

// False when the options are of no known form; null is none.
template <typename Options>
bool read_options(const Options* given, Options* options) {
  *options = {};
  return given == nullptr || korch::rt::read_sized(*given, options) == korch::rt::Sized::known;
}

constexpr int32_t kMostSpin_us = 10000000;

// Whose threads the instance runs on; a pool of its own is made when they are nobody's.
korch_status choose_workers(const korch_options& options, korch_instance* instance, Workers* workers) {
  if (options.threads < 0 || (options.concurrent != 0 && options.concurrent != 1) ||
      (options.parallel == nullptr && (options.concurrent != 0 || options.parallel_user != nullptr)) ||
      (options.parallel != nullptr && options.pool != nullptr) || options.spin_us < -1 ||
      options.spin_us > kMostSpin_us || options.schedule < 0 || options.schedule > 3 ||
      (options.spin_us != 0 && (options.parallel != nullptr || options.pool != nullptr)))
    return KORCH_INVALID_ARGUMENT;
  workers->threads = options.threads > 0 ? options.threads : korch::rt::default_threads(korch_model.program);
  if (options.parallel != nullptr) {
    workers->concurrent = options.concurrent == 1;
    workers->parallel = options.parallel;
    workers->user = options.parallel_user;
    return KORCH_OK;
  }
  if (options.pool != nullptr) {
    if (options.pool->process != getpid()) return KORCH_FORKED;
    if (options.threads > options.pool->threads) return KORCH_INVALID_ARGUMENT;
    if (options.threads == 0) workers->threads = options.pool->threads;
    workers->concurrent = true;
    workers->parallel = options.pool->parallel;
    workers->user = options.pool;
    return KORCH_OK;
  }
  const int spin_us = options.spin_us == 0 ? korch::rt::Board::kSpin_us : options.spin_us;
  instance->own_pool = Pool::create(workers->threads, spin_us);
  if (instance->own_pool == nullptr) return KORCH_OUT_OF_MEMORY;
  *workers = instance->own_pool->workers();
  return KORCH_OK;
}

// Whether there is an address for every tensor that has elements.
bool complete(const void* const* buffers, const korch_tensor_info* tensors, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (tensors[i].size_bytes > 0 && (buffers == nullptr || buffers[i] == nullptr)) return false;
  return true;
}

// Where outputs have extents that depend on the data: memory for those.
bool make_extents(korch_instance* instance) {
  const uint64_t outputs = korch_model.info.output_count, extents = korch_model.extent_count;
  if (extents == 0) return true;
  uint64_t rank = 0;
  for (uint64_t i = 0; i < outputs; ++i)
    if (korch_model.info.outputs[i].rank > rank) rank = korch_model.info.outputs[i].rank;
  void* memory = malloc((outputs + extents) * sizeof(void*) + (extents + rank) * sizeof(int64_t));
  if (memory == nullptr) return false;
  instance->outputs = static_cast<void**>(memory);
  instance->extents = reinterpret_cast<int64_t*>(instance->outputs + outputs + extents);
  instance->dims = instance->extents + extents;
  for (uint64_t i = 0; i < extents; ++i) instance->outputs[outputs + i] = instance->extents + i;
  return true;
}

void read_dims(const korch_instance* instance, uint32_t output, int64_t* dims) {
  const korch_tensor_info& tensor = korch_model.info.outputs[output];
  for (uint32_t i = 0; i < tensor.rank; ++i) dims[i] = tensor.dims[i];
  for (uint64_t i = 0; i < korch_model.extent_count; ++i)
    if (korch_model.extents[i].output == output) dims[korch_model.extents[i].axis] = instance->extents[i];
}

// False when an extent is none that its bound allows.
bool pack_outputs(korch_instance* instance) {
  for (uint64_t i = 0; i < korch_model.extent_count; ++i) {
    const korch::rt::OutputExtent& extent = korch_model.extents[i];
    const int64_t bound = korch_model.info.outputs[extent.output].dims[extent.axis];
    if (instance->extents[i] < 0 || instance->extents[i] > bound) return false;
  }
  for (uint64_t i = 0; i < korch_model.extent_count; ++i) {
    const uint32_t output = korch_model.extents[i].output;
    if (i > 0 && korch_model.extents[i - 1].output == output) continue;
    const korch_tensor_info& tensor = korch_model.info.outputs[output];
    uint64_t elements = 1;
    for (uint32_t axis = 0; axis < tensor.rank; ++axis) elements *= static_cast<uint64_t>(tensor.dims[axis]);
    if (elements == 0) continue;
    read_dims(instance, output, instance->dims);
    korch::rt::pack(instance->outputs[output], tensor.size_bytes / elements, tensor.rank, tensor.dims,
                    instance->dims);
  }
  return true;
}

korch_status run(korch_instance* instance, const void* const* inputs, void* const* outputs,
                 const RunOptions& options) {
  const korch_model_info& model = korch_model.info;
  if (instance == nullptr || !complete(inputs, model.inputs, model.input_count) ||
      !complete(outputs, model.outputs, model.output_count))
    return KORCH_INVALID_ARGUMENT;
  if (forked(instance)) return KORCH_FORKED;
  if (instance->busy.exchange(true, std::memory_order_acquire)) return KORCH_BUSY;
  instance->message[0] = '\0';
  if (instance->extents != nullptr) {
    memcpy(instance->outputs, outputs, model.output_count * sizeof(void*));
    outputs = instance->outputs;
  }
  const RunStatus status = instance->executor->run(inputs, outputs, options);
  korch_status result = status_of(status.error);
  if (result == KORCH_OK && !pack_outputs(instance)) result = KORCH_INTERNAL;
  instance->has_run.store(result == KORCH_OK, std::memory_order_relaxed);
  if (result != KORCH_OK && status.step < 0)
    snprintf(instance->message, sizeof instance->message, "%s", korch_status_text(result));
  else if (result != KORCH_OK)
    snprintf(instance->message, sizeof instance->message, "%s (step %d, %s)", korch_status_text(result),
             status.step, korch_model.program.steps[status.step].name);
  instance->busy.store(false, std::memory_order_release);
  return result;
}

}  // namespace

extern "C" {

const korch_model_info* korch_describe(void) {
  return &korch_model.info;
}

korch_status korch_check(void) {
  return korch::rt::intact(korch_check_record, __ehdr_start, /*weights=*/true) ? KORCH_OK : KORCH_DAMAGED;
}

korch_status korch_create_with(const korch_options* options, korch_instance** instance) {
  if (instance == nullptr) return KORCH_INVALID_ARGUMENT;
  *instance = nullptr;
  korch_options known;
  if (!read_options(options, &known)) return KORCH_INVALID_ARGUMENT;
  if (!korch::rt::cpu_offers(static_cast<korch::rt::IsaLevel>(korch_model.isa))) return KORCH_UNSUPPORTED_CPU;
  if (!korch::rt::intact(korch_check_record, __ehdr_start, /*weights=*/false)) return KORCH_DAMAGED;
  void* memory = malloc(sizeof(korch_instance));
  if (memory == nullptr) return KORCH_OUT_OF_MEMORY;
  auto* made = new (memory) korch_instance;
  Workers workers;
  korch_status result = make_extents(made) ? choose_workers(known, made, &workers) : KORCH_OUT_OF_MEMORY;
  if (result == KORCH_OK) {
    RunStatus status;
    made->executor = Executor::create(&korch_model.program, korch_model.weights, workers, &status, nullptr,
                                      static_cast<korch::rt::Schedule>(known.schedule));
    result = status_of(status.error);
  }
  if (result != KORCH_OK)
    korch_free(made);
  else
    *instance = made;
  return result;
}

korch_status korch_create(int threads, korch_instance** instance) {
  const korch_options options = {sizeof options, threads, 0, nullptr, nullptr, nullptr, 0, 0};
  return korch_create_with(&options, instance);
}

korch_status korch_run_with(korch_instance* instance, const void* const* inputs, void* const* outputs,
                            const korch_run_options* options) {
  korch_run_options known;
  if (!read_options(options, &known)) return KORCH_INVALID_ARGUMENT;
  return run(instance, inputs, outputs, {known.step_us, known.observe, known.user, known.cancel});
}

korch_status korch_run(korch_instance* instance, const void* const* inputs, void* const* outputs) {
  return run(instance, inputs, outputs, {});
}

korch_status korch_profile(korch_instance* instance, const void* const* inputs, void* const* outputs,
                           double* step_us, korch_observer observe, void* user) {
  return run(instance, inputs, outputs, {step_us, observe, user});
}

korch_status korch_output_dims(const korch_instance* instance, uint32_t output, int64_t* dims) {
  const korch_model_info& model = korch_model.info;
  if (instance == nullptr || output >= model.output_count || !instance->has_run)
    return KORCH_INVALID_ARGUMENT;
  const korch_tensor_info& tensor = model.outputs[output];
  if (dims == nullptr && tensor.rank > 0) return KORCH_INVALID_ARGUMENT;
  read_dims(instance, output, dims);
  return KORCH_OK;
}

const char* korch_last_error(const korch_instance* instance) {
  return instance == nullptr ? "" : instance->message;
}

const char* korch_status_text(korch_status status) {
  switch (status) {
    case KORCH_OK:
      return "no error";
    case KORCH_INVALID_ARGUMENT:
      return "invalid argument";
    case KORCH_UNSUPPORTED_CPU:
      return "this executable was compiled for instructions that this CPU lacks";
    case KORCH_OUT_OF_MEMORY:
      return "the system has no memory or no threads left";
    case KORCH_LIBRARY_REFUSED:
      return "a shared library refuses a call that it took at compile time; its version or the processor "
             "differs";
    case KORCH_INDEX_OUT_OF_RANGE:
      return "a gather or scatter met an index outside its axis";
    case KORCH_LIBRARY_FAILED:
      return "a call of a shared library failed";
    case KORCH_INTERNAL:
      return "a kernel returned an unknown code; this is a bug in korch";
    case KORCH_BUSY:
      return "the instance is running already, for another caller";
    case KORCH_FORKED:
      return "the instance was created in another process, before fork; create one in this process";
    case KORCH_DAMAGED:
      return "this executable is damaged: its bytes are not those that korch wrote";
    case KORCH_LOOP_WITHOUT_END:
      return "a loop did not end within 1048576 steps";
    case KORCH_CANCELLED:
      return "the run was cancelled";
    case KORCH_PARALLEL_FAILED:
      return "the caller's threads did not run every task once, or a run began within another on the same "
             "pool";
  }
  return "unknown status";
}

void korch_free(korch_instance* instance) {
  if (instance == nullptr) return;
  Executor::destroy(instance->executor, /*workers_live=*/!forked(instance));
  Pool::destroy(instance->own_pool, /*workers_live=*/!forked(instance));
  free(instance->outputs);
  free(instance);
}

}  // extern "C"
