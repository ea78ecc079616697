// A GPU played by threads of this machine's CPU: CUDA text, compiled by clang (emulated_text.h), runs
// block after block, the threads of a block as fibers that take turns at __syncthreads. Threads run in
// ascending or in descending order, so that a barrier that is missing shows in one of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device.h"
#include "korch/base/result.h"
#include "memory_checker.h"

namespace korch::testing {

// Sanitizers follow one stack per thread; fibers have many.
#ifdef KORCH_SANITIZED
inline constexpr bool kEmulates = false;
#else
inline constexpr bool kEmulates = true;
#endif
inline constexpr const char* kEmulatesNot =
    "the emulator's fibers switch stacks, which this sanitizer cannot follow";

enum class ThreadOrder { ascending, descending };

// memory: every access is looked at, and mistakes are noted (memory_checker.h). Blocks run one after the
// other, at perhaps a tenth of the speed; a run ends where memory that is no kernel's would be accessed.
enum class Checks { none, memory };

class Emulator : public Gpu {
 public:
  explicit Emulator(Checks checks = Checks::none);
  ~Emulator() override;

  void set_order(ThreadOrder order) { order_ = order; }
  // With checks, a launch runs no more of its blocks, spread over all.
  void set_most_blocks(int64_t most) { most_blocks_ = most; }
  // The kernel `symbol` of the text; it stays until destruction.
  Result<Function> load(const std::string& source, const std::string& symbol);
  // The same of the object that the text compiles to, whose accesses nobody checks.
  Result<Function> load_object(const std::string& object, const std::string& symbol);
  size_t parameters(Function function) const;

  Pointer allocate(size_t bytes) override;
  void free(Pointer pointer) override;
  void fill(Pointer pointer, unsigned char byte, size_t bytes) override;
  void to_device(Pointer pointer, const void* from, size_t bytes) override;
  void to_host(void* to, Pointer pointer, size_t bytes) override;
  // Throws Error{internal} when threads of a block part at a barrier; with checks, that is a mistake like
  // others. The time means nothing.
  double run(Function function, int64_t blocks, int64_t threads, std::vector<Pointer> arguments) override;

  bool checks() const override { return checker_ != nullptr; }
  void set_roles(Pointer status, Pointer workspace, size_t workspace_bytes) override {
    launch_memory_ = {{}, status, workspace, workspace_bytes};
  }
  MemoryChecker& checker() { return *checker_; }  // where it checks

 private:
  struct LoadedKernel;
  Result<Function> load_as(const std::string& object, const std::string& symbol, bool checked);
  void run_checked(const LoadedKernel& kernel, int64_t blocks, int64_t threads,
                   const std::vector<void*>& arguments);

  const std::unique_ptr<MemoryChecker> checker_;
  LaunchMemory launch_memory_;
  int64_t most_blocks_ = INT64_MAX;
  ThreadOrder order_ = ThreadOrder::ascending;
  std::vector<std::unique_ptr<LoadedKernel>> kernels_;
};

}  // namespace korch::testing
