// NVIDIA's driver library as the emulator plays it: the calls that bench/gpu makes, on one device of compute
// capability 0.0. An image is CUDA text. Streams run at once; a stream that is captured keeps its launches
// for the graph.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../emulator.h"
#include "korch/base/error.h"

namespace korch::testing {
namespace {

constexpr int kInvalidValue = 1, kNotFound = 500, kLaunchFailed = 719;

struct Module {
  std::string text;
};
struct Recorded {
  Gpu::Function function;
  int64_t blocks, threads;
  std::vector<Gpu::Pointer> arguments;
};
using Graph = std::vector<Recorded>;

struct Driver {
  Emulator emulator;
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Graph>> graphs;
  Graph* captured = nullptr;
  bool failed = false;  // as after a fault: nothing works any more
};

Driver& driver() {
  static Driver* the = new Driver;  // outlives the program's other threads
  return *the;
}

int run(const Recorded& launch) {
  if (driver().failed) return kLaunchFailed;
  try {
    driver().emulator.run(launch.function, launch.blocks, launch.threads, launch.arguments);
    return 0;
  } catch (const Error&) {
    driver().failed = true;
    return kLaunchFailed;
  }
}

}  // namespace
}  // namespace korch::testing

using namespace korch::testing;

extern "C" {

int cuInit(unsigned) {
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 0;
  return 0;
}
int cuDeviceGet(int* device, int) {
  *device = 0;
  return 0;
}
int cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, "emulator", static_cast<size_t>(length));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kMultiprocessors = 16, kL2Bytes = 38;
  *value = attribute == kMultiprocessors ? 2 : attribute == kL2Bytes ? 4096 : 0;
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = size_t{1} << 30;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &driver();
  return 0;
}
int cuCtxSetCurrent(void*) {
  return 0;
}
int cuCtxSynchronize() {
  return driver().failed ? kLaunchFailed : 0;
}
int cuModuleLoadData(void** module, const void* image) {
  driver().modules.push_back(std::make_unique<Module>(Module{static_cast<const char*>(image)}));
  *module = driver().modules.back().get();
  return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* symbol) {
  const auto loaded = driver().emulator.load(static_cast<Module*>(module)->text, symbol);
  if (!loaded.ok()) return kNotFound;
  *function = loaded.value();
  return 0;
}
int cuFuncGetAttribute(int* value, int, void*) {
  *value = 0;
  return 0;
}
int cuMemAlloc_v2(uint64_t* pointer, size_t bytes) {
  *pointer = driver().emulator.allocate(bytes);
  return 0;
}
int cuMemFree_v2(uint64_t pointer) {
  driver().emulator.free(pointer);
  return 0;
}
int cuMemsetD8_v2(uint64_t pointer, unsigned char byte, size_t bytes) {
  driver().emulator.fill(pointer, byte, bytes);
  return 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  driver().emulator.to_device(to, from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  if (driver().failed) return kLaunchFailed;
  driver().emulator.to_host(to, from, bytes);
  return 0;
}
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned, void*, void** parameters, void**) {
  Recorded launch{function, blocks, threads, {}};
  for (size_t i = 0; i < driver().emulator.parameters(function); ++i)
    launch.arguments.push_back(*static_cast<uint64_t*>(parameters[i]));
  if (driver().captured == nullptr) return run(launch);
  driver().captured->push_back(std::move(launch));
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  *stream = &driver();
  return 0;
}
int cuStreamSynchronize(void*) {
  return driver().failed ? kLaunchFailed : 0;
}
int cuStreamBeginCapture_v2(void*, int) {
  driver().graphs.push_back(std::make_unique<Graph>());
  driver().captured = driver().graphs.back().get();
  return 0;
}
int cuStreamEndCapture(void*, void** graph) {
  if (driver().captured == nullptr) return kInvalidValue;
  *graph = driver().captured;
  driver().captured = nullptr;
  return 0;
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  *executable = graph;
  return 0;
}
int cuGraphLaunch(void* executable, void*) {
  for (const Recorded& launch : *static_cast<Graph*>(executable))
    if (const int status = run(launch); status != 0) return status;
  return 0;
}
int cuGraphExecDestroy(void*) {
  return 0;
}
int cuGraphDestroy(void*) {
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  *event = &driver();
  return 0;
}
int cuEventRecord(void*, void*) {
  return 0;
}
int cuEventSynchronize(void*) {
  return driver().failed ? kLaunchFailed : 0;
}
int cuEventElapsedTime(float* milliseconds, void*, void*) {
  *milliseconds = 1;
  return 0;
}
int cuGetErrorName(int status, const char** name) {
  *name = status == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED"
          : status == kNotFound   ? "CUDA_ERROR_NOT_FOUND"
                                  : "error";
  return 0;
}

}  // extern "C"
