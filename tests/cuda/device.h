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
};

}  // namespace korch::testing
