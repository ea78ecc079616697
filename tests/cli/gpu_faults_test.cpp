// Each call of the GPU's driver failing once, and drivers and GPUs that an executable cannot use: one
// message, the right code, nothing left, and what comes next is right.
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "gpu.h"

namespace korch {
namespace {

constexpr int kUnknown = 999, kNoMemory = 2, kIllegalAddress = 700;  // of CUresult
constexpr const char* kKinds[] = {"memory", "modules",  "streams", "graphs", "executables",
                                  "events", "contexts", "current", "damaged"};

// A call that ends a thing and fails leaves that thing, and what was current.
std::string left_by(const std::string& call) {
  return call == "cuMemFree_v2"                   ? "memory"
         : call == "cuModuleUnload"               ? "modules"
         : call == "cuStreamDestroy_v2"           ? "streams"
         : call == "cuGraphDestroy"               ? "graphs"
         : call == "cuGraphExecDestroy"           ? "executables"
         : call == "cuEventDestroy_v2"            ? "events"
         : call == "cuCtxPopCurrent_v2"           ? "current"
         : call == "cuDevicePrimaryCtxRelease_v2" ? "contexts"
                                                  : "";
}

korch_status expected_of_create(const std::string& call, int code) {
  if (call == "cuInit" || call == "cuDeviceGet") return KORCH_NO_GPU;
  return code == kNoMemory ? KORCH_GPU_OUT_OF_MEMORY : KORCH_GPU_FAILED;
}

class GpuFaults : public Gpu {
 protected:
  // How a network is run.
  struct Way {
    int32_t schedule = 0;
    bool on_device = false, timed = false, observed = false;
  };

  struct Buffers {
    GpuMemory x, y, z;
  };

  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    driver_.emplace();
    driver_->reset();
    write_branches(2);
    ASSERT_EQ(compile_for_gpu("branches.onnx", "--emulation --strategy greedy"), 0) << err_;
    for (size_t i = 0; i < x_.size(); ++i) x_[i] = static_cast<float>(i % 13) / 13;
  }

  korch_status create(const Network& network, const Way& way, korch_instance** instance) {
    korch_options options = {};
    options.struct_size = sizeof options;
    options.schedule = way.schedule;
    options.message = message_;
    options.message_bytes = sizeof message_;
    message_[0] = '\0';
    return network.create(&options, instance);
  }

  void expect_outputs(const Way& way, const Network& network, korch_instance* instance, const Buffers& gpu) {
    ASSERT_EQ(run_once(network, way, instance, gpu), KORCH_OK) << network.last_error(instance);
    if (way.on_device) y_ = gpu.y.values();
    if (way.on_device) z_ = gpu.z.values();
    EXPECT_EQ(y_, right_);
    EXPECT_EQ(z_, x_);
  }

  korch_status run_once(const Network& network, const Way& way, korch_instance* instance,
                        const Buffers& gpu) {
    korch_run_options options = {};
    options.struct_size = sizeof options;
    options.on_device = way.on_device ? 1 : 0;
    std::vector<double> step_us(network.describe()->step_count);
    if (way.timed) options.step_us = step_us.data();
    if (way.observed) options.observe = [](void*, uint32_t, void* const*) {};
    y_.assign(y_.size(), NAN);
    z_.assign(z_.size(), NAN);
    const void* inputs[] = {way.on_device ? gpu.x.address() : x_.data()};
    void* outputs[] = {way.on_device ? gpu.y.address() : y_.data(),
                       way.on_device ? gpu.z.address() : z_.data()};
    korch_status status = network.run(instance, inputs, outputs, &options);
    if (status == KORCH_OK && way.on_device) status = network.wait(instance);
    said_ = network.last_error(instance);
    if (!way.on_device) return status;
    // It may have failed before it waited, and then it can be asked again.
    return status == KORCH_OK || network.wait(instance) == KORCH_OK ? status : KORCH_INTERNAL;
  }

  korch_status run_here(const Network& network, korch_instance* instance) {
    korch_run_options options = {};
    options.struct_size = sizeof options;
    const void* inputs[] = {x_.data()};
    void* outputs[] = {y_.data(), z_.data()};
    return network.run(instance, inputs, outputs, &options);
  }

  // Creates, runs and frees, the n-th call of the driver failing; false: there are fewer calls. What fails
  // says so, and what comes next is right.
  bool attempt(const Network& network, const Way& way, const Buffers& gpu, long n, int code) {
    std::map<std::string, long> before;
    for (const char* kind : kKinds) before[kind] = driver_->left(kind);
    driver_->forget_calls();
    driver_->fail(nullptr, n, code, 0);
    const auto failed = [&] { return driver_->calls() >= n; };
    const auto name = [&] { return std::string(failed() ? driver_->call(n - 1) : "none"); };
    korch_instance* instance = nullptr;
    const korch_status created = create(network, way, &instance);
    EXPECT_EQ(created, failed() ? expected_of_create(name(), code) : KORCH_OK) << name() << ": " << message_;
    EXPECT_EQ(std::string(message_).empty(), !failed()) << name();
    EXPECT_EQ(instance == nullptr, failed()) << name();
    if (instance == nullptr && create(network, way, &instance) != KORCH_OK) {
      ADD_FAILURE() << "after " << name() << ": " << message_;
      return false;
    }
    const bool before_run = failed();
    const korch_status ran = run_once(network, way, instance, gpu);
    const bool in_run = failed() && !before_run;
    EXPECT_EQ(ran, in_run ? KORCH_GPU_FAILED : KORCH_OK) << name() << ": " << said_;
    EXPECT_EQ(said_.find("CUDA_ERROR_") != std::string::npos, in_run) << name();
    EXPECT_EQ(driver_->left("work"), 0) << name() << ": the caller's memory may be used after the run";
    if (in_run) expect_outputs(way, network, instance, gpu);
    network.free(instance);
    driver_->fail(nullptr, 0, 0, 0);
    for (const char* kind : kKinds)
      EXPECT_EQ(driver_->left(kind) - before[kind], left_by(name()) == kind ? 1 : 0)
          << name() << ": " << kind;
    driver_->do_again(name());
    return failed();
  }

  std::optional<FakeDriver> driver_;
  std::string said_;
  std::vector<float> right_;
  std::vector<float> x_ = std::vector<float>(2 * 4 * 2 * 2);
  std::vector<float> y_ = std::vector<float>(2 * 10), z_ = std::vector<float>(2 * 4 * 2 * 2);
  char message_[512] = "";
};

TEST_F(GpuFaults, EachCallOnce) {
  const Network network(path("m.so"));
  const Buffers gpu{GpuMemory(x_), GpuMemory(y_), GpuMemory(z_)};
  const Way ways[] = {{}, {1}, {0, true}, {1, true}, {0, false, true}, {0, false, false, true}};
  for (const Way& way : ways) {
    korch_instance* instance = nullptr;
    ASSERT_EQ(create(network, way, &instance), KORCH_OK) << message_;
    ASSERT_EQ(run_once(network, way, instance, gpu), KORCH_OK) << network.last_error(instance);
    if (right_.empty()) right_ = y_;
    expect_outputs(way, network, instance, gpu);
    network.free(instance);
    for (const int code : {kUnknown, kNoMemory}) {
      long n = 1;
      while (attempt(network, way, gpu, n, code) && !HasFailure()) ++n;
      EXPECT_GT(n, 40);
    }
  }
}

// As after a kernel's fault: nothing works any more, but everything is given back.
TEST_F(GpuFaults, ThatLast) {
  const Network network(path("m.so"));
  korch_instance *instance = nullptr, *next = nullptr;
  ASSERT_EQ(create(network, {}, &instance), KORCH_OK) << message_;
  ASSERT_EQ(run_here(network, instance), KORCH_OK);
  for (const char* entry : {"cuStreamSynchronize", "cuGraphLaunch", "cuMemcpyDtoHAsync_v2"}) {
    driver_->fail(entry, 1, kIllegalAddress, 1);
    for (int run = 0; run < 2; ++run) {
      EXPECT_EQ(run_here(network, instance), KORCH_GPU_FAILED);
      const std::string words = network.last_error(instance);
      EXPECT_NE(words.find("CUDA_ERROR_ILLEGAL_ADDRESS; this process cannot use the GPU any more"),
                std::string::npos)
          << words;
    }
    EXPECT_EQ(create(network, {}, &next), KORCH_GPU_FAILED) << message_;
    network.free(instance);
    EXPECT_EQ(driver_->left("contexts"), 0);
    EXPECT_EQ(driver_->left("current"), 0);
    driver_->reset();
    ASSERT_EQ(create(network, {}, &instance), KORCH_OK) << message_;
    EXPECT_EQ(run_here(network, instance), KORCH_OK) << network.last_error(instance);
  }
  network.free(instance);
}

TEST_F(GpuFaults, InAStream) {
  const Network network(path("m.so"));
  const Buffers gpu{GpuMemory(x_), GpuMemory(y_), GpuMemory(z_)};
  korch_instance* instance = nullptr;
  korch_options second = {};
  second.struct_size = sizeof second;
  second.device = 1;
  EXPECT_EQ(network.create(&second, &instance), KORCH_NO_GPU);
  ASSERT_EQ(create(network, {}, &instance), KORCH_OK) << message_;
  ASSERT_EQ(run_once(network, {}, instance, gpu), KORCH_OK);
  right_ = y_;
  expect_outputs({0, true}, network, instance, gpu);
  const int32_t never = 0;
  korch_run_options options = {};
  options.struct_size = sizeof options;
  options.on_device = 1;
  options.cancel = &never;
  const void* inputs[] = {gpu.x.address()};
  void* outputs[] = {gpu.y.address(), gpu.z.address()};
  EXPECT_EQ(network.run(instance, inputs, outputs, &options), KORCH_INVALID_ARGUMENT);
  // The GPU's own bounds: memory of this process is none of its.
  void* of_this_process[] = {y_.data(), z_.data()};
  options.cancel = nullptr;
  EXPECT_EQ(network.run(instance, inputs, of_this_process, &options), KORCH_GPU_FAILED);
  EXPECT_NE(std::string(network.last_error(instance)).find("CUDA_ERROR_INVALID_VALUE"), std::string::npos);
  expect_outputs({0, true}, network, instance, gpu);
  network.free(instance);
}

TEST_F(GpuFaults, CancelledBeforeItBegins) {
  const Network network(path("m.so"));
  korch_instance* instance = nullptr;
  ASSERT_EQ(create(network, {}, &instance), KORCH_OK) << message_;
  const int32_t now = 1;
  korch_run_options options = {};
  options.struct_size = sizeof options;
  options.cancel = &now;
  const void* inputs[] = {x_.data()};
  void* outputs[] = {y_.data(), z_.data()};
  EXPECT_EQ(network.run(instance, inputs, outputs, &options), KORCH_CANCELLED);
  EXPECT_EQ(run_here(network, instance), KORCH_OK);
  network.free(instance);
}

// One line, and the exit code, of the program; each entry point failing when it is first called.
TEST_F(GpuFaults, OfTheProgram) {
  const std::string log = path("calls.log");
  ASSERT_EQ(run("run " + path("m.so"), "export KORCH_FAKE_CUDA_LOG=" + log), 0) << err_;
  EXPECT_EQ(read_file(log).find("left"), std::string::npos) << read_file(log);
  const std::string fail = "export KORCH_FAKE_CUDA_FAIL=";
  for (const char* entry : {"cuDriverGetVersion", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
                            "cuCtxPushCurrent_v2", "cuModuleLoadData", "cuGraphAddKernelNode",
                            "cuGraphLaunch", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"})
    expect_refused("run " + path("m.so"), 7, {"CUDA_ERROR_UNKNOWN", "m.so"}, fail + entry + ":1:999");
  expect_refused("run " + path("m.so"), 7, {"there is no NVIDIA GPU", "CUDA_ERROR_UNKNOWN"},
                 fail + "cuInit:1:999");
  expect_refused("run " + path("m.so"), 7,
                 {"CUDA_ERROR_LAUNCH_FAILED; this process cannot use the GPU any more"},
                 fail + "cuStreamSynchronize:2:719:lasting");
  for (const char* entry : {"cuMemFree_v2", "cuModuleUnload", "cuDevicePrimaryCtxRelease_v2"})
    EXPECT_EQ(run("run " + path("m.so"), fail + entry + ":1:999"), 0) << err_;
}

TEST_F(GpuFaults, OfOtherMachines) {
  const std::string run_it = "run " + path("m.so");
  expect_refused(run_it, 6, {"the GPU has not enough memory", "MB are needed"},
                 "export KORCH_FAKE_CUDA_MEMORY=4096");
  expect_refused(run_it, 7, {"driver is too old", "for CUDA 11.4, 12.0 is needed"},
                 "export KORCH_FAKE_CUDA_VERSION=11040");
  expect_refused(run_it, 7, {"driver is too old", "lacks cuDriverGetVersion"},
                 std::string("export KORCH_CUDA_DRIVER=") + KORCH_OLD_CUDA);
  expect_refused(run_it, 7, {"another kind of GPU", "compute capability 9.0", "has 8.0"},
                 "export KORCH_FAKE_CUDA_CAPABILITY=80");
  expect_refused(run_it, 7, {"driver is too old", "machine code", "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                 "export KORCH_FAKE_CUDA_CAPABILITY=90");
  expect_refused(run_it, 7, {"no NVIDIA GPU", "libcuda.so.1"}, "export KORCH_CUDA_DRIVER=" + path("none.so"));
}

}  // namespace
}  // namespace korch
