// NVRTC, NVIDIA's run-time compiler of CUDA C++, loaded where it is installed. It needs no GPU.
#pragma once

#include <string>

#include "korch/base/result.h"

namespace korch {

class Nvrtc {
 public:
  // The process's only one; found when first asked for.
  static const Nvrtc& get();

  // "": it can compile; else what to install.
  const std::string& missing() const { return missing_; }
  std::string version() const;  // "12.9"

  // A cubin for `code` (Device::code), or what the compiler says; refused where its code is known to be wrong
  // (ptx_scan.h). `report`, if given, receives registers and spills of each kernel, as ptxas tells them.
  // Thread-safe.
  Result<std::string> compile(const std::string& source, const std::string& code,
                              std::string* report = nullptr) const;

 private:
  Nvrtc();
  static std::string output(void* program, int (*size_of)(void*, size_t*), int (*get)(void*, char*));

  std::string missing_;
  int (*version_)(int*, int*) = nullptr;
  int (*create_)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile_)(void*, int, const char* const*) = nullptr;
  int (*destroy_)(void**) = nullptr;
  int (*log_size_)(void*, size_t*) = nullptr;
  int (*log_)(void*, char*) = nullptr;
  int (*cubin_size_)(void*, size_t*) = nullptr;
  int (*cubin_)(void*, char*) = nullptr;
  int (*ptx_size_)(void*, size_t*) = nullptr;
  int (*ptx_)(void*, char*) = nullptr;
};

// The options that every kernel is compiled with; they are part of cost keys.
std::string nvrtc_options();

}  // namespace korch
