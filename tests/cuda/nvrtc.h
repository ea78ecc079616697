// Kernels through NVRTC, many at a time.
#pragma once

#include <string>
#include <vector>

#include "korch/backend/cuda/nvrtc.h"
#include "korch/codegen/cuda/cuda_kernel.h"

namespace korch::testing {

constexpr const char* kArchitectures[] = {"sm_80", "sm_90"};

// One program of several kernels, whose symbols differ. Each keeps its own functions in a namespace.
std::string as_one_program(const std::vector<CudaKernel>& kernels);

// Compiles kernels whose symbols differ for all kArchitectures, several at a time, which is much faster than
// one by one.
class Compilation {
 public:
  void add(CudaKernel kernel);
  void finish();                                             // compiles what is left
  size_t compiled() const { return compiled_; }              // with or without problems
  const std::string& problems() const { return problems_; }  // what the compiler says, with the kernels' text

 private:
  std::vector<CudaKernel> waiting_;
  size_t compiled_ = 0;
  std::string problems_;
};

}  // namespace korch::testing
