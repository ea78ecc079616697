#include "gpu.h"

#include <dlfcn.h>

#include <cstdlib>
#include <random>

#include "korch/backend/cuda/nvrtc.h"

namespace korch {
namespace {

template <typename Function>
void look_up(void* library, const char* name, Function* function) {
  *function = library == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(library, name));
  EXPECT_NE(*function, nullptr) << name;
}

void* opened(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << ::dlerror();
  return library;
}

// In the primary context.
template <typename... Arguments>
void call_driver(void* library, const char* name, Arguments... arguments) {
  int (*function)(Arguments...) = nullptr;
  look_up(library, name, &function);
  EXPECT_EQ(function(arguments...), 0) << name;
}

}  // namespace

void Gpu::SetUp() {
  Cli::SetUp();
  if (std::string(KORCH_FAKE_CUDA).empty()) GTEST_SKIP() << "sanitizers cannot follow the emulator's fibers";
  if (!Nvrtc::get().missing().empty()) GTEST_SKIP() << Nvrtc::get().missing();
  ::setenv("KORCH_CUDA_DRIVER", KORCH_FAKE_CUDA, 1);
}

void Gpu::TearDown() {
  ::unsetenv("KORCH_CUDA_DRIVER");
  Cli::TearDown();
}

int Gpu::compile_for_gpu(const std::string& model, const std::string& more) {
  return run("compile " + path(model) + " -o " + path("m.so") +
             " --no-profile-db --target sm_90 --no-measure " + more);
}

void Gpu::write_branches(int64_t n) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 0.3F);
  const auto weights = [&](int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = normal(random);
    return values;
  };
  ModelBuilder b;
  b.input("x", {n, 4, n, n}).output("y").output("z");
  b.floats("k1", {8, 4, 3, 3}, weights(8 * 4 * 9));
  b.floats("k2", {8, 4, 1, 1}, weights(8 * 4));
  b.floats("w", {8 * n * n, 10}, weights(8 * n * n * 10));
  set_attribute(b.node("Conv", {"x", "k1"}, {"a"}), "pads", std::vector<int64_t>{1, 1, 1, 1});
  b.node("Conv", {"x", "k2"}, {"b"});
  b.node("Relu", {"a"}, {"a1"});
  b.node("Tanh", {"b"}, {"b1"});
  b.node("Add", {"a1", "b1"}, {"c"});
  b.node("Flatten", {"c"}, {"f"});
  b.node("MatMul", {"f", "w"}, {"m"});
  b.node("Softmax", {"m"}, {"y"});
  b.node("Reshape", {"x", "flat"}, {"z"});  // copied at the end
  b.ints("flat", {n, -1});
  write_model("branches.onnx", b);
}

FakeDriver::FakeDriver() : library(opened(KORCH_FAKE_CUDA)) {
  look_up(library, "fake_cuda_fail", &fail);
  look_up(library, "fake_cuda_reset", &reset);
  look_up(library, "fake_cuda_calls", &calls);
  look_up(library, "fake_cuda_call", &call);
  look_up(library, "fake_cuda_forget_calls", &forget_calls);
  look_up(library, "fake_cuda_left", &left);
}

void FakeDriver::do_again(const std::string& call) const {
  void* context = nullptr;
  if (call == "cuCtxPopCurrent_v2") call_driver(library, "cuCtxPopCurrent_v2", &context);
  if (call == "cuDevicePrimaryCtxRelease_v2") call_driver(library, "cuDevicePrimaryCtxRelease_v2", 0);
}

Network::Network(const std::string& path) : library(opened(path)) {
  look_up(library, "korch_create_with", &create);
  look_up(library, "korch_run_with", &run);
  look_up(library, "korch_wait", &wait);
  look_up(library, "korch_last_error", &last_error);
  look_up(library, "korch_describe", &describe);
  look_up(library, "korch_free", &free);
}

Network::~Network() {
  ::dlclose(library);
}

GpuMemory::GpuMemory(const std::vector<float>& values)
    : driver_(opened(KORCH_FAKE_CUDA)), count_(values.size()) {
  void* context = nullptr;
  call_driver(driver_, "cuInit", 0U);
  call_driver(driver_, "cuDevicePrimaryCtxRetain", &context, 0);
  call_driver(driver_, "cuCtxPushCurrent_v2", context);
  call_driver(driver_, "cuMemAlloc_v2", &at_, count_ * sizeof(float));
  call_driver(driver_, "cuMemcpyHtoD_v2", at_, static_cast<const void*>(values.data()),
              count_ * sizeof(float));
  call_driver(driver_, "cuCtxPopCurrent_v2", &context);
}

GpuMemory::~GpuMemory() {
  void* context = nullptr;
  call_driver(driver_, "cuDevicePrimaryCtxRetain", &context, 0);
  call_driver(driver_, "cuCtxPushCurrent_v2", context);
  call_driver(driver_, "cuMemFree_v2", at_);
  call_driver(driver_, "cuCtxPopCurrent_v2", &context);
  call_driver(driver_, "cuDevicePrimaryCtxRelease_v2", 0);
  call_driver(driver_, "cuDevicePrimaryCtxRelease_v2", 0);
  ::dlclose(driver_);
}

std::vector<float> GpuMemory::values() const {
  std::vector<float> values(count_);
  void* context = nullptr;
  call_driver(driver_, "cuDevicePrimaryCtxRetain", &context, 0);
  call_driver(driver_, "cuCtxPushCurrent_v2", context);
  call_driver(driver_, "cuMemcpyDtoH_v2", static_cast<void*>(values.data()), at_, count_ * sizeof(float));
  call_driver(driver_, "cuCtxPopCurrent_v2", &context);
  call_driver(driver_, "cuDevicePrimaryCtxRelease_v2", 0);
  return values;
}

}  // namespace korch
