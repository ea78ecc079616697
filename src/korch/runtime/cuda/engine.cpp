// The engine of executables for GPUs: weights, arena, inputs and outputs have their places in the GPU's
// memory for as long as the instance lives, so that launches never change; a run copies inputs there,
// launches, and copies outputs back.
#include "korch/runtime/engine.h"

#include <stdlib.h>
#include <string.h>

#include <initializer_list>

#include "korch/runtime/cuda/context.h"
#include "korch/runtime/library.h"

namespace korch::rt {
namespace {

using cuda::Address;

constexpr uint64_t kAlignment = 256;  // of what cuMemAlloc gives

template <typename T>
T* zeros(uint64_t count) {
  return static_cast<T*>(calloc(count + 1, sizeof(T)));
}

// A kernel, or where there is no function a copy of `bytes` from the first argument to the second.
struct Launch {
  uint32_t step = 0;
  void* function = nullptr;
  uint32_t blocks = 0, threads = 0;
  uint64_t bytes = 0;
  Address* addresses = nullptr;  // of the arguments
  void** arguments = nullptr;    // of the addresses
};

// Of a shape plan, in its order. Copies of outputs come last, and are not in the graph.
struct Launches {
  Launch* list = nullptr;
  uint32_t count = 0, kernels = 0;
  uint32_t* first = nullptr;   // of each step
  void* executable = nullptr;  // the kernels as a CUDA graph, whose edges are the plan's events; null: none
};

// What a task waits for: `marked[t]` of each other task that is to end before.
class TasksBefore {
 public:
  TasksBefore(const TaskTable& table, bool* marked, bool* seen)
      : table_(table), marked_(marked), seen_(seen) {}

  void mark(const SliceTask& task) {
    for (uint32_t t = 0; t < table_.task_count; ++t) marked_[t] = false;
    for (uint32_t e = 0; e < table_.event_count; ++e) seen_[e] = false;
    visit(task.waits);
  }

 private:
  template <typename Row>
  bool triggers(const Row& row, uint32_t event) const {
    for (uint32_t i = 0; i < row.trigger_count; ++i)
      if (table_.triggers[row.first_trigger + i] == event) return true;
    return false;
  }

  void visit(uint32_t event) {
    if (seen_[event]) return;
    seen_[event] = true;
    for (uint32_t t = 0; t < table_.task_count; ++t)
      if (triggers(table_.tasks[t], event)) marked_[t] = true;
    for (uint32_t e = 0; e < table_.event_count; ++e)
      if (triggers(table_.events[e], event)) visit(e);
  }

  const TaskTable& table_;
  bool* marked_;
  bool* seen_;
};

}  // namespace

struct Engine : cuda::Context {
  korch_status create(const Model* of_model, const korch_model_info* of_info, const korch_options& options);
  void leave_device();
  void free_memory();
  RunStatus run(uint32_t shape_plan, const void* const* from, void* const* to, const RunOptions& options);
  RunStatus wait();

 private:
  uint64_t input_count() const { return uint64_t{model->input_count} + model->dimension_count; }
  uint64_t output_count() const { return model->output_count + model->extent_count; }
  uint64_t input_bytes(uint64_t i) const {
    return i < model->input_count ? info->inputs[i].size_bytes : sizeof(int64_t);
  }
  uint64_t output_bytes(uint64_t i) const {
    return i < model->output_count ? info->outputs[i].size_bytes : sizeof(int64_t);
  }
  RunStatus left(const RunStatus& status);
  korch_status prepare_all();
  korch_status load_images();
  korch_status allocate();
  bool prepare(const Program& program, Launches* launches);
  bool make_graph(const Program& program, Launches* launches);
  bool add_kernels(const Program& program, const Launches& launches, void* graph);
  bool prepare_launch(const Step& step, uint32_t number, const DeviceFunction* function, Launch* launch);
  Address address_of(const BufferRef& ref) const;
  bool start(const Launch& launch, void* in);
  bool begin(const Program& program, void* in);
  bool put_into_stream(uint32_t shape_plan, const void* const* from, void* const* to, void* in);
  RunStatus read_faults(const Program& program);
  bool get_outputs(void* const* to);
  bool observe(const Program& program, uint32_t step, const void* const* from, void* const* to,
               const RunOptions& options);
  bool make_room(uint32_t shape_plan, const RunOptions& options);
  RunStatus run_here(uint32_t shape_plan, const void* const* from, void* const* to,
                     const RunOptions& options);

  const Model* model;
  const korch_model_info* info;
  Schedule schedule;  // barrier: launch after launch; else a graph
  void* stream;
  void* last;          // an event: the last run that was put into another stream
  uint32_t last_plan;  // which it ran
  bool is_pending;     // nobody has waited for it
  void** modules;
  Address memory, weights, arena, workspace, faults;  // faults: an int per step
  Address *inputs, *outputs;
  Launches* plans;  // of each shape plan
  int32_t* host_faults;
  unsigned char* seen_arena;  // as observers see it
  void** events;              // of runs whose steps are timed
  uint32_t event_count;
};

korch_status Engine::load_images() {
  modules = zeros<void*>(model->image_count);
  if (modules == nullptr) return KORCH_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < model->image_count; ++i) {
    const DeviceImage& image = model->images[i];
    const unsigned char* code = emulated ? image.emulated.get() : image.code.get();
    if (code == nullptr) continue;  // of a call of the runtime
    if (did(driver.load(&modules[i], code))) continue;
    if (!cuda::is_unknown_code(last_code)) return refuse_failure();
    return refuse(KORCH_OLD_DRIVER, "it does not know the machine code of this compiler: %s", failure);
  }
  return KORCH_OK;
}

// All in one piece, and the weights in it.
korch_status Engine::allocate() {
  uint64_t end = 0;
  const auto place = [&](uint64_t bytes) {
    const uint64_t at = end;
    end += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  };
  uint64_t arena_bytes = 0, workspace_bytes = 0, steps = 0;
  for (uint32_t v = 0; v < model->shape_plan_count; ++v) {
    const Program& program = model->shape_plans[v].program;
    if (program.arena_bytes > arena_bytes) arena_bytes = program.arena_bytes;
    if (program.step_count > steps) steps = program.step_count;
    for (uint32_t s = 0; s < program.step_count; ++s)
      for (uint32_t p = 0; p < program.steps[s].phase_count; ++p) {
        const DeviceFunction* function = program.steps[s].phases[p].device;
        if (function != nullptr && function->workspace_bytes * function->blocks > workspace_bytes)
          workspace_bytes = function->workspace_bytes * function->blocks;
      }
  }
  inputs = zeros<Address>(input_count());
  outputs = zeros<Address>(output_count());
  host_faults = zeros<int32_t>(steps);
  if (inputs == nullptr || outputs == nullptr || host_faults == nullptr) return KORCH_OUT_OF_MEMORY;
  weights = place(model->weights_bytes);
  arena = place(arena_bytes);
  workspace = place(workspace_bytes);
  faults = place(steps * sizeof(int32_t));
  for (uint64_t i = 0; i < input_count(); ++i) inputs[i] = place(input_bytes(i));
  for (uint64_t i = 0; i < output_count(); ++i) outputs[i] = place(output_bytes(i));
  if (!did(driver.allocate(&memory, end + kAlignment)))
    return last_code == cuda::kOutOfMemory ? refuse_memory(end) : refuse_failure();
  for (Address* address : {&weights, &arena, &workspace, &faults}) *address += memory;
  for (uint64_t i = 0; i < input_count(); ++i) inputs[i] += memory;
  for (uint64_t i = 0; i < output_count(); ++i) outputs[i] += memory;
  return model->weights_bytes == 0 ||
                 did(driver.to_device(weights, model->weights.get(), model->weights_bytes, stream))
             ? KORCH_OK
             : refuse_failure();
}

Address Engine::address_of(const BufferRef& ref) const {
  switch (ref.memory) {
    case kArena:
      return arena + ref.offset;
    case kWeights:
      return weights + ref.offset;
    case kInput:
      return inputs[ref.index] + ref.offset;
    case kOutput:
      return outputs[ref.index] + ref.offset;
  }
  return 0;
}

bool Engine::prepare_launch(const Step& step, uint32_t number, const DeviceFunction* function,
                            Launch* launch) {
  const uint64_t count = uint64_t{step.arg_count} + 2;
  launch->step = number;
  launch->addresses = zeros<Address>(count);
  launch->arguments = zeros<void*>(count);
  if (launch->addresses == nullptr || launch->arguments == nullptr) return false;
  for (uint32_t a = 0; a < step.arg_count; ++a) launch->addresses[a] = address_of(step.args[a]);
  launch->addresses[step.arg_count] = faults + number * sizeof(int32_t);
  launch->addresses[step.arg_count + 1] = workspace;
  for (uint64_t a = 0; a < count; ++a) launch->arguments[a] = &launch->addresses[a];
  if (function == nullptr) {
    launch->bytes = static_cast<uint64_t>(step.library_params[0]);
    return true;
  }
  launch->blocks = function->blocks;
  launch->threads = function->threads;
  return did(driver.function(&launch->function, modules[function->image], function->name));
}

bool Engine::prepare(const Program& program, Launches* launches) {
  uint64_t count = 0;
  for (uint32_t s = 0; s < program.step_count; ++s) count += program.steps[s].phase_count;
  launches->list = zeros<Launch>(count);
  launches->first = zeros<uint32_t>(program.step_count);
  if (launches->list == nullptr || launches->first == nullptr) return false;
  for (uint32_t s = 0; s < program.step_count; ++s) {
    const Step& step = program.steps[s];
    launches->first[s] = launches->count;
    for (uint32_t p = 0; p < step.phase_count; ++p) {
      const DeviceFunction* function = step.phases[p].device;
      if (!prepare_launch(step, s, function, &launches->list[launches->count++])) return false;
      if (function != nullptr) launches->kernels = launches->count;
    }
  }
  return schedule == Schedule::barrier || program.tasks == nullptr || launches->kernels == 0 ||
         make_graph(program, launches);
}

// Tasks stand in an order in which they can run one after the other.
bool Engine::add_kernels(const Program& program, const Launches& launches, void* graph) {
  const TaskTable& table = *program.tasks;
  void** nodes = zeros<void*>(2 * uint64_t{table.task_count});
  bool* marks = zeros<bool>(uint64_t{table.task_count} + table.event_count);
  bool done = nodes != nullptr && marks != nullptr;
  TasksBefore before(table, marks, marks + table.task_count);
  for (uint32_t t = 0; done && t < table.task_count; ++t) {
    const SliceTask& task = table.tasks[t];
    const Launch& launch = launches.list[launches.first[task.step] + task.phase];
    if (launch.function == nullptr) continue;
    void** after = nodes + table.task_count;
    uint64_t count = 0;
    before.mark(task);
    for (uint32_t b = 0; b < table.task_count; ++b)
      if (marks[b]) after[count++] = nodes[b];
    const cuda::KernelNode kernel = {launch.function,  launch.blocks, 1, 1, launch.threads, 1, 1, 0,
                                     launch.arguments, nullptr};
    done = did(driver.add_kernel(&nodes[t], graph, after, count, &kernel));
  }
  free(nodes);
  free(marks);
  return done;
}

bool Engine::make_graph(const Program& program, Launches* launches) {
  void* graph = nullptr;
  if (!did(driver.create_graph(&graph, 0))) return false;
  const bool done =
      add_kernels(program, *launches, graph) && did(driver.instantiate(&launches->executable, graph, 0));
  return did(driver.destroy_graph(graph)) && done;
}

korch_status Engine::create(const Model* of_model, const korch_model_info* of_info,
                            const korch_options& options) {
  model = of_model;
  info = of_info;
  schedule = static_cast<Schedule>(options.schedule);
  korch_status status = open(*model, options.device);
  if (status != KORCH_OK) return status;
  if (!enter()) return refuse_failure();
  status = prepare_all();
  if (!leave() && status == KORCH_OK) status = refuse_failure();
  return status;
}

korch_status Engine::prepare_all() {
  if (!did(driver.create_stream(&stream, 0)) || !did(driver.create_event(&last, 0))) return refuse_failure();
  korch_status status = load_images();
  if (status == KORCH_OK) status = allocate();
  if (status != KORCH_OK) return status;
  plans = zeros<Launches>(model->shape_plan_count);
  bool done = plans != nullptr;
  for (uint32_t v = 0; done && v < model->shape_plan_count; ++v)
    done = prepare(model->shape_plans[v].program, &plans[v]);
  return done && did(driver.wait(stream)) ? KORCH_OK : refuse_failure();
}

void Engine::leave_device() {
  // A call may give the error of an earlier launch instead: the second try is what counts.
  if (context != nullptr && (enter() || enter())) {
    if (stream != nullptr) driver.wait(stream);
    if (is_pending) driver.wait_for_event(last);
    if (last != nullptr) driver.destroy_event(last);
    for (uint32_t e = 0; e < event_count; ++e) driver.destroy_event(events[e]);
    for (uint32_t v = 0; plans != nullptr && v < model->shape_plan_count; ++v)
      if (plans[v].executable != nullptr) driver.destroy_executable(plans[v].executable);
    if (memory != 0) driver.free(memory);
    for (uint32_t i = 0; modules != nullptr && i < model->image_count; ++i)
      if (modules[i] != nullptr) driver.unload(modules[i]);
    if (stream != nullptr) driver.destroy_stream(stream);
    leave();
  }
  release();
}

void Engine::free_memory() {
  for (uint32_t v = 0; plans != nullptr && v < model->shape_plan_count; ++v) {
    for (uint32_t l = 0; l < plans[v].count; ++l) {
      free(plans[v].list[l].addresses);
      free(plans[v].list[l].arguments);
    }
    free(plans[v].list);
    free(plans[v].first);
  }
  for (void* piece : {static_cast<void*>(plans), static_cast<void*>(modules), static_cast<void*>(inputs),
                      static_cast<void*>(outputs), static_cast<void*>(host_faults),
                      static_cast<void*>(seen_arena), static_cast<void*>(events)})
    free(piece);
}

bool Engine::start(const Launch& launch, void* in) {
  if (launch.function == nullptr)
    return launch.bytes == 0 || did(driver.copy(launch.addresses[1], launch.addresses[0], launch.bytes, in));
  return did(driver.launch(launch.function, launch.blocks, 1, 1, launch.threads, 1, 1, 0, in,
                           launch.arguments, nullptr));
}

// Runs share their memory: each begins behind the one before.
bool Engine::begin(const Program& program, void* in) {
  if (is_pending && !did(driver.wait_in_stream(in, last, 0))) return false;
  return program.step_count == 0 || did(driver.fill_words(faults, 0, program.step_count, in));
}

RunStatus Engine::read_faults(const Program& program) {
  if (program.step_count > 0 &&
      !did(driver.to_host(host_faults, faults, program.step_count * sizeof(int32_t), stream)))
    return failed();
  if (!did(driver.wait(stream))) return failed();
  for (uint32_t s = 0; s < program.step_count; ++s)
    if (host_faults[s] != 0) return {RunError::index_out_of_range, static_cast<int32_t>(s)};
  return {};
}

// From and to addresses of the GPU.
bool Engine::put_into_stream(uint32_t shape_plan, const void* const* from, void* const* to, void* in) {
  const Launches& launches = plans[shape_plan];
  if (!begin(model->shape_plans[shape_plan].program, in)) return false;
  for (uint64_t i = 0; i < input_count(); ++i)
    if (input_bytes(i) > 0 &&
        !did(driver.copy(inputs[i], reinterpret_cast<Address>(from[i]), input_bytes(i), in)))
      return false;
  const bool whole = launches.executable != nullptr;
  if (whole && !did(driver.launch_graph(launches.executable, in))) return false;
  for (uint32_t l = whole ? launches.kernels : 0; l < launches.count; ++l)
    if (!start(launches.list[l], in)) return false;
  for (uint64_t i = 0; i < output_count(); ++i)
    if (output_bytes(i) > 0 &&
        !did(driver.copy(reinterpret_cast<Address>(to[i]), outputs[i], output_bytes(i), in)))
      return false;
  last_plan = shape_plan;
  return is_pending = did(driver.record(last, in));
}

RunStatus Engine::wait() {
  last_code = 0;
  if (!is_pending) return {};
  if (!enter()) return failed();
  const RunStatus status =
      did(driver.wait_for_event(last)) ? read_faults(model->shape_plans[last_plan].program) : failed();
  is_pending = status.error == RunError::gpu_failed;  // whoever asks again, waits again
  return left(status);
}

// After a run in the context: back in the caller's.
RunStatus Engine::left(const RunStatus& status) {
  return !leave() && status.error == RunError::none ? failed() : status;
}

bool Engine::get_outputs(void* const* to) {
  for (uint64_t i = 0; i < output_count(); ++i)
    if (output_bytes(i) > 0 && !did(driver.to_host(to[i], outputs[i], output_bytes(i), stream))) return false;
  return true;
}

// The arguments of a step as the host sees them: copies of what the GPU has.
bool Engine::observe(const Program& program, uint32_t number, const void* const* from, void* const* to,
                     const RunOptions& options) {
  const Step& step = program.steps[number];
  if (program.arena_bytes > 0 && !did(driver.to_host(seen_arena, arena, program.arena_bytes, stream)))
    return false;
  if (!get_outputs(to) || !did(driver.wait(stream))) return false;
  void** args = zeros<void*>(step.arg_count);
  if (args == nullptr) return false;
  for (uint32_t a = 0; a < step.arg_count; ++a) {
    const BufferRef& ref = step.args[a];
    const void* base = ref.memory == kArena     ? seen_arena
                       : ref.memory == kWeights ? model->weights.get()
                       : ref.memory == kInput   ? from[ref.index]
                                                : to[ref.index];
    args[a] = static_cast<unsigned char*>(const_cast<void*>(base)) + ref.offset;
  }
  options.observe(options.observe_user, number, args);
  free(args);
  return true;
}

static bool is_cancelled(const RunOptions& options) {
  return options.cancel != nullptr && __atomic_load_n(options.cancel, __ATOMIC_RELAXED) != 0;
}

RunStatus Engine::run_here(uint32_t shape_plan, const void* const* from, void* const* to,
                           const RunOptions& options) {
  const Program& program = model->shape_plans[shape_plan].program;
  const Launches& launches = plans[shape_plan];
  if (is_cancelled(options)) return {RunError::cancelled};
  if (!begin(program, stream)) return failed();
  for (uint64_t i = 0; i < input_count(); ++i)
    if (input_bytes(i) > 0 && !did(driver.to_device(inputs[i], from[i], input_bytes(i), stream)))
      return failed();
  const auto mark = [&](uint32_t event) {
    return options.step_us == nullptr || did(driver.record(events[event], stream));
  };
  if (!mark(0)) return failed();
  // Who looks at single steps gets launch after launch.
  const bool whole =
      launches.executable != nullptr && options.observe == nullptr && options.step_us == nullptr;
  if (whole && !did(driver.launch_graph(launches.executable, stream))) return failed();
  for (uint32_t l = whole ? launches.kernels : 0; l < launches.count; ++l) {
    const Launch& launch = launches.list[l];
    const auto step = static_cast<int32_t>(launch.step);
    if (is_cancelled(options)) return {RunError::cancelled, step};
    if (!start(launch, stream) || !mark(l + 1)) return failed(step);
    const bool ends = l + 1 == launches.count || launches.list[l + 1].step != launch.step;
    if (ends && options.observe != nullptr && !observe(program, launch.step, from, to, options))
      return failed(step);
  }
  if (!get_outputs(to)) return failed();
  const RunStatus status = read_faults(program);
  for (uint32_t l = 0; status.error == RunError::none && options.step_us != nullptr && l < launches.count;
       ++l) {
    float milliseconds = 0;
    if (!did(driver.elapsed_ms(&milliseconds, events[l], events[l + 1]))) return failed();
    options.step_us[launches.list[l].step] += 1e3 * static_cast<double>(milliseconds);
  }
  return status;
}

// Of what observers and durations need.
bool Engine::make_room(uint32_t shape_plan, const RunOptions& options) {
  if (options.observe != nullptr && seen_arena == nullptr) {
    uint64_t most = 0;
    for (uint32_t v = 0; v < model->shape_plan_count; ++v)
      if (model->shape_plans[v].program.arena_bytes > most) most = model->shape_plans[v].program.arena_bytes;
    seen_arena = zeros<unsigned char>(most);
    if (seen_arena == nullptr) return false;
  }
  const uint32_t wanted = options.step_us != nullptr ? plans[shape_plan].count + 1 : 0;
  if (wanted <= event_count) return true;
  void* more = realloc(events, wanted * sizeof(void*));
  if (more == nullptr) return false;
  events = static_cast<void**>(more);
  for (; event_count < wanted; ++event_count)
    if (!did(driver.create_event(&events[event_count], 0))) return false;
  return true;
}

RunStatus Engine::run(uint32_t shape_plan, const void* const* from, void* const* to,
                      const RunOptions& options) {
  last_code = 0;
  if (!enter()) return failed();
  RunStatus status;
  if (!make_room(shape_plan, options))
    status = failed();
  else if (!options.on_device)
    status = run_here(shape_plan, from, to, options);
  else if (!put_into_stream(shape_plan, from, to, options.stream))
    status = failed();
  // What was begun may still read and write the caller's memory.
  const auto settle = [&] { driver.wait(options.on_device ? options.stream : stream); };
  if (status.error != RunError::none) settle();
  const RunStatus ended = left(status);
  if (status.error == RunError::none && ended.error != RunError::none) settle();
  return ended;
}

korch_status create_engine(const Model* model, const korch_model_info* info, const korch_options& options,
                           Engine** engine) {
  // Threads of the CPU have nothing to do.
  if (options.parallel != nullptr || options.pool != nullptr || options.threads < 0 || options.schedule < 0 ||
      options.schedule > 2 || options.device < 0)
    return KORCH_INVALID_ARGUMENT;
  *engine = zeros<Engine>(1);
  return *engine == nullptr ? KORCH_OUT_OF_MEMORY : (*engine)->create(model, info, options);
}

// The context of a forked process is none of this one's.
void destroy_engine(Engine* engine, bool forked) {
  if (engine == nullptr) return;
  if (!forked) engine->leave_device();
  engine->free_memory();
  free(engine);
}

int32_t threads_of(const Engine*) {
  return 1;
}

const char* why_no_engine(const Engine* engine) {
  return engine == nullptr ? "" : engine->words;
}

RunStatus wait_for_engine(Engine* engine) {
  return engine->wait();
}

RunStatus run_engine(Engine* engine, uint32_t shape_plan, const void* const* inputs, void* const* outputs,
                     const RunOptions& options) {
  return engine->run(shape_plan, inputs, outputs, options);
}

}  // namespace korch::rt
