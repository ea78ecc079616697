#include "compute.h"

#include <fmt/format.h>

#include "korch/base/error.h"

namespace korch::ort {
namespace {

struct Threads {
  const OrtApi* ort;
  const OrtKernelContext* context;
};

// ONNX Runtime's own threads, those of the session's operators; they take the tasks one after the other.
void run_on_threads(void* user, int32_t tasks, void (*task)(void* arg, int32_t index), void* arg) {
  struct Call {
    void (*task)(void* arg, int32_t index);
    void* arg;
  } call{task, arg};
  const auto* threads = static_cast<const Threads*>(user);
  OrtStatus* status = threads->ort->KernelContext_ParallelFor(
      threads->context,
      [](void* data, size_t index) {
        const auto* one = static_cast<const Call*>(data);
        one->task(one->arg, static_cast<int32_t>(index));
      },
      static_cast<size_t>(tasks), 0, &call);
  if (status != nullptr) threads->ort->ReleaseStatus(status);  // korch notices that tasks did not run
}

}  // namespace

Compute::Compute(const Api& api, Executable executable, std::vector<size_t> inputs,
                 std::vector<size_t> outputs)
    : OrtNodeComputeInfo{},
      api_(api),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      runner_(std::move(executable)) {
  ort_version_supported = kApiVersion;
  OrtNodeComputeInfo::CreateState = [](OrtNodeComputeInfo* self, OrtNodeComputeContext*, void** state) {
    *state = self;
    return static_cast<OrtStatus*>(nullptr);
  };
  OrtNodeComputeInfo::Compute = [](OrtNodeComputeInfo* self, void*, OrtKernelContext* context) {
    auto* compute = static_cast<class Compute*>(self);
    return guarded(compute->api_, [&] { compute->run(context); });
  };
  OrtNodeComputeInfo::ReleaseState = [](OrtNodeComputeInfo*, void*) {};
}

void Compute::run(OrtKernelContext* context) {
  const OrtApi& ort = *api_.ort;
  const korch_model_info& model = runner_.model();
  std::vector<const void*> inputs(model.input_count);
  std::vector<void*> outputs(model.output_count);
  for (uint32_t i = 0; i < model.input_count; ++i) {
    const OrtValue* value = nullptr;
    size_t size = 0;
    check(api_, ort.KernelContext_GetInput(context, inputs_[i], &value));
    check(api_, ort.GetTensorSizeInBytes(value, &size));
    if (size != model.inputs[i].size_bytes)  // shapes are declared by who exported the model
      throw Error(ErrorKind::invalid, fmt::format("{} has {} bytes, but its declared type has {}",
                                                  model.inputs[i].name, size, model.inputs[i].size_bytes));
    check(api_, ort.GetTensorData(value, &inputs[i]));
  }
  for (uint32_t i = 0; i < model.output_count; ++i) {
    const korch_tensor_info& info = model.outputs[i];
    OrtValue* value = nullptr;
    check(api_, ort.KernelContext_GetOutput(context, outputs_[i], info.dims, info.rank, &value));
    check(api_, ort.GetTensorMutableData(value, &outputs[i]));
  }
  Threads threads{&ort, context};
  runner_.run(inputs.data(), outputs.data(), run_on_threads, &threads);
}

}  // namespace korch::ort
