// Memory of a GPU for the outputs of a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace korch::python {

class GpuMemory {
 public:
  // In the primary context of the GPU, which lives as long. Error{io} where there is no such GPU,
  // Error{resource} where its memory is full.
  GpuMemory(int gpu, size_t bytes);
  ~GpuMemory();
  GpuMemory(GpuMemory&& other) noexcept : gpu_(other.gpu_), address_(std::exchange(other.address_, 0)) {}
  GpuMemory& operator=(GpuMemory&&) = delete;

  void* address() const { return reinterpret_cast<void*>(address_); }

 private:
  int gpu_;
  uint64_t address_ = 0;  // 0: it was moved away
};

}  // namespace korch::python
