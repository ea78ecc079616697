#include "korch/runtime/cuda/driver.h"

#include <dlfcn.h>
#include <stdlib.h>

namespace korch::rt::cuda {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

// The library stays loaded: unloading the driver is known to fail, and others may use it.
bool load_driver(Driver* driver) {
  const char* named = getenv("KORCH_CUDA_DRIVER");
  void* library =
      dlopen(named != nullptr && named[0] != '\0' ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  return find(library, "cuInit", &driver->init) && find(library, "cuDeviceGet", &driver->device) &&
         find(library, "cuDeviceGetName", &driver->device_name) &&
         find(library, "cuDeviceGetAttribute", &driver->attribute) &&
         find(library, "cuDevicePrimaryCtxRetain", &driver->retain_context) &&
         find(library, "cuDevicePrimaryCtxRelease_v2", &driver->release_context) &&
         find(library, "cuCtxPushCurrent_v2", &driver->push_context) &&
         find(library, "cuCtxPopCurrent_v2", &driver->pop_context) &&
         find(library, "cuModuleLoadData", &driver->load) &&
         find(library, "cuModuleUnload", &driver->unload) &&
         find(library, "cuModuleGetFunction", &driver->function) &&
         find(library, "cuMemAlloc_v2", &driver->allocate) && find(library, "cuMemFree_v2", &driver->free) &&
         find(library, "cuStreamCreate", &driver->create_stream) &&
         find(library, "cuStreamDestroy_v2", &driver->destroy_stream) &&
         find(library, "cuMemsetD32Async", &driver->fill_words) &&
         find(library, "cuMemcpyHtoDAsync_v2", &driver->to_device) &&
         find(library, "cuMemcpyDtoHAsync_v2", &driver->to_host) &&
         find(library, "cuMemcpyDtoDAsync_v2", &driver->copy) &&
         find(library, "cuLaunchKernel", &driver->launch) &&
         find(library, "cuStreamSynchronize", &driver->wait) &&
         find(library, "cuEventSynchronize", &driver->wait_for_event) &&
         find(library, "cuStreamWaitEvent", &driver->wait_in_stream) &&
         find(library, "cuGraphCreate", &driver->create_graph) &&
         find(library, "cuGraphAddKernelNode", &driver->add_kernel) &&
         find(library, "cuGraphInstantiateWithFlags", &driver->instantiate) &&
         find(library, "cuGraphLaunch", &driver->launch_graph) &&
         find(library, "cuGraphExecDestroy", &driver->destroy_executable) &&
         find(library, "cuGraphDestroy", &driver->destroy_graph) &&
         find(library, "cuEventCreate", &driver->create_event) &&
         find(library, "cuEventDestroy_v2", &driver->destroy_event) &&
         find(library, "cuEventRecord", &driver->record) &&
         find(library, "cuEventElapsedTime", &driver->elapsed_ms) &&
         find(library, "cuGetErrorName", &driver->error_name);
}

}  // namespace korch::rt::cuda
