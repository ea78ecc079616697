// An output in a GPU's memory, which PyTorch, JAX and CuPy take by DLPack.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "gpu_memory.h"
#include "korch/tensor/shape.h"

namespace korch::python {

// Row-major without gaps. Whoever takes it by DLPack keeps it alive.
class GpuArray {
 public:
  GpuArray(GpuMemory memory, TensorType type, int gpu)
      : memory_(std::move(memory)), type_(std::move(type)), gpu_(gpu) {}

  const TensorType& type() const { return type_; }
  int gpu() const { return gpu_; }
  void* data() const { return memory_.address(); }

 private:
  GpuMemory memory_;
  TensorType type_;
  int gpu_;
};

// The class of the module.
void add_gpu_array(nanobind::module_& m);

}  // namespace korch::python
