// NVIDIA's driver library, loaded when it is first needed: an executable links nothing of CUDA. Functions
// give 0 where all went well.
#pragma once

#include <stdint.h>

namespace korch::rt::cuda {

using Address = uint64_t;  // in the GPU's memory

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS
  void* function;
  unsigned blocks, blocks_y, blocks_z, threads, threads_y, threads_z, shared_bytes;
  void** arguments;
  void** extra;
};

struct Driver {
  const char*
      missing;  // where it is not loaded: the first function that the library lacks; null: there is none

  int (*init)(unsigned flags);
  int (*version)(int* version);  // of CUDA, 12040 for 12.4
  int (*device)(int* device, int ordinal);
  int (*device_name)(char* name, int length, int device);
  int (*attribute)(int* value, int attribute, int device);
  int (*retain_context)(void** context, int device);
  int (*release_context)(int device);
  int (*push_context)(void* context);
  int (*pop_context)(void** context);
  int (*load)(void** module, const void* image);
  int (*unload)(void* module);
  int (*function)(void** function, void* module, const char* name);
  int (*allocate)(Address* address, uint64_t bytes);
  int (*free)(Address address);
  int (*memory_left)(uint64_t* free, uint64_t* total);
  int (*create_stream)(void** stream, unsigned flags);
  int (*destroy_stream)(void* stream);
  int (*fill_words)(Address address, unsigned word, uint64_t count, void* stream);
  int (*to_device)(Address to, const void* from, uint64_t bytes, void* stream);
  int (*to_host)(void* to, Address from, uint64_t bytes, void* stream);
  int (*copy)(Address to, Address from, uint64_t bytes, void* stream);
  int (*launch)(void* function, unsigned blocks, unsigned blocks_y, unsigned blocks_z, unsigned threads,
                unsigned threads_y, unsigned threads_z, unsigned shared_bytes, void* stream, void** arguments,
                void** extra);
  int (*wait)(void* stream);
  int (*wait_for_event)(void* event);
  int (*wait_in_stream)(void* stream, void* event, unsigned flags);
  int (*create_graph)(void** graph, unsigned flags);
  int (*add_kernel)(void** node, void* graph, void* const* after, uint64_t after_count,
                    const KernelNode* kernel);
  int (*instantiate)(void** executable, void* graph, unsigned long long flags);
  int (*launch_graph)(void* executable, void* stream);
  int (*destroy_executable)(void* executable);
  int (*destroy_graph)(void* graph);
  int (*create_event)(void** event, unsigned flags);
  int (*destroy_event)(void* event);
  int (*record)(void* event, void* stream);
  int (*elapsed_ms)(float* milliseconds, void* begin, void* end);
  int (*error_name)(int error, const char** name);
};

constexpr int kMajor = 75, kMinor = 76;  // attributes: of the compute capability

// Of CUresult.
constexpr int kOutOfMemory = 2;
// Whether a failure stays: after it every call of this process that uses the GPU fails.
bool is_lasting(int code);
// Whether a module is refused because the driver does not know its machine code.
bool is_unknown_code(int code);

// Drivers run machine code of all compilers of their major version of CUDA, and of earlier ones.
constexpr int kLeastVersion = 12000;

// Of the library that the environment variable KORCH_CUDA_DRIVER names, else of libcuda.so.1. False where
// there is none, or one without these functions (Driver::missing).
bool load_driver(Driver* driver);

}  // namespace korch::rt::cuda
