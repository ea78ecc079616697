#include "cuda_driver.h"

#include <dlfcn.h>

#include "korch/base/error.h"

namespace korch::testing {
namespace {

template <typename F>
bool find(void* library, F*& function, const char* name) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

// Values of CUdevice_attribute, and of CUfunction_attribute.
constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76;
constexpr int kLocalBytes = 3, kRegisters = 4;

}  // namespace

bool CudaDriver::open() {
  library_ = dlopen("libcuda.so.1", RTLD_NOW);
  return library_ != nullptr && find(library_, init_, "cuInit") &&
         find(library_, get_device_, "cuDeviceGet") && find(library_, get_name_, "cuDeviceGetName") &&
         find(library_, get_attribute_, "cuDeviceGetAttribute") &&
         find(library_, retain_, "cuDevicePrimaryCtxRetain") &&
         find(library_, set_current_, "cuCtxSetCurrent") && find(library_, load_, "cuModuleLoadData") &&
         find(library_, get_function_, "cuModuleGetFunction") &&
         find(library_, get_function_attribute_, "cuFuncGetAttribute") &&
         find(library_, allocate_, "cuMemAlloc_v2") && find(library_, free_, "cuMemFree_v2") &&
         find(library_, fill_, "cuMemsetD8_v2") && find(library_, to_device_, "cuMemcpyHtoD_v2") &&
         find(library_, to_host_, "cuMemcpyDtoH_v2") && find(library_, launch_, "cuLaunchKernel") &&
         find(library_, create_event_, "cuEventCreate") && find(library_, record_, "cuEventRecord") &&
         find(library_, wait_, "cuEventSynchronize") && find(library_, elapsed_, "cuEventElapsedTime") &&
         find(library_, error_name_, "cuGetErrorName");
}

CudaDriver::CudaDriver() {
  if (!open()) {
    why_not_ = "there is no NVIDIA driver (libcuda.so.1)";
    return;
  }
  int device = 0;
  if (init_(0) != 0 || get_device_(&device, 0) != 0) {
    why_not_ = "the NVIDIA driver finds no GPU";
    return;
  }
  char name[256] = {};
  int major = 0, minor = 0;
  check(get_name_(name, sizeof name, device), "cuDeviceGetName");
  check(get_attribute_(&major, kCapabilityMajor, device), "cuDeviceGetAttribute");
  check(get_attribute_(&minor, kCapabilityMinor, device), "cuDeviceGetAttribute");
  device_ = name;
  if (major != 8 && major != 9) {
    why_not_ = device_ + " has compute capability " + std::to_string(major) + "." + std::to_string(minor) +
               ", the kernels are for 8.x and 9.x";
    return;
  }
  architecture_ = major == 8 ? "sm_80" : "sm_90";
  void* context = nullptr;
  check(retain_(&context, device), "cuDevicePrimaryCtxRetain");
  check(set_current_(context), "cuCtxSetCurrent");
  check(create_event_(&start_, 0), "cuEventCreate");
  check(create_event_(&stop_, 0), "cuEventCreate");
}

void CudaDriver::check(int status, const char* call) const {
  if (status == 0) return;
  const char* text = nullptr;
  error_name_(status, &text);
  throw Error(ErrorKind::internal, std::string(call) + ": " + (text != nullptr ? text : "unknown error"));
}

CudaDriver::Module CudaDriver::load(const std::string& cubin) const {
  Module module = nullptr;
  check(load_(&module, cubin.data()), "cuModuleLoadData");
  return module;
}

CudaDriver::Function CudaDriver::function(Module module, const std::string& symbol) const {
  Function function = nullptr;
  check(get_function_(&function, module, symbol.c_str()), "cuModuleGetFunction");
  return function;
}

int CudaDriver::registers(Function function) const {
  int value = 0;
  check(get_function_attribute_(&value, kRegisters, function), "cuFuncGetAttribute");
  return value;
}

int CudaDriver::local_bytes(Function function) const {
  int value = 0;
  check(get_function_attribute_(&value, kLocalBytes, function), "cuFuncGetAttribute");
  return value;
}

CudaDriver::Pointer CudaDriver::allocate(size_t bytes) {
  Pointer pointer = 0;
  check(allocate_(&pointer, bytes), "cuMemAlloc");
  return pointer;
}

// What a kernel did wrong is told by the call that waited for it.
void CudaDriver::free(Pointer pointer) {
  free_(pointer);
}

void CudaDriver::fill(Pointer pointer, unsigned char byte, size_t bytes) {
  check(fill_(pointer, byte, bytes), "cuMemsetD8");
}

void CudaDriver::to_device(Pointer pointer, const void* from, size_t bytes) {
  check(to_device_(pointer, from, bytes), "cuMemcpyHtoD");
}

void CudaDriver::to_host(void* to, Pointer pointer, size_t bytes) {
  check(to_host_(to, pointer, bytes), "cuMemcpyDtoH");
}

double CudaDriver::run(Function function, int64_t blocks, int64_t threads, std::vector<Pointer> arguments) {
  std::vector<void*> places;
  for (Pointer& argument : arguments) places.push_back(&argument);
  check(record_(start_, nullptr), "cuEventRecord");
  check(launch_(function, static_cast<unsigned>(blocks), 1, 1, static_cast<unsigned>(threads), 1, 1, 0,
                nullptr, places.data(), nullptr),
        "cuLaunchKernel");
  check(record_(stop_, nullptr), "cuEventRecord");
  check(wait_(stop_), "cuEventSynchronize");
  float milliseconds = 0;
  check(elapsed_(&milliseconds, start_, stop_), "cuEventElapsedTime");
  return 1000.0 * milliseconds;
}

}  // namespace korch::testing
