// NVIDIA's driver library as the emulator plays it: the calls that bench/gpu and executables make, on one
// device of compute capability 0.0, whose name tells that it is none. An image is CUDA text, or an object
// made of such (DeviceImage::emulated). What it is strict about, and how calls are made to fail:
// fake_driver.h.
#include <elf.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "fake_control.h"
#include "fake_driver.h"

using namespace korch::testing::fake;

namespace {

constexpr bool kAnywhere = false, kInContext = true;  // where a call is allowed

Driver& driver() {
  return Driver::get();
}

// Of an object, which its section headers end.
size_t object_bytes(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return header.e_shoff + size_t{header.e_shentsize} * header.e_shnum;
}

bool is_object(const void* image) {
  return std::memcmp(image, ELFMAG, SELFMAG) == 0;
}

bool is_for_gpus(const void* image) {
  constexpr int kCuda = 190;  // ELF's number of the machine
  Elf64_Ehdr header;
  if (!is_object(image)) return false;
  std::memcpy(&header, image, sizeof header);
  return header.e_machine == kCuda;
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void* device_pointer(uint64_t at) {
  return reinterpret_cast<void*>(at);
}

// Null parameters are those of a kernel without any.
bool can_launch(void* function, unsigned blocks, unsigned threads) {
  return driver().functions.find(function) != nullptr && blocks > 0 && threads > 0 && threads <= 1024;
}

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS
  void* function;
  unsigned blocks, blocks_y, blocks_z, threads, threads_y, threads_z, shared_bytes;
  void** parameters;
  void** extra;
};

int copy(void* stream, uint64_t to, uint64_t from, size_t bytes) {
  if (!driver().memory.has(to, bytes) || !driver().memory.has(from, bytes)) return kInvalidValue;
  return driver().put(stream, [=] {
    std::memcpy(device_pointer(to), device_pointer(from), bytes);
    return 0;
  });
}

int to_device(void* stream, uint64_t to, const void* from, size_t bytes) {
  if (!driver().memory.has(to, bytes)) return kInvalidValue;
  return driver().put(stream, [=] {
    std::memcpy(device_pointer(to), from, bytes);
    return 0;
  });
}

int to_host(void* stream, void* to, uint64_t from, size_t bytes) {
  if (!driver().memory.has(from, bytes)) return kInvalidValue;
  return driver().put(stream, [=] {
    std::memcpy(to, device_pointer(from), bytes);
    return 0;
  });
}

int wait_for_stream(void* handle) {
  const std::shared_ptr<Stream> stream = driver().stream(handle);
  if (stream == nullptr) return kInvalidHandle;
  return driver().wait({stream, stream->queued});
}

int begin_capture(void* handle) {
  const std::shared_ptr<Stream> stream = driver().stream(handle);
  if (stream == nullptr || handle == nullptr) return kInvalidHandle;
  stream->captured = std::make_shared<Graph>();
  return 0;
}

int end_capture(void* handle, void** graph) {
  const std::shared_ptr<Stream> stream = driver().stream(handle);
  if (stream == nullptr || stream->captured == nullptr) return kInvalidHandle;
  *graph = driver().graphs.add(std::move(stream->captured));
  stream->captured = nullptr;
  return 0;
}

int launch(void* stream, Launch launch) {
  const std::shared_ptr<Stream> to = driver().stream(stream);
  if (to == nullptr) return kInvalidHandle;
  if (to->captured == nullptr)
    return driver().put(stream, [launch = std::move(launch)] { return driver().run(launch); });
  if (!to->captured->empty()) launch.after = {to->captured->size() - 1};
  to->captured->push_back(std::move(launch));
  return 0;
}

// A node is its number and 1, so that none is null.
int add_kernel(void** node, Graph& nodes, void* const* after, size_t count, const KernelNode& kernel) {
  if (!can_launch(kernel.function, kernel.blocks, kernel.threads)) return kInvalidValue;
  Launch launch = driver().launch(kernel.function, kernel.blocks, kernel.threads, kernel.parameters);
  for (size_t i = 0; i < count; ++i) {
    const auto before = reinterpret_cast<uintptr_t>(after[i]);
    if (before < 1 || before > nodes.size()) return kInvalidValue;
    launch.after.push_back(before - 1);
  }
  nodes.push_back(std::move(launch));
  *node = reinterpret_cast<void*>(nodes.size());
  return 0;
}

int find_function(void** function, void* handle, const char* symbol) {
  const std::shared_ptr<Module> module = driver().modules.find(handle);
  if (module == nullptr) return kInvalidHandle;
  const auto code = driver().code_of(*module, symbol);
  if (code == nullptr) return kNotFound;
  *function = driver().functions.add(std::make_shared<Function>(Function{code, handle}));
  return 0;
}

// Functions that graphs launch end with their module.
int unload(void* module) {
  if (driver().modules.find(module) == nullptr) return kInvalidHandle;
  const int status = driver().wait_for_all();
  const auto functions = driver().functions.all();
  for (const auto& [handle, function] : functions)
    if (function->module == module) driver().functions.drop(handle);
  driver().modules.drop(module);
  return status;
}

int release_memory(uint64_t at) {
  if (!driver().memory.begins(at)) return kInvalidValue;
  const int status = driver().wait_for_all();
  if (!driver().memory.release(at)) ++driver().damaged;
  return status;
}

int record(void* handle, void* stream) {
  const std::shared_ptr<Event> event = driver().events.find(handle);
  const std::shared_ptr<Stream> in = driver().stream(stream);
  if (event == nullptr || in == nullptr) return kInvalidHandle;
  const int status = driver().put(stream, [event] {
    event->ms = now_ms();
    return 0;
  });
  if (status == 0) event->recorded = {in, in->queued};
  return status;
}

int wait_in_stream(void* stream, void* handle) {
  const std::shared_ptr<Event> event = driver().events.find(handle);
  if (event == nullptr) return kInvalidHandle;
  if (event->recorded.stream == nullptr) return 0;
  return driver().put(stream, [] { return 0; }, {event->recorded});
}

int elapsed_ms(float* milliseconds, void* begin, void* end) {
  const std::shared_ptr<Event> from = driver().events.find(begin), to = driver().events.find(end);
  for (const std::shared_ptr<Event>& event : {from, to}) {
    if (event == nullptr || event->recorded.stream == nullptr) return kInvalidHandle;
    if (event->recorded.stream->done < event->recorded.done) return kNotReady;
  }
  *milliseconds = static_cast<float>(to->ms - from->ms);
  return 0;
}

const char* name_of(int status) {
  switch (status) {
    case kInvalidValue:
      return "CUDA_ERROR_INVALID_VALUE";
    case kOutOfMemory:
      return "CUDA_ERROR_OUT_OF_MEMORY";
    case kNotInitialized:
      return "CUDA_ERROR_NOT_INITIALIZED";
    case kInvalidDevice:
      return "CUDA_ERROR_INVALID_DEVICE";
    case kInvalidImage:
      return "CUDA_ERROR_INVALID_IMAGE";
    case kInvalidContext:
      return "CUDA_ERROR_INVALID_CONTEXT";
    case kNoBinaryForGpu:
      return "CUDA_ERROR_NO_BINARY_FOR_GPU";
    case kInvalidHandle:
      return "CUDA_ERROR_INVALID_HANDLE";
    case kNotFound:
      return "CUDA_ERROR_NOT_FOUND";
    case kNotReady:
      return "CUDA_ERROR_NOT_READY";
    case kIllegalAddress:
      return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case kLaunchFailed:
      return "CUDA_ERROR_LAUNCH_FAILED";
    case kCaptureUnsupported:
      return "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
  }
  return "CUDA_ERROR_UNKNOWN";
}

}  // namespace

extern "C" {

void fake_cuda_fail(const char* entry, long nth, int status, int lasting) {
  driver().fail(entry, nth, status, lasting != 0);
}
void fake_cuda_reset() {
  driver().reset();
}
long fake_cuda_calls() {
  return static_cast<long>(driver().calls().size());
}
const char* fake_cuda_call(long number) {
  return driver().calls()[static_cast<size_t>(number)];
}
void fake_cuda_forget_calls() {
  driver().forget_calls();
}
long fake_cuda_left(const char* kind) {
  return driver().left(kind);
}

int cuInit(unsigned) {
  return driver().call(__func__, kAnywhere, [] {
    driver().initialized = true;
    return 0;
  });
}
int cuDriverGetVersion(int* version) {
  return driver().call(__func__, kAnywhere, [&] {
    *version = driver().version;
    return 0;
  });
}
int cuDeviceGet(int* device, int ordinal) {
  return driver().call(__func__, kAnywhere, [&] {
    *device = 0;
    return ordinal == 0 ? 0 : kInvalidDevice;
  });
}
int cuDeviceGetName(char* name, int length, int) {
  return driver().call(__func__, kAnywhere, [&] {
    std::strncpy(name, driver().capability == 0 ? "emulated GPU" : "NVIDIA Pretender",
                 static_cast<size_t>(length));
    return 0;
  });
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kMultiprocessors = 16, kL2Bytes = 38, kMajor = 75, kMinor = 76;
  return driver().call(__func__, kAnywhere, [&] {
    *value = attribute == kMultiprocessors ? 2
             : attribute == kL2Bytes       ? 4096
             : attribute == kMajor         ? driver().capability / 10
             : attribute == kMinor         ? driver().capability % 10
                                           : 0;
    return 0;
  });
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  return driver().call(__func__, kAnywhere, [&] {
    *bytes = driver().memory.most();
    return 0;
  });
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  return driver().call(__func__, kAnywhere, [&] {
    *context = &driver();
    return driver().retain();
  });
}
int cuDevicePrimaryCtxRelease_v2(int) {
  return driver().call(__func__, kAnywhere, [] { return driver().release(); });
}
int cuCtxCreate_v2(void** context, unsigned, int) {
  return driver().call(__func__, kAnywhere, [&] {
    *context = &driver();
    driver().current().push_back(&driver());
    return driver().retain();
  });
}
int cuCtxDestroy_v2(void*) {
  return driver().call(__func__, kAnywhere, [] {
    if (!driver().current().empty()) driver().current().pop_back();
    return driver().destroy();
  });
}
int cuCtxPushCurrent_v2(void* context) {
  return driver().call(__func__, kAnywhere, [&] {
    if (context != &driver()) return kInvalidContext;
    driver().current().push_back(context);
    return 0;
  });
}
int cuCtxPopCurrent_v2(void** context) {
  return driver().call(__func__, kAnywhere, [&] {
    if (driver().current().empty()) return kInvalidContext;
    *context = driver().current().back();
    driver().current().pop_back();
    return 0;
  });
}
int cuCtxSetCurrent(void* context) {
  return driver().call(__func__, kAnywhere, [&] {
    if (!driver().current().empty()) driver().current().pop_back();
    if (context != nullptr) driver().current().push_back(context);
    return 0;
  });
}
int cuCtxSynchronize() {
  return driver().call(__func__, kInContext, [] { return driver().wait_for_all(); });
}
int cuModuleLoadData(void** module, const void* image) {
  return driver().call(__func__, kInContext, [&] {
    if (is_for_gpus(image)) return kNoBinaryForGpu;
    const bool object = is_object(image);
    const char* bytes = static_cast<const char*>(image);
    *module = driver().modules.add(std::make_shared<Module>(
        Module{object ? std::string(bytes, object_bytes(image)) : std::string(bytes), object}));
    return 0;
  });
}
int cuModuleUnload(void* module) {
  return driver().call(__func__, kInContext, [&] { return unload(module); });
}
int cuModuleGetFunction(void** function, void* module, const char* symbol) {
  return driver().call(__func__, kInContext, [&] { return find_function(function, module, symbol); });
}
int cuFuncGetAttribute(int* value, int, void*) {
  return driver().call(__func__, kInContext, [&] {
    *value = 0;
    return 0;
  });
}
int cuMemGetInfo_v2(size_t* free, size_t* total) {
  return driver().call(__func__, kInContext, [&] {
    *total = driver().memory.most();
    *free = *total - driver().memory.used();
    return 0;
  });
}
int cuMemAlloc_v2(uint64_t* pointer, size_t bytes) {
  return driver().call(__func__, kInContext, [&] {
    if (bytes == 0) return kInvalidValue;
    *pointer = driver().memory.allocate(bytes);
    return *pointer == 0 ? kOutOfMemory : 0;
  });
}
int cuMemFree_v2(uint64_t pointer) {
  return driver().call(__func__, kInContext, [&] { return release_memory(pointer); });
}
int cuMemsetD8_v2(uint64_t pointer, unsigned char byte, size_t bytes) {
  return driver().call(__func__, kInContext, [&] {
    if (!driver().memory.has(pointer, bytes)) return kInvalidValue;
    return driver().put(nullptr, [=] {
      std::memset(device_pointer(pointer), byte, bytes);
      return 0;
    });
  });
}
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  return driver().call(__func__, kInContext, [&] {
    const int status = to_device(nullptr, to, from, bytes);
    return status != 0 ? status : wait_for_stream(nullptr);
  });
}
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  return driver().call(__func__, kInContext, [&] {
    const int status = to_host(nullptr, to, from, bytes);
    return status != 0 ? status : wait_for_stream(nullptr);
  });
}
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) {
  return driver().call(__func__, kInContext, [&] { return copy(nullptr, to, from, bytes); });
}
int cuMemsetD32Async(uint64_t pointer, unsigned word, size_t count, void* stream) {
  return driver().call(__func__, kInContext, [&] {
    if (!driver().memory.has(pointer, 4 * count)) return kInvalidValue;
    return driver().put(stream, [=] {
      for (size_t i = 0; i < count; ++i) std::memcpy(device_pointer(pointer + 4 * i), &word, 4);
      return 0;
    });
  });
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  return driver().call(__func__, kInContext, [&] { return to_device(stream, to, from, bytes); });
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  return driver().call(__func__, kInContext, [&] { return to_host(stream, to, from, bytes); });
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  return driver().call(__func__, kInContext, [&] { return copy(stream, to, from, bytes); });
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned, void* stream, void** parameters, void**) {
  return driver().call(__func__, kInContext, [&] {
    if (!can_launch(function, blocks, threads)) return kInvalidValue;
    return launch(stream, driver().launch(function, blocks, threads, parameters));
  });
}
int cuStreamCreate(void** stream, unsigned) {
  return driver().call(__func__, kInContext, [&] {
    *stream = driver().streams.add(std::make_shared<Stream>());
    return 0;
  });
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return driver().call(__func__, kInContext, [&] { return wait_in_stream(stream, event); });
}
int cuStreamDestroy_v2(void* stream) {
  return driver().call(__func__, kInContext, [&] {
    if (stream == nullptr) return kInvalidHandle;
    const int status = wait_for_stream(stream);
    return driver().streams.drop(stream) ? status : kInvalidHandle;
  });
}
int cuStreamSynchronize(void* stream) {
  return driver().call(__func__, kInContext, [&] { return wait_for_stream(stream); });
}
// KORCH_FAKE_CUDA_HANGS: what is in the stream never ends.
int cuStreamQuery(void* stream) {
  return driver().call(__func__, kInContext, [&] {
    return std::getenv("KORCH_FAKE_CUDA_HANGS") != nullptr ? kNotReady : wait_for_stream(stream);
  });
}
int cuStreamBeginCapture_v2(void* stream, int) {
  return driver().call(__func__, kInContext, [&] { return begin_capture(stream); });
}
int cuStreamEndCapture(void* stream, void** graph) {
  return driver().call(__func__, kInContext, [&] { return end_capture(stream, graph); });
}
int cuGraphCreate(void** graph, unsigned) {
  return driver().call(__func__, kInContext, [&] {
    *graph = driver().graphs.add(std::make_shared<Graph>());
    return 0;
  });
}
int cuGraphAddKernelNode(void** node, void* graph, void* const* after, size_t count,
                         const KernelNode* kernel) {
  return driver().call(__func__, kInContext, [&] {
    const std::shared_ptr<Graph> nodes = driver().graphs.find(graph);
    return nodes == nullptr ? kInvalidHandle : add_kernel(node, *nodes, after, count, *kernel);
  });
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  return driver().call(__func__, kInContext, [&] {
    const std::shared_ptr<Graph> nodes = driver().graphs.find(graph);
    if (nodes == nullptr) return kInvalidHandle;
    *executable = driver().executables.add(std::make_shared<Graph>(*nodes));
    return 0;
  });
}
int cuGraphLaunch(void* executable, void* stream) {
  return driver().call(__func__, kInContext, [&] {
    const std::shared_ptr<Graph> nodes = driver().executables.find(executable);
    return nodes == nullptr ? kInvalidHandle : driver().put(stream, [nodes] { return driver().run(*nodes); });
  });
}
int cuGraphExecDestroy(void* executable) {
  return driver().call(__func__, kInContext,
                       [&] { return driver().executables.drop(executable) ? 0 : kInvalidHandle; });
}
int cuGraphDestroy(void* graph) {
  return driver().call(__func__, kInContext,
                       [&] { return driver().graphs.drop(graph) ? 0 : kInvalidHandle; });
}
int cuEventCreate(void** event, unsigned) {
  return driver().call(__func__, kInContext, [&] {
    *event = driver().events.add(std::make_shared<Event>());
    return 0;
  });
}
int cuEventDestroy_v2(void* event) {
  return driver().call(__func__, kInContext,
                       [&] { return driver().events.drop(event) ? 0 : kInvalidHandle; });
}
int cuEventRecord(void* event, void* stream) {
  return driver().call(__func__, kInContext, [&] { return record(event, stream); });
}
int cuEventSynchronize(void* handle) {
  return driver().call(__func__, kInContext, [&] {
    const std::shared_ptr<Event> event = driver().events.find(handle);
    if (event == nullptr) return kInvalidHandle;
    return event->recorded.stream == nullptr ? 0 : driver().wait(event->recorded);
  });
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  return driver().call(__func__, kInContext, [&] { return elapsed_ms(milliseconds, begin, end); });
}
// Not one of the calls that are counted: it tells of another's failure.
int cuGetErrorName(int status, const char** name) {
  *name = name_of(status);
  return 0;
}

}  // extern "C"
