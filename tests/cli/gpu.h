// Executables for GPUs on a machine without one: their driver is the emulator's
// (tests/cuda/gpu/fake_cuda.cpp).
#pragma once

#include <vector>

#include "../cuda/gpu/fake_control.h"
#include "cli.h"
#include "korch/runtime/korch.h"

namespace korch {

class Gpu : public Cli {
 protected:
  void SetUp() override;
  void TearDown() override;

  int compile_for_gpu(const std::string& model, const std::string& more = "--emulation");
  // Two branches that may run at the same time, products, a softmax; n x 4 x n x n to n x 10; and a copy of
  // the input.
  void write_branches(int64_t n);
};

// The fake driver in this process.
struct FakeDriver {
  FakeDriver();
  // What a failed call did not do to this thread and to the device.
  void do_again(const std::string& call) const;

  void* library;
  decltype(&fake_cuda_fail) fail;
  decltype(&fake_cuda_reset) reset;
  decltype(&fake_cuda_calls) calls;
  decltype(&fake_cuda_call) call;
  decltype(&fake_cuda_forget_calls) forget_calls;
  decltype(&fake_cuda_left) left;
};

// The C interface of an executable.
struct Network {
  explicit Network(const std::string& path);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  void* library;
  decltype(&korch_create_with) create;
  decltype(&korch_run_with) run;
  decltype(&korch_wait) wait;
  decltype(&korch_last_error) last_error;
  decltype(&korch_describe) describe;
  decltype(&korch_free) free;
};

// Memory of the fake GPU.
class GpuMemory {
 public:
  explicit GpuMemory(const std::vector<float>& values);
  ~GpuMemory();
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  void* address() const { return reinterpret_cast<void*>(at_); }
  std::vector<float> values() const;

 private:
  void* driver_;  // its library
  uint64_t at_ = 0;
  size_t count_;
};

}  // namespace korch
