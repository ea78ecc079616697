// What kernels are measured on.
#pragma once

#include <cstdint>
#include <map>

#include "korch/tensor/host_tensor.h"

namespace korch {

// Repeats a block of random content; integers and bools are 0 or 1, which every index and mask allows.
class RandomContent {
 public:
  const HostTensor& block(DType dtype);
  void fill(unsigned char* data, int64_t bytes, DType dtype);

 private:
  std::map<DType, HostTensor> blocks_;
};

}  // namespace korch
