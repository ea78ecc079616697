// What the checks of CUDA kernels run them on: a GPU (gpu/cuda_driver.h) or this machine's CPU (emulator.h).
#pragma once

#include <cstdint>
#include <vector>

namespace korch::testing {

class Gpu {
 public:
  using Pointer = uint64_t;
  using Function = void*;
  virtual ~Gpu() = default;
  virtual Pointer allocate(size_t bytes) = 0;
  virtual void free(Pointer pointer) = 0;
  virtual void fill(Pointer pointer, unsigned char byte, size_t bytes) = 0;
  virtual void to_device(Pointer pointer, const void* from, size_t bytes) = 0;
  virtual void to_host(void* to, Pointer pointer, size_t bytes) = 0;
  // Launches and waits; microseconds. Each argument is a pointer.
  virtual double run(Function function, int64_t blocks, int64_t threads, std::vector<Pointer> arguments) = 0;
  // Whether it tells itself who accesses what beside a buffer, or before it was written.
  virtual bool checks() const { return false; }
  // Among the arguments of the launches that follow: the status, and the workspace with its bytes per block.
  virtual void set_roles(Pointer status, Pointer workspace, size_t workspace_bytes) {
    (void)status, (void)workspace, (void)workspace_bytes;
  }
};

}  // namespace korch::testing
