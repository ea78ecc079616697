// The C interface (korch.h) over this executable's tables. Lives in the archive that `package` links into
// executables.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "korch/runtime/check.h"
#include "korch/runtime/cpu/pool.h"
#include "korch/runtime/executor.h"
#include "korch/runtime/model.h"

using korch::rt::Executor;
using korch::rt::Pool;
using korch::rt::RunError;
using korch::rt::RunOptions;
using korch::rt::RunStatus;

// Where the linker puts this executable's ELF header: the start of its image.
extern "C" __attribute__((visibility("hidden"))) const unsigned char __ehdr_start[];

struct korch_instance {
  Pool* pool = nullptr;
  Executor* executor = nullptr;
  const pid_t process = getpid();
  std::atomic<bool> busy{false};
  char message[512] = "";
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
    case RunError::library_failed:
      return KORCH_LIBRARY_FAILED;
    case RunError::unknown_code:
      return KORCH_INTERNAL;
  }
  return KORCH_INTERNAL;
}

// Whether there is an address for every tensor that has elements.
bool complete(const void* const* buffers, const korch_tensor_info* tensors, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (tensors[i].size_bytes > 0 && (buffers == nullptr || buffers[i] == nullptr)) return false;
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
  const RunStatus status = instance->executor->run(inputs, outputs, options);
  const korch_status result = status_of(status.error);
  if (result != KORCH_OK) {
    const char* step = status.step >= 0 ? korch_model.program.steps[status.step].name : "";
    snprintf(instance->message, sizeof instance->message, "%s (step %d, %s)", korch_status_text(result),
             status.step, step);
  }
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

korch_status korch_create(int threads, korch_instance** instance) {
  if (instance == nullptr) return KORCH_INVALID_ARGUMENT;
  *instance = nullptr;
  if (threads < 0) return KORCH_INVALID_ARGUMENT;
  if (!korch::rt::cpu_offers(static_cast<korch::rt::IsaLevel>(korch_model.isa))) return KORCH_UNSUPPORTED_CPU;
  if (!korch::rt::intact(korch_check_record, __ehdr_start, /*weights=*/false)) return KORCH_DAMAGED;
  void* memory = malloc(sizeof(korch_instance));
  if (memory == nullptr) return KORCH_OUT_OF_MEMORY;
  auto* made = new (memory) korch_instance;
  made->pool = Pool::create(threads > 0 ? threads : static_cast<int>(korch_model.program.threads));
  RunStatus status{RunError::out_of_memory, -1};
  if (made->pool != nullptr)
    made->executor = Executor::create(&korch_model.program, korch_model.weights, made->pool, &status);
  if (made->executor == nullptr) {
    korch_free(made);
    return status_of(status.error);
  }
  *instance = made;
  return KORCH_OK;
}

korch_status korch_run(korch_instance* instance, const void* const* inputs, void* const* outputs) {
  return run(instance, inputs, outputs, {});
}

korch_status korch_profile(korch_instance* instance, const void* const* inputs, void* const* outputs,
                           double* step_us, korch_observer observe, void* user) {
  return run(instance, inputs, outputs, {step_us, observe, user});
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
  }
  return "unknown status";
}

void korch_free(korch_instance* instance) {
  if (instance == nullptr) return;
  Executor::destroy(instance->executor);
  Pool::destroy(instance->pool, /*workers_live=*/!forked(instance));
  free(instance);
}

}  // extern "C"
