// NVIDIA's driver library as the emulator plays it: the calls that bench/gpu and executables make, on one
// device of compute capability 0.0, whose name tells that it is none. An image is CUDA text, or an object
// made of such (DeviceImage::emulated). Streams run at once; a stream that is captured keeps its launches for
// the graph.
#include <elf.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../emulator.h"
#include "korch/base/error.h"

namespace korch::testing {
namespace {

constexpr int kInvalidValue = 1, kNotFound = 500, kLaunchFailed = 719;

struct Module {
  std::string image;
  bool is_object = false;
};

// Of an object, which its section headers end.
size_t object_bytes(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return header.e_shoff + size_t{header.e_shentsize} * header.e_shnum;
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
struct Recorded {
  Gpu::Function function;
  int64_t blocks, threads;
  std::vector<Gpu::Pointer> arguments;
  std::vector<size_t> after;  // other nodes of the graph
};
using Graph = std::vector<Recorded>;

// KORCH_EMULATOR_CHECKS: kernels given as text run with every access checked, and a mistake is a fault.
bool wants_checks() {
  return std::getenv("KORCH_EMULATOR_CHECKS") != nullptr;
}

struct Driver {
  Emulator emulator{wants_checks() ? Checks::memory : Checks::none};
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Graph>> graphs;
  Graph* captured = nullptr;
  bool failed = false;  // as after a fault: nothing works any more
  std::minstd_rand random{20261128};
};

Driver& driver() {
  static Driver* the = new Driver;  // outlives the program's other threads
  return *the;
}

int run(const Recorded& launch) {
  if (driver().failed) return kLaunchFailed;
  Emulator& emulator = driver().emulator;
  try {
    if (emulator.checks() && launch.arguments.size() > 2)  // the status is the last but one (print_cuda.h)
      emulator.set_roles(launch.arguments[launch.arguments.size() - 2], 0, 0);
    emulator.run(launch.function, launch.blocks, launch.threads, launch.arguments);
    if (!emulator.checks() || emulator.checker().findings().empty()) return 0;
    for (const Finding& finding : emulator.checker().findings())
      std::fprintf(stderr, "emulated GPU: %s\n", finding.text.c_str());
    driver().failed = true;
    return kLaunchFailed;
  } catch (const Error&) {
    driver().failed = true;
    return kLaunchFailed;
  }
}

// In some order that the edges allow, another one each time.
int run(const Graph& graph) {
  std::vector<bool> done(graph.size());
  for (size_t count = 0; count < graph.size(); ++count) {
    std::vector<size_t> ready;
    for (size_t n = 0; n < graph.size(); ++n)
      if (!done[n] && std::ranges::all_of(graph[n].after, [&](size_t before) { return done[before]; }))
        ready.push_back(n);
    const size_t next = ready[driver().random() % ready.size()];
    if (const int status = run(graph[next]); status != 0) return status;
    done[next] = true;
  }
  return 0;
}

Recorded recorded(Gpu::Function function, unsigned blocks, unsigned threads, void* const* parameters) {
  Recorded launch{function, blocks, threads, {}, {}};
  for (size_t i = 0; i < driver().emulator.parameters(function); ++i)
    launch.arguments.push_back(*static_cast<const uint64_t*>(parameters[i]));
  return launch;
}

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS
  void* function;
  unsigned blocks, blocks_y, blocks_z, threads, threads_y, threads_z, shared_bytes;
  void** parameters;
  void** extra;
};

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
int cuDeviceGet(int* device, int ordinal) {
  *device = 0;
  return ordinal == 0 ? 0 : kInvalidValue;
}
int cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, "emulated GPU", static_cast<size_t>(length));
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
int cuDevicePrimaryCtxRelease_v2(int) {
  return 0;
}
int cuCtxPushCurrent_v2(void*) {
  return 0;
}
int cuCtxPopCurrent_v2(void** context) {
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
  const bool is_object = std::memcmp(image, ELFMAG, SELFMAG) == 0;
  const char* bytes = static_cast<const char*>(image);
  driver().modules.push_back(std::make_unique<Module>(
      Module{is_object ? std::string(bytes, object_bytes(image)) : std::string(bytes), is_object}));
  *module = driver().modules.back().get();
  return 0;
}
int cuModuleUnload(void*) {  // others may have its functions in a graph
  return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* symbol) {
  const auto& [image, is_object] = *static_cast<Module*>(module);
  const auto loaded =
      is_object ? driver().emulator.load_object(image, symbol) : driver().emulator.load(image, symbol);
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
int cuMemsetD32Async(uint64_t pointer, unsigned word, size_t count, void*) {
  for (size_t i = 0; i < count; ++i) driver().emulator.to_device(pointer + 4 * i, &word, 4);
  return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
  return cuMemcpyHtoD_v2(to, from, bytes);
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
  return cuMemcpyDtoH_v2(to, from, bytes);
}
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) {
  driver().emulator.to_device(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
  return cuMemcpyDtoD_v2(to, from, bytes);
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned, void*, void** parameters, void**) {
  Recorded launch = recorded(function, blocks, threads, parameters);
  Graph* captured = driver().captured;
  if (captured == nullptr) return run(launch);
  if (!captured->empty()) launch.after = {captured->size() - 1};
  captured->push_back(std::move(launch));
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  *stream = &driver();
  return 0;
}
int cuStreamWaitEvent(void*, void*, unsigned) {
  return 0;
}
int cuStreamDestroy_v2(void*) {
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
int cuGraphCreate(void** graph, unsigned) {
  driver().graphs.push_back(std::make_unique<Graph>());
  *graph = driver().graphs.back().get();
  return 0;
}
// A node is its number and 1, so that none is null.
int cuGraphAddKernelNode(void** node, void* graph, void* const* after, size_t count,
                         const KernelNode* kernel) {
  Graph& nodes = *static_cast<Graph*>(graph);
  Recorded launch = recorded(kernel->function, kernel->blocks, kernel->threads, kernel->parameters);
  for (size_t i = 0; i < count; ++i) {
    const auto before = reinterpret_cast<uintptr_t>(after[i]);
    if (before < 1 || before > nodes.size()) return kInvalidValue;
    launch.after.push_back(before - 1);
  }
  nodes.push_back(std::move(launch));
  *node = reinterpret_cast<void*>(nodes.size());
  return 0;
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  *executable = graph;
  return 0;
}
int cuGraphLaunch(void* executable, void*) {
  return run(*static_cast<Graph*>(executable));
}
int cuGraphExecDestroy(void*) {
  return 0;
}
int cuGraphDestroy(void*) {
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  *event = new double(0);
  return 0;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<double*>(event);
  return 0;
}
int cuEventRecord(void* event, void*) {
  *static_cast<double*>(event) = now_ms();
  return 0;
}
int cuEventSynchronize(void*) {
  return driver().failed ? kLaunchFailed : 0;
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds = static_cast<float>(*static_cast<double*>(end) - *static_cast<double*>(begin));
  return 0;
}
int cuGetErrorName(int status, const char** name) {
  *name = status == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED"
          : status == kNotFound   ? "CUDA_ERROR_NOT_FOUND"
                                  : "error";
  return 0;
}

}  // extern "C"
