// The C interface (korch.h) over this executable's tables. Lives in the archive that `package` links into
// executables.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "korch/plan/model_fault.h"
#include "korch/runtime/check.h"
#include "korch/runtime/engine.h"
#include "korch/runtime/model.h"
#include "korch/runtime/open_inputs.h"
#include "korch/runtime/packed.h"
#include "korch/runtime/shared_pool.h"
#include "korch/runtime/sized.h"
#include "korch/runtime/state_run.h"
#include "korch/runtime/tables.h"

using korch::rt::OpenInputs;
using korch::rt::RunError;
using korch::rt::RunOptions;
using korch::rt::RunStatus;
using korch::rt::ShapePlan;
using korch::rt::StateRun;
using korch::rt::the_info;
using korch::rt::the_model;

// Where the linker puts this executable's ELF header: the start of its image.
extern "C" __attribute__((visibility("hidden"))) const unsigned char __ehdr_start[];

struct korch_instance {
  korch::rt::Engine* engine = nullptr;
  const pid_t process = getpid();
  std::atomic<bool> busy{false};
  std::atomic<bool> has_run{false};
  char message[512] = "";
  // What the executor writes to: the caller's outputs, then the extents that depend on the data.
  void** outputs = nullptr;
  int64_t* extents = nullptr;
  int64_t* dims = nullptr;  // room for those of any output
  OpenInputs* open_inputs = nullptr;
  StateRun* states = nullptr;
  uint32_t shape_plan = 0;  // of the last run
};

namespace {

bool forked(const korch_instance* instance) {
  return instance->process != getpid();
}

// False when the options are of no known form; null is none.
template <typename Options>
bool read_options(const Options* given, Options* options) {
  *options = {};
  return given == nullptr || korch::rt::read_sized(*given, options) == korch::rt::Sized::known;
}

// Whether there is an address for every tensor that has elements, but for those that a state has.
bool complete(const void* const* buffers, const korch_tensor_info* tensors, uint32_t count,
              const korch_state_info* (*state_of)(const korch_model_info&, uint32_t)) {
  for (uint32_t i = 0; i < count; ++i)
    if (tensors[i].size_bytes > 0 && (buffers == nullptr || buffers[i] == nullptr) &&
        (state_of == nullptr || state_of(the_info(), i) == nullptr))
      return false;
  return true;
}

// Where outputs have extents that depend on the data: memory for those.
bool make_extents(korch_instance* instance) {
  const uint64_t outputs = the_info().output_count, extents = the_model().extent_count;
  if (extents == 0) return true;
  uint64_t rank = 0;
  for (uint64_t i = 0; i < outputs; ++i)
    if (the_info().outputs[i].rank > rank) rank = the_info().outputs[i].rank;
  void* memory = malloc((outputs + extents) * sizeof(void*) + (extents + rank) * sizeof(int64_t));
  if (memory == nullptr) return false;
  instance->outputs = static_cast<void**>(memory);
  instance->extents = reinterpret_cast<int64_t*>(instance->outputs + outputs + extents);
  instance->dims = instance->extents + extents;
  for (uint64_t i = 0; i < extents; ++i) instance->outputs[outputs + i] = instance->extents + i;
  return true;
}

void read_dims(const korch_instance* instance, uint32_t output, int64_t* dims) {
  const int64_t* bounds = the_model().shape_plans[instance->shape_plan].output_dims[output];
  for (uint32_t i = 0; i < the_info().outputs[output].rank; ++i) dims[i] = bounds[i];
  for (uint64_t i = 0; i < the_model().extent_count; ++i)
    if (the_model().extents[i].output == output) dims[the_model().extents[i].axis] = instance->extents[i];
}

void tell_dims(const void* instance, uint32_t output, int64_t* dims) {
  read_dims(static_cast<const korch_instance*>(instance), output, dims);
}

// False when an extent is none that its bound allows.
bool pack_outputs(korch_instance* instance) {
  const ShapePlan& shape_plan = the_model().shape_plans[instance->shape_plan];
  for (uint64_t i = 0; i < the_model().extent_count; ++i) {
    const korch::rt::OutputExtent& extent = the_model().extents[i];
    if (shape_plan.extents[i] >= 0) instance->extents[i] = shape_plan.extents[i];
    const int64_t bound = shape_plan.output_dims[extent.output][extent.axis];
    if (instance->extents[i] < 0 || instance->extents[i] > bound) return false;
  }
  for (uint64_t i = 0; i < the_model().extent_count; ++i) {
    const uint32_t output = the_model().extents[i].output;
    if (i > 0 && the_model().extents[i - 1].output == output) continue;
    const korch_tensor_info& tensor = the_info().outputs[output];
    uint64_t elements = 1;
    for (uint32_t axis = 0; axis < tensor.rank; ++axis) elements *= static_cast<uint64_t>(tensor.dims[axis]);
    if (elements == 0 || instance->states->grows(korch::rt::state_of_output(the_info(), output))) continue;
    read_dims(instance, output, instance->dims);
    korch::rt::pack(instance->outputs[output], tensor.size_bytes / elements, tensor.rank,
                    shape_plan.output_dims[output], instance->dims);
  }
  return true;
}

// The one that takes the least of those for extents as large as these.
uint32_t shape_plan_for(const int64_t* extents) {
  uint32_t best = 0;
  for (uint32_t v = 1; v < the_model().shape_plan_count; ++v) {
    const ShapePlan& shape_plan = the_model().shape_plans[v];
    bool is_enough = shape_plan.predicted_us < the_model().shape_plans[best].predicted_us;
    for (uint32_t d = 0; d < the_info().dimension_count; ++d)
      is_enough = is_enough && extents[d] <= shape_plan.bounds[d];
    if (is_enough) best = v;
  }
  return best;
}

// As korch_model_info counts the steps.
uint32_t described_step(const ShapePlan& shape_plan, uint32_t step) {
  const uint32_t steps = shape_plan.program.step_count - shape_plan.copy_count;
  return step < steps ? shape_plan.first_step + step : shape_plan.first_copy + (step - steps);
}

// Tells observers, and who wants durations, of steps as they are described.
class DescribedRun {
 public:
  DescribedRun(const ShapePlan& shape_plan, const korch_run_options& wanted)
      : shape_plan_(shape_plan), wanted_(wanted) {}
  ~DescribedRun() { free(step_us_); }
  DescribedRun(const DescribedRun&) = delete;
  DescribedRun& operator=(const DescribedRun&) = delete;

  RunStatus run(korch::rt::Engine* engine, uint32_t number, const void* const* inputs, void* const* outputs) {
    RunOptions options;
    options.cancel = wanted_.cancel;
    if (wanted_.step_us != nullptr) {
      step_us_ = static_cast<double*>(calloc(shape_plan_.program.step_count + 1, sizeof(double)));
      if (step_us_ == nullptr) return {RunError::out_of_memory, -1};
      options.step_us = step_us_;
    }
    options.on_device = wanted_.on_device != 0;
    options.stream = wanted_.stream;
    options.observe_user = this;
    if (wanted_.observe != nullptr)
      options.observe = [](void* user, uint32_t step, void* const* args) {
        const auto* self = static_cast<const DescribedRun*>(user);
        self->wanted_.observe(self->wanted_.user, described_step(self->shape_plan_, step), args);
      };
    if (wanted_.observe_slices != nullptr) options.on_slices = {tell_of_slices, this};
    const RunStatus status = korch::rt::run_engine(engine, number, inputs, outputs, options);
    if (step_us_ == nullptr) return status;
    for (uint32_t s = 0; s < the_info().step_count; ++s) wanted_.step_us[s] = 0;
    for (uint32_t s = 0; s < shape_plan_.program.step_count; ++s)
      wanted_.step_us[described_step(shape_plan_, s)] = step_us_[s];
    return status;
  }

 private:
  static void tell_of_slices(void* user, const korch::rt::SlicesRun& run) {
    const auto* self = static_cast<const DescribedRun*>(user);
    const korch_slices slices = {described_step(self->shape_plan_, run.step),
                                 run.phase,
                                 run.begin,
                                 run.end,
                                 run.worker,
                                 run.begin_us,
                                 run.end_us};
    self->wanted_.observe_slices(self->wanted_.slices_user, &slices);
  }

  const ShapePlan& shape_plan_;
  const korch_run_options& wanted_;
  double* step_us_ = nullptr;
};

// Fields of GPUs are for executables for these, and what copies through this process's memory is not for
// others' addresses.
bool fits_device(const korch_run_options& options) {
  if (options.state != nullptr && the_info().state_count == 0) return false;
  const bool is_gpu = the_model().compute_capability != 0;
  if (options.on_device == 0)
    return options.stream == nullptr && (!is_gpu || options.observe_slices == nullptr);
  return options.on_device == 1 && is_gpu && the_model().dimension_count == 0 &&
         the_model().extent_count == 0 && options.cancel == nullptr && options.step_us == nullptr &&
         options.observe == nullptr && options.observe_slices == nullptr;
}

// What an instance says of a run.
korch_status told(korch_instance* instance, const RunStatus& status) {
  auto result = static_cast<korch_status>(status.error);
  if (result == KORCH_OK && instance->extents != nullptr && !pack_outputs(instance)) result = KORCH_INTERNAL;
  instance->has_run.store(result == KORCH_OK, std::memory_order_relaxed);
  const ShapePlan& shape_plan = the_model().shape_plans[instance->shape_plan];
  const char* detail = status.detail == nullptr ? "" : status.detail;
  const char* colon = detail[0] == '\0' ? "" : ": ";
  if (result != KORCH_OK && status.step < 0)
    snprintf(instance->message, sizeof instance->message, "%s%s%s", korch_status_text(result), colon, detail);
  else if (result != KORCH_OK) {
    const korch::rt::Step& step = shape_plan.program.steps[status.step];
    const bool is_refused = result == KORCH_INDEX_OUT_OF_RANGE && step.refusal.get() != nullptr;
    snprintf(instance->message, sizeof instance->message, "%s%s%s (step %u, %s)",
             is_refused ? step.refusal.get() : korch_status_text(result), colon, detail,
             described_step(shape_plan, static_cast<uint32_t>(status.step)), step.name.get());
  }
  return result;
}

// With the instance taken. A refusal leaves the state as it was, too.
korch_status run_taken(korch_instance* instance, const void* const* inputs, void* const* outputs,
                       const korch_run_options& options) {
  const korch_model_info& model = the_info();
  const int64_t* const* dims = options.input_dims;
  StateRun& states = *instance->states;
  if (options.state != nullptr || (model.state_count > 0 && options.observe == nullptr)) {
    const korch_status begun = options.state == nullptr
                                   ? states.begin_alone(inputs, outputs, dims)
                                   : states.begin(options.state, korch_check_record.record_sum, inputs,
                                                  outputs, dims, instance->message, sizeof instance->message);
    if (begun != KORCH_OK) return begun;
    inputs = states.inputs();
    outputs = states.outputs();
    dims = states.input_dims();
  }
  if (!instance->open_inputs->read(dims, states, instance->message, sizeof instance->message))
    return KORCH_INVALID_ARGUMENT;
  states.load();
  instance->shape_plan = shape_plan_for(instance->open_inputs->extents());
  inputs =
      instance->open_inputs->within(the_model().shape_plans[instance->shape_plan].bounds, inputs, states);
  if (instance->extents != nullptr) {
    memcpy(instance->outputs, outputs, model.output_count * sizeof(void*));
    outputs = instance->outputs;
  }
  const ShapePlan& shape_plan = the_model().shape_plans[instance->shape_plan];
  const RunStatus status =
      DescribedRun(shape_plan, options).run(instance->engine, instance->shape_plan, inputs, outputs);
  return told(instance, status);
}

korch_status run(korch_instance* instance, const void* const* inputs, void* const* outputs,
                 const korch_run_options& options) {
  const korch_model_info& model = the_info();
  const bool has_state = options.state != nullptr;
  if (instance == nullptr ||
      !complete(inputs, model.inputs, model.input_count, has_state ? korch::rt::state_of_input : nullptr) ||
      !complete(outputs, model.outputs, model.output_count,
                has_state ? korch::rt::state_of_output : nullptr) ||
      !fits_device(options))
    return KORCH_INVALID_ARGUMENT;
  if (forked(instance)) return KORCH_FORKED;
  if (instance->busy.exchange(true, std::memory_order_acquire)) return KORCH_BUSY;
  instance->message[0] = '\0';
  const korch_status result = run_taken(instance, inputs, outputs, options);
  instance->states->end(result == KORCH_OK ? tell_dims : nullptr, instance);
  instance->busy.store(false, std::memory_order_release);
  return result;
}

// `instance` receives what is to be freed where the status is not KORCH_OK.
korch_status create(const korch_options& options, korch_instance** instance) {
  if (!korch::rt::cpu_offers(static_cast<korch::rt::IsaLevel>(the_model().isa))) return KORCH_UNSUPPORTED_CPU;
  if (!korch::rt::intact(korch_check_record, __ehdr_start, /*weights=*/false)) return KORCH_DAMAGED;
  const char* fault = korch::rt::model_fault(&the_model(), the_model().size_bytes);
  if (fault == nullptr) return KORCH_OUT_OF_MEMORY;
  if (fault[0] != '\0') return KORCH_DAMAGED;
  void* memory = malloc(sizeof(korch_instance));
  if (memory == nullptr) return KORCH_OUT_OF_MEMORY;
  *instance = new (memory) korch_instance;
  if (!make_extents(*instance)) return KORCH_OUT_OF_MEMORY;
  (*instance)->open_inputs = OpenInputs::create(&the_model(), &the_info());
  (*instance)->states = StateRun::create(&the_info());
  if ((*instance)->open_inputs == nullptr || (*instance)->states == nullptr) return KORCH_OUT_OF_MEMORY;
  return korch::rt::create_engine(&the_model(), &the_info(), options, &(*instance)->engine);
}

}  // namespace

extern "C" {

const korch_model_info* korch_describe(void) {
  return &the_info();
}

korch_status korch_check(void) {
  return korch::rt::intact(korch_check_record, __ehdr_start, /*weights=*/true) ? KORCH_OK : KORCH_DAMAGED;
}

korch_status korch_create_with(const korch_options* options, korch_instance** instance) {
  if (instance == nullptr) return KORCH_INVALID_ARGUMENT;
  *instance = nullptr;
  korch_options known;
  if (!read_options(options, &known)) return KORCH_INVALID_ARGUMENT;
  korch_instance* made = nullptr;
  const korch_status result = create(known, &made);
  if (result == KORCH_OK) {
    *instance = made;
    return KORCH_OK;
  }
  const char* why = made == nullptr ? "" : korch::rt::why_no_engine(made->engine);
  if (known.message != nullptr)
    snprintf(known.message, known.message_bytes, "%s%s%s", korch_status_text(result),
             why[0] == '\0' ? "" : ": ", why);
  korch_free(made);
  return result;
}

korch_status korch_create(int threads, korch_instance** instance) {
  const korch_options options = {sizeof options, threads, 0, nullptr, nullptr, nullptr, 0, 0, 0, nullptr, 0};
  return korch_create_with(&options, instance);
}

korch_status korch_run_with(korch_instance* instance, const void* const* inputs, void* const* outputs,
                            const korch_run_options* options) {
  korch_run_options known;
  if (!read_options(options, &known)) return KORCH_INVALID_ARGUMENT;
  return run(instance, inputs, outputs, known);
}

korch_status korch_run(korch_instance* instance, const void* const* inputs, void* const* outputs) {
  return run(instance, inputs, outputs, {});
}

korch_status korch_profile(korch_instance* instance, const void* const* inputs, void* const* outputs,
                           double* step_us, korch_observer observe, void* user) {
  korch_run_options options = {};
  options.step_us = step_us;
  options.observe = observe;
  options.user = user;
  return run(instance, inputs, outputs, options);
}

korch_status korch_wait(korch_instance* instance) {
  if (instance == nullptr) return KORCH_INVALID_ARGUMENT;
  if (forked(instance)) return KORCH_FORKED;
  if (instance->busy.exchange(true, std::memory_order_acquire)) return KORCH_BUSY;
  instance->message[0] = '\0';
  const korch_status result = told(instance, korch::rt::wait_for_engine(instance->engine));
  instance->busy.store(false, std::memory_order_release);
  return result;
}

korch_status korch_output_dims(const korch_instance* instance, uint32_t output, int64_t* dims) {
  const korch_model_info& model = the_info();
  if (instance == nullptr || output >= model.output_count || !instance->has_run)
    return KORCH_INVALID_ARGUMENT;
  const korch_tensor_info& tensor = model.outputs[output];
  if (dims == nullptr && tensor.rank > 0) return KORCH_INVALID_ARGUMENT;
  read_dims(instance, output, dims);
  return KORCH_OK;
}

int32_t korch_threads(const korch_instance* instance) {
  return instance == nullptr ? 0 : korch::rt::threads_of(instance->engine);
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
      return "the system has no memory left";
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
      return "a loop did not end within 1048576 iterations";
    case KORCH_CANCELLED:
      return "the run was cancelled";
    case KORCH_PARALLEL_FAILED:
      return "the caller's threads did not run every task once, or a run began within another on the same "
             "pool";
    case KORCH_NO_GPU:
      return "there is no NVIDIA GPU, or no driver for it (libcuda.so.1)";
    case KORCH_UNSUPPORTED_GPU:
      return "this executable was compiled for another kind of GPU";
    case KORCH_GPU_FAILED:
      return "the GPU's driver reports a failure";
    case KORCH_OLD_DRIVER:
      return "the NVIDIA driver is too old for this executable; update it";
    case KORCH_GPU_OUT_OF_MEMORY:
      return "the GPU has not enough memory";
  }
  return "unknown status";
}

void korch_free(korch_instance* instance) {
  if (instance == nullptr) return;
  korch::rt::destroy_engine(instance->engine, forked(instance));
  OpenInputs::destroy(instance->open_inputs);
  StateRun::destroy(instance->states);
  free(instance->outputs);
  free(instance);
}

}  // extern "C"
