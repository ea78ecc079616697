#include "gpu_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/base/error.h"
#include "korch/runtime/cuda/driver.h"

namespace korch::python {
namespace {

using rt::cuda::Driver;

const Driver& driver() {
  static const Driver loaded = [] {
    Driver driver;
    if (!rt::cuda::load_driver(&driver))
      throw Error(ErrorKind::io, "there is no NVIDIA driver (libcuda.so.1)");
    return driver;
  }();
  return loaded;
}

void require(int code, ErrorKind kind, const char* what) {
  if (code == 0) return;
  const char* name = nullptr;
  if (driver().error_name(code, &name) != 0) name = "an error without name";
  throw Error(kind, fmt::format("{}: {}", what, name));
}

}  // namespace

GpuMemory::GpuMemory(int gpu, size_t bytes) : gpu_(gpu) {
  void *context = nullptr, *left = nullptr;
  require(driver().init(0), ErrorKind::io, "the GPU's driver cannot be used");
  require(driver().retain_context(&context, gpu), ErrorKind::io, "the GPU cannot be used");
  int code = driver().push_context(context);
  if (code == 0) {
    code = driver().allocate(&address_, std::max<size_t>(bytes, 1));
    driver().pop_context(&left);
  }
  if (code != 0) driver().release_context(gpu);
  require(code, ErrorKind::resource, "the GPU has no memory for an output");
}

GpuMemory::~GpuMemory() {
  if (address_ == 0) return;
  void *context = nullptr, *left = nullptr;
  if (driver().retain_context(&context, gpu_) != 0) return;
  if (driver().push_context(context) == 0) {
    driver().free(address_);
    driver().pop_context(&left);
  }
  driver().release_context(gpu_);
  driver().release_context(gpu_);
}

}  // namespace korch::python
