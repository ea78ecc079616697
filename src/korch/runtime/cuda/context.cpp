#include "korch/runtime/cuda/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

namespace korch::rt::cuda {
namespace {

constexpr char kEmulated[] = "emulated";  // begins the name of a device that is no GPU

}  // namespace

bool Context::did(int code) {
  if (code == 0) return true;
  last_code = code;
  if (driver.error_name(code, &failure) != 0) failure = "an error without name";
  return false;
}

korch_status Context::refuse(korch_status status, const char* format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(words, sizeof words, format, values);
  va_end(values);
  return status;
}

korch_status Context::refuse_failure() {
  if (last_code == 0) return KORCH_OUT_OF_MEMORY;
  return refuse(last_code == kOutOfMemory ? KORCH_GPU_OUT_OF_MEMORY : KORCH_GPU_FAILED, "%s%s", failure,
                is_lasting(last_code) ? "; this process cannot use the GPU any more" : "");
}

korch_status Context::refuse_memory(uint64_t wanted) {
  constexpr double kMb = 1e6;
  uint64_t left = 0, total = 0;
  if (!did(driver.memory_left(&left, &total))) return KORCH_GPU_OUT_OF_MEMORY;
  return refuse(KORCH_GPU_OUT_OF_MEMORY, "%.1f MB are needed, %.1f MB of %.1f MB are free",
                static_cast<double>(wanted) / kMb, static_cast<double>(left) / kMb,
                static_cast<double>(total) / kMb);
}

RunStatus Context::failed(int32_t step) {
  if (last_code == 0) return {RunError::out_of_memory, step};
  refuse_failure();
  return {RunError::gpu_failed, step, words};
}

korch_status Context::check(const Model& model, int ordinal) {
  char name[256] = "";
  int version = 0, major = 0, minor = 0;
  if (!load_driver(&driver))
    return driver.missing == nullptr ? KORCH_NO_GPU : refuse(KORCH_OLD_DRIVER, "it lacks %s", driver.missing);
  if (!did(driver.init(0))) return refuse(KORCH_NO_GPU, "%s", failure);
  if (!did(driver.version(&version))) return refuse_failure();
  if (version < kLeastVersion)
    return refuse(KORCH_OLD_DRIVER, "it is for CUDA %d.%d, %d.%d is needed", version / 1000,
                  version % 1000 / 10, kLeastVersion / 1000, kLeastVersion % 1000 / 10);
  if (!did(driver.device(&device, ordinal)))
    return refuse(KORCH_NO_GPU, "none has the number %d: %s", ordinal, failure);
  if (!did(driver.device_name(name, sizeof name - 1, device)) ||
      !did(driver.attribute(&major, kMajor, device)) || !did(driver.attribute(&minor, kMinor, device)))
    return refuse_failure();
  emulated = strncmp(name, kEmulated, sizeof kEmulated - 1) == 0;
  // Machine code runs on later minor versions of its major one.
  const int wanted = static_cast<int>(model.compute_capability);
  if (!emulated && (major != wanted / 10 || minor < wanted % 10))
    return refuse(KORCH_UNSUPPORTED_GPU, "compute capability %d.%d, and '%s' has %d.%d", wanted / 10,
                  wanted % 10, name, major, minor);
  for (uint32_t i = 0; emulated && i < model.image_count; ++i)
    if (model.images[i].code_bytes > 0 && model.images[i].emulated_bytes == 0)
      return refuse(KORCH_UNSUPPORTED_GPU, "an emulated one needs what korch compile --emulation adds");
  return KORCH_OK;
}

korch_status Context::open(const Model& model, int ordinal) {
  const korch_status checked = check(model, ordinal);
  if (checked != KORCH_OK) return checked;
  return did(driver.retain_context(&context, device)) ? KORCH_OK : refuse_failure();
}

bool Context::leave() {
  void* before = nullptr;
  return did(driver.pop_context(&before));
}

void Context::release() {
  if (context != nullptr) driver.release_context(device);
  context = nullptr;
}

}  // namespace korch::rt::cuda
