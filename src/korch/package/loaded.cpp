#include "korch/package/loaded.h"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <type_traits>

#include "korch/base/error.h"
#include "korch/base/usable_cpus.h"

namespace korch {
namespace {

std::vector<PlanIo> describe(const korch_tensor_info* tensors, uint32_t count) {
  std::vector<PlanIo> result;
  for (uint32_t i = 0; i < count; ++i) {
    PlanIo io;
    io.name = tensors[i].name;
    KORCH_ASSERT(parse_dtype(tensors[i].dtype, &io.type.dtype), "dtype of an executable's tensor");
    io.type.shape.assign(tensors[i].dims, tensors[i].dims + tensors[i].rank);
    result.push_back(std::move(io));
  }
  return result;
}

std::vector<OpenDimension> dimensions_of(const korch_model_info& model) {
  std::vector<OpenDimension> result;
  for (uint32_t d = 0; d < model.dimension_count; ++d)
    result.push_back({model.dimensions[d].name, model.dimensions[d].least, model.dimensions[d].most, {}});
  for (uint32_t a = 0; a < model.open_axis_count; ++a) {
    const korch_open_axis& open = model.open_axes[a];
    result[open.dimension].axes.push_back({static_cast<int>(open.input), static_cast<int>(open.axis)});
  }
  return result;
}

ErrorKind kind_of(korch_status status) {
  switch (status) {
    case KORCH_UNSUPPORTED_CPU:
    case KORCH_NO_GPU:
    case KORCH_UNSUPPORTED_GPU:
    case KORCH_GPU_FAILED:
    case KORCH_OLD_DRIVER:
    case KORCH_LIBRARY_REFUSED:
    case KORCH_DAMAGED:
      return ErrorKind::io;
    case KORCH_OUT_OF_MEMORY:
    case KORCH_GPU_OUT_OF_MEMORY:
      return ErrorKind::resource;
    case KORCH_LOOP_WITHOUT_END:
      return ErrorKind::resource;
    case KORCH_INDEX_OUT_OF_RANGE:
      return ErrorKind::invalid;
    case KORCH_CANCELLED:
      return ErrorKind::interrupted;
    case KORCH_OK:
    case KORCH_INVALID_ARGUMENT:
    case KORCH_LIBRARY_FAILED:
    case KORCH_INTERNAL:
    case KORCH_BUSY:
    case KORCH_FORKED:
    case KORCH_PARALLEL_FAILED:
      return ErrorKind::internal;
  }
  return ErrorKind::internal;
}

}  // namespace

LoadedCode::LoadedCode(ExecutableInfo executable) : info(std::move(executable)), library(open_library(info)) {
  const auto look_up = [&](const char* symbol, auto* function) {
    *function =
        reinterpret_cast<std::remove_pointer_t<decltype(function)>>(require_symbol(library, symbol, info));
  };
  decltype(&korch_describe) describe_model = nullptr;
  look_up("korch_create", &create);
  look_up("korch_profile", &profile);
  look_up("korch_describe", &describe_model);
  model = describe_model();
  if (model->api_version >= 5) {
    look_up("korch_run_with", &run_with);
    look_up("korch_create_with", &create_with);
    dimensions = dimensions_of(*model);
  }
  if (model->api_version >= 6) look_up("korch_threads", &threads);
  if (model->api_version >= 7) look_up("korch_wait", &wait);
  if (model->api_version >= 8) {
    look_up("korch_state_create", &state_create);
    look_up("korch_state_reset", &state_reset);
    look_up("korch_state_copy", &state_copy);
    look_up("korch_state_rewind", &state_rewind);
    look_up("korch_state_length", &state_length);
    look_up("korch_state_free", &state_free);
    for (uint32_t s = 0; s < model->state_count; ++s)
      states.push_back({static_cast<int>(model->states[s].input), static_cast<int>(model->states[s].output),
                        model->states[s].axis});
  }
  look_up("korch_output_dims", &output_dims);
  look_up("korch_last_error", &last_error);
  look_up("korch_status_text", &status_text);
  look_up("korch_free", &free);
  inputs = describe(model->inputs, model->input_count);
  outputs = describe(model->outputs, model->output_count);
}

LoadedExecutable::LoadedExecutable(const std::string& path, int threads, std::optional<PlanSchedule> schedule)
    : LoadedExecutable(read_executable(path), threads, schedule) {}

LoadedExecutable::LoadedExecutable(ExecutableInfo info, int threads, std::optional<PlanSchedule> schedule)
    : LoadedExecutable(std::make_shared<const LoadedCode>(std::move(info)), threads, schedule) {}

LoadedExecutable::LoadedExecutable(std::shared_ptr<const LoadedCode> code, int threads,
                                   std::optional<PlanSchedule> schedule)
    : code_(std::move(code)) {
  if (threads < 0 || threads > kMostWorkers)
    throw Error(ErrorKind::usage,
                fmt::format("an executable runs with 1 to {} workers (0: as it was compiled), "
                            "not with {}",
                            kMostWorkers, threads));
  if (code_->is_for_gpu() && threads != 0)
    throw Error(ErrorKind::usage,
                fmt::format("'{}' runs on a GPU: numbers of threads are for CPUs", code_->info.path));
  const uint32_t version = code_->model->api_version;
  constexpr uint32_t kFirstWithSchedules = 5, kFirstWithMessages = 7;
  char message[512] = "";
  korch_options options{};
  options.struct_size = sizeof options;
  options.threads = threads;
  if (schedule) options.schedule = static_cast<int32_t>(*schedule);
  if (version >= kFirstWithMessages) {
    options.message = message;
    options.message_bytes = sizeof message;
  }
  korch_status status = KORCH_INVALID_ARGUMENT;
  if (version >= kFirstWithSchedules)
    status = code_->create_with(&options, &instance_);
  else if (!schedule)
    status = code_->create(threads, &instance_);
  if (schedule && status == KORCH_INVALID_ARGUMENT)
    throw Error(ErrorKind::usage,
                fmt::format("'{}' was compiled before schedules could be chosen", code_->info.path));
  if (status != KORCH_OK)
    throw Error(kind_of(status), fmt::format("cannot prepare '{}': {}", code_->info.path,
                                             message[0] != '\0' ? message : code_->status_text(status)));
}

LoadedExecutable::~LoadedExecutable() {
  code_->free(instance_);
}

std::vector<HostTensor> LoadedExecutable::allocate_outputs() const {
  std::vector<HostTensor> outputs;
  for (const PlanIo& io : code_->outputs) outputs.emplace_back(io.type);
  return outputs;
}

std::vector<HostTensor> LoadedExecutable::run(const std::vector<HostTensor>& inputs) {
  std::vector<HostTensor> outputs = allocate_outputs();
  run_into(inputs, outputs);
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Shape shape = output_shape(o);
    if (shape == outputs[o].shape()) continue;
    HostTensor dense(TensorType{outputs[o].dtype(), shape});
    std::memcpy(dense.mutable_raw(), outputs[o].raw(), static_cast<size_t>(dense.bytes()));
    outputs[o] = std::move(dense);
  }
  return outputs;
}

Shape LoadedExecutable::output_shape(size_t output) const {
  Shape shape(code_->outputs[output].type.shape.size());
  const korch_status status = code_->output_dims(instance_, static_cast<uint32_t>(output), shape.data());
  KORCH_ASSERT(status == KORCH_OK, "an output's extents before a run");
  return shape;
}

void LoadedExecutable::run_into(const std::vector<HostTensor>& inputs, std::vector<HostTensor>& outputs) {
  run_checked(inputs, outputs, {});
}

std::vector<double> LoadedExecutable::profile(const std::vector<HostTensor>& inputs,
                                              std::vector<HostTensor>& outputs) {
  std::vector<double> step_us(model().step_count);
  korch_run_options options{};
  options.step_us = step_us.data();
  run_checked(inputs, outputs, options);
  return step_us;
}

int LoadedExecutable::threads() const {
  return code_->threads != nullptr ? code_->threads(instance_) : static_cast<int>(model().threads);
}

std::vector<korch_slices> LoadedExecutable::run_by_slices(const std::vector<HostTensor>& inputs,
                                                          std::vector<HostTensor>& outputs) {
  if (code_->threads == nullptr)
    throw Error(ErrorKind::usage,
                fmt::format("'{}' was compiled before workers could be looked at", info().path));
  if (code_->is_for_gpu())
    throw Error(ErrorKind::usage,
                fmt::format("'{}' runs on a GPU, which does not tell what runs where", info().path));
  std::vector<std::vector<korch_slices>> of_worker(static_cast<size_t>(threads()));
  korch_run_options options{};
  options.observe_slices = [](void* user, const korch_slices* slices) {
    (*static_cast<decltype(of_worker)*>(user))[static_cast<size_t>(slices->worker)].push_back(*slices);
  };
  options.slices_user = &of_worker;
  run_checked(inputs, outputs, options);
  std::vector<korch_slices> all;
  for (const std::vector<korch_slices>& some : of_worker) all.insert(all.end(), some.begin(), some.end());
  return all;
}

void LoadedExecutable::run_observed(const std::vector<HostTensor>& inputs, std::vector<HostTensor>& outputs,
                                    const Observer& observe) {
  struct Watch {
    const Observer& observe;
    std::exception_ptr thrown;
  } watch{observe, nullptr};
  korch_run_options options{};
  options.observe = [](void* user, uint32_t step, void* const* args) {
    Watch* watch = static_cast<Watch*>(user);
    if (watch->thrown) return;
    try {  // the runtime in between knows no exceptions
      watch->observe(static_cast<int>(step), args);
    } catch (...) {
      watch->thrown = std::current_exception();
    }
  };
  options.user = &watch;
  run_checked(inputs, outputs, options);
  if (watch.thrown) std::rethrow_exception(watch.thrown);
}

Shape LoadedExecutable::shape_within(int input, const Shape& given) const {
  Shape shape = code_->inputs[static_cast<size_t>(input)].type.shape;
  if (given.size() != shape.size()) return shape;
  for (const OpenDimension& dimension : code_->dimensions)
    for (const auto& [open, axis] : dimension.axes)
      if (open == input) shape[static_cast<size_t>(axis)] = given[static_cast<size_t>(axis)];
  return shape;
}

void LoadedExecutable::check(const std::vector<HostTensor>& inputs,
                             const std::vector<HostTensor>& outputs) const {
  const std::vector<PlanIo>&wanted = code_->inputs, &made = code_->outputs;
  if (inputs.size() != wanted.size())
    throw Error(ErrorKind::invalid,
                fmt::format("'{}' has {} inputs, {} are given", info().path, wanted.size(), inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!as_type(inputs[i], {wanted[i].type.dtype, shape_within(static_cast<int>(i), inputs[i].shape())}))
      throw Error(ErrorKind::invalid, fmt::format("input '{}' is {}, {} is given", wanted[i].name,
                                                  to_string(wanted[i].type), to_string(inputs[i].type())));
  KORCH_ASSERT(outputs.size() == made.size(), "number of outputs");
  for (size_t o = 0; o < outputs.size(); ++o)
    KORCH_ASSERT(outputs[o].type() == made[o].type, "type of output '" + made[o].name + "'");
}

void LoadedExecutable::run_checked(const std::vector<HostTensor>& inputs, std::vector<HostTensor>& outputs,
                                   const korch_run_options& options) {
  check(inputs, outputs);
  std::vector<const void*> input_bytes;
  std::vector<void*> output_bytes;
  for (const HostTensor& input : inputs) input_bytes.push_back(input.raw());
  for (HostTensor& output : outputs) output_bytes.push_back(output.mutable_raw());
  std::vector<const int64_t*> dims;
  for (const HostTensor& input : inputs) dims.push_back(input.shape().data());
  korch_run_options with_dims = options;
  if (!code_->dimensions.empty()) with_dims.input_dims = dims.data();
  run_raw(input_bytes.data(), output_bytes.data(), with_dims);
}

void LoadedExecutable::run_on(const void* const* inputs, void* const* outputs, double* step_us,
                              const int64_t* const* input_dims, korch_state* state) {
  korch_run_options options{};
  options.step_us = step_us;
  options.state = state;
  options.input_dims = input_dims;
  run_raw(inputs, outputs, options);
}

void LoadedExecutable::run_raw(const void* const* inputs, void* const* outputs, korch_run_options options) {
  options.struct_size = sizeof options;
  const korch_status status =
      code_->run_with != nullptr
          ? code_->run_with(instance_, inputs, outputs, &options)
          : code_->profile(instance_, inputs, outputs, options.step_us, options.observe, options.user);
  if (status != KORCH_OK) fail(status);
}

void LoadedExecutable::run_on_gpu(const void* const* inputs, void* const* outputs) {
  korch_run_options options{};
  options.struct_size = sizeof options;
  options.on_device = 1;
  const korch_status begun = code_->run_with(instance_, inputs, outputs, &options);
  if (begun == KORCH_INVALID_ARGUMENT)
    throw Error(
        ErrorKind::unsupported,
        fmt::format("extents of '{}' are open: it takes arrays in the CPU's memory alone", info().path));
  if (begun != KORCH_OK) fail(begun);
  if (const korch_status ended = code_->wait(instance_); ended != KORCH_OK) fail(ended);
}

void LoadedExecutable::fail(korch_status status) const {
  const std::string detail = code_->last_error(instance_);
  const bool wrong_dims = status == KORCH_INVALID_ARGUMENT && !detail.empty(),
             state_is_taken = status == KORCH_BUSY && !detail.empty();
  throw Error(wrong_dims       ? ErrorKind::invalid
              : state_is_taken ? ErrorKind::usage
                               : kind_of(status),
              fmt::format("running '{}' failed: {}", info().path,
                          detail.empty() ? code_->status_text(status) : detail));
}

}  // namespace korch
