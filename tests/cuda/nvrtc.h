// NVRTC, NVIDIA's run-time compiler of CUDA C++, loaded where it is installed. It needs no GPU.
#pragma once

#include <string>
#include <vector>

#include "korch/base/result.h"
#include "korch/codegen/cuda/cuda_kernel.h"

namespace korch::testing {

constexpr const char* kArchitectures[] = {"sm_80", "sm_90"};
constexpr const char* kNvrtcIsMissing = "libnvrtc is not installed (scripts/install-deps installs it)";

class Nvrtc {
 public:
  Nvrtc();
  bool loaded() const { return complete_; }

  // Machine code (a cubin), or what the compiler says. `report`, if given, receives registers and spills of
  // each kernel, as ptxas tells them.
  Result<std::string> compile(const std::string& source, const std::string& architecture,
                              std::string* report = nullptr) const;

 private:
  std::string log(void* program) const;

  void* library_ = nullptr;
  bool complete_ = false;
  int (*create_)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile_)(void*, int, const char* const*) = nullptr;
  int (*destroy_)(void**) = nullptr;
  int (*log_size_)(void*, size_t*) = nullptr;
  int (*log_)(void*, char*) = nullptr;
  int (*cubin_size_)(void*, size_t*) = nullptr;
  int (*cubin_)(void*, char*) = nullptr;
};

// One program of several kernels, whose symbols differ. Each keeps its own functions in a namespace.
std::string as_one_program(const std::vector<CudaKernel>& kernels);

// Compiles kernels whose symbols differ for all kArchitectures, several at a time, which is much faster than
// one by one.
class Compilation {
 public:
  bool possible() const { return nvrtc_.loaded(); }
  void add(CudaKernel kernel);
  void finish();                                             // compiles what is left
  size_t compiled() const { return compiled_; }              // with or without problems
  const std::string& problems() const { return problems_; }  // what the compiler says, with the kernels' text

 private:
  const Nvrtc nvrtc_;
  std::vector<CudaKernel> waiting_;
  size_t compiled_ = 0;
  std::string problems_;
};

}  // namespace korch::testing
