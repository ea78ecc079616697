#include "korch/backend/cuda/gpu_session.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "korch/base/error.h"
#include "korch/base/interrupt.h"
#include "korch/base/stopwatch.h"

namespace korch {
namespace {

constexpr int kNotReady = 600;  // CUDA_ERROR_NOT_READY

// The library that load_driver loaded, which stays loaded.
template <typename Function>
void find_in_driver(const char* symbol, Function** function) {
  const char* named = std::getenv("KORCH_CUDA_DRIVER");
  void* library =
      dlopen(named != nullptr && named[0] != '\0' ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  *function = library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, symbol));
  if (*function == nullptr)
    throw Error(ErrorKind::resource, fmt::format("the NVIDIA driver has no {}: it is too old", symbol));
}

}  // namespace

Refusal refusal_of(const GpuFailure& failure) {
  return {failure.code == rt::cuda::kOutOfMemory ? RefusalReason::out_of_memory : RefusalReason::run_failed,
          failure.what};
}

GpuSession::GpuSession(double longest_s) : longest_s_(longest_s) {
  if (!rt::cuda::load_driver(&driver_))
    throw Error(ErrorKind::resource, "there is no NVIDIA driver (libcuda.so.1)");
  find_in_driver("cuCtxCreate_v2", &create_context_);
  find_in_driver("cuCtxDestroy_v2", &destroy_context_);
  find_in_driver("cuStreamQuery", &query_);
  try {
    int device = 0;
    check(driver_.init(0), "cuInit");
    check(driver_.device(&device, 0), "cuDeviceGet");
    check(create_context_(&context_, 0, device), "cuCtxCreate");
    check(driver_.create_stream(&stream_, 0), "cuStreamCreate");
    leave();
  } catch (const GpuFailure& failure) {
    throw Error(ErrorKind::resource, "the GPU cannot be used for measuring: " + failure.what);
  }
}

// A context takes all that is in it along.
GpuSession::~GpuSession() {
  if (context_ != nullptr && !is_stuck_) destroy_context_(context_);
}

void GpuSession::enter() {
  check(driver_.push_context(context_), "cuCtxPushCurrent");
}

void GpuSession::leave() {
  void* before = nullptr;
  driver_.pop_context(&before);
}

void GpuSession::check(int code, const char* call) const {
  if (code == 0) return;
  const char* name = nullptr;
  if (driver_.error_name(code, &name) != 0 || name == nullptr) name = "an error without name";
  throw GpuFailure{code, fmt::format("{}: {}", call, name)};
}

std::vector<void*> GpuSession::functions(const std::string& image, const std::vector<std::string>& symbols) {
  void*& module = modules_[image];
  if (module == nullptr) check(driver_.load(&module, image.c_str()), "cuModuleLoadData");
  std::vector<void*> found;
  for (const std::string& symbol : symbols)
    check(driver_.function(&found.emplace_back(), module, symbol.c_str()), "cuModuleGetFunction");
  return found;
}

void GpuSession::wait() {
  const Stopwatch stopwatch;
  for (std::chrono::microseconds pause(5);; pause = std::min(2 * pause, std::chrono::microseconds(500))) {
    const int code = query_(stream_);
    if (code != kNotReady) return check(code, "cuStreamQuery");
    if (stopwatch.seconds() > longest_s_ || interrupted()) {
      is_stuck_ = true;
      throw_if_interrupted();
      throw Error(ErrorKind::resource,
                  fmt::format("a kernel that is measured does not end on the GPU within {} s", longest_s_));
    }
    std::this_thread::sleep_for(pause);
  }
}

double GpuSession::microseconds(void* begin, void* end) const {
  float milliseconds = 0;
  check(driver_.elapsed_ms(&milliseconds, begin, end), "cuEventElapsedTime");
  return 1e3 * static_cast<double>(milliseconds);
}

rt::cuda::Address GpuMemory::at_least(uint64_t bytes) {
  if (bytes <= bytes_) return address_;
  release();
  session_.check(session_.driver().allocate(&address_, bytes), "cuMemAlloc");
  bytes_ = bytes;
  return address_;
}

void GpuMemory::release() {
  if (bytes_ > 0) session_.driver().free(address_);
  bytes_ = 0;
}

}  // namespace korch
