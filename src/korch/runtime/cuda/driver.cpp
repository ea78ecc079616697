#include "korch/runtime/cuda/driver.h"

#include <dlfcn.h>
#include <stdlib.h>

namespace korch::rt::cuda {
namespace {

// Looks functions up, and notes the first that is not there.
class Names {
 public:
  explicit Names(void* library) : library_(library) {}
  template <typename Function>
  void find(const char* name, Function** function) {
    *function = reinterpret_cast<Function*>(dlsym(library_, name));
    if (*function == nullptr && missing_ == nullptr) missing_ = name;
  }
  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

}  // namespace

// The library stays loaded: unloading the driver is known to fail, and others may use it.
bool load_driver(Driver* driver) {
  driver->missing = nullptr;
  const char* named = getenv("KORCH_CUDA_DRIVER");
  void* library =
      dlopen(named != nullptr && named[0] != '\0' ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  Names names(library);
  names.find("cuInit", &driver->init);
  names.find("cuDriverGetVersion", &driver->version);
  names.find("cuDeviceGet", &driver->device);
  names.find("cuDeviceGetName", &driver->device_name);
  names.find("cuDeviceGetAttribute", &driver->attribute);
  names.find("cuDevicePrimaryCtxRetain", &driver->retain_context);
  names.find("cuDevicePrimaryCtxRelease_v2", &driver->release_context);
  names.find("cuCtxPushCurrent_v2", &driver->push_context);
  names.find("cuCtxPopCurrent_v2", &driver->pop_context);
  names.find("cuModuleLoadData", &driver->load);
  names.find("cuModuleUnload", &driver->unload);
  names.find("cuModuleGetFunction", &driver->function);
  names.find("cuMemAlloc_v2", &driver->allocate);
  names.find("cuMemFree_v2", &driver->free);
  names.find("cuMemGetInfo_v2", &driver->memory_left);
  names.find("cuStreamCreate", &driver->create_stream);
  names.find("cuStreamDestroy_v2", &driver->destroy_stream);
  names.find("cuMemsetD32Async", &driver->fill_words);
  names.find("cuMemcpyHtoDAsync_v2", &driver->to_device);
  names.find("cuMemcpyDtoHAsync_v2", &driver->to_host);
  names.find("cuMemcpyDtoDAsync_v2", &driver->copy);
  names.find("cuLaunchKernel", &driver->launch);
  names.find("cuStreamSynchronize", &driver->wait);
  names.find("cuEventSynchronize", &driver->wait_for_event);
  names.find("cuStreamWaitEvent", &driver->wait_in_stream);
  names.find("cuGraphCreate", &driver->create_graph);
  names.find("cuGraphAddKernelNode", &driver->add_kernel);
  names.find("cuGraphInstantiateWithFlags", &driver->instantiate);
  names.find("cuGraphLaunch", &driver->launch_graph);
  names.find("cuGraphExecDestroy", &driver->destroy_executable);
  names.find("cuGraphDestroy", &driver->destroy_graph);
  names.find("cuEventCreate", &driver->create_event);
  names.find("cuEventDestroy_v2", &driver->destroy_event);
  names.find("cuEventRecord", &driver->record);
  names.find("cuEventElapsedTime", &driver->elapsed_ms);
  names.find("cuGetErrorName", &driver->error_name);
  driver->missing = names.missing();
  return driver->missing == nullptr;
}

bool is_lasting(int code) {
  constexpr int kUncorrectableEcc = 214, kIllegalAddress = 700, kLaunchTimeout = 702, kContextDestroyed = 709,
                kFirstFault = 714, kLaunchFailed = 719;  // 714 to 718: faults of an instruction
  return code == kUncorrectableEcc || code == kIllegalAddress || code == kLaunchTimeout ||
         code == kContextDestroyed || (code >= kFirstFault && code <= kLaunchFailed);
}

bool is_unknown_code(int code) {
  constexpr int kInvalidImage = 200, kNoBinaryForGpu = 209;
  return code == kInvalidImage || code == kNoBinaryForGpu;
}

}  // namespace korch::rt::cuda
