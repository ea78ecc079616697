// A GPU played by threads of this machine's CPU: CUDA text, compiled by clang (emulated_text.h), runs
// block after block, the threads of a block as fibers that take turns at __syncthreads. Threads run in
// ascending or in descending order, so that a barrier that is missing shows in one of them.
#pragma once

#include <memory>
#include <string>

#include "device.h"
#include "korch/base/result.h"

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

class Emulator : public Gpu {
 public:
  Emulator();
  ~Emulator() override;

  void set_order(ThreadOrder order) { order_ = order; }
  // The kernel `symbol` of the text; it stays until destruction.
  Result<Function> load(const std::string& source, const std::string& symbol);
  // The same of the object that the text compiles to.
  Result<Function> load_object(const std::string& object, const std::string& symbol);
  size_t parameters(Function function) const;

  Pointer allocate(size_t bytes) override;
  void free(Pointer pointer) override;
  void fill(Pointer pointer, unsigned char byte, size_t bytes) override;
  void to_device(Pointer pointer, const void* from, size_t bytes) override;
  void to_host(void* to, Pointer pointer, size_t bytes) override;
  // Throws Error{internal} when threads of a block part at a barrier. The time means nothing.
  double run(Function function, int64_t blocks, int64_t threads, std::vector<Pointer> arguments) override;

 private:
  struct LoadedKernel;
  ThreadOrder order_ = ThreadOrder::ascending;
  std::vector<std::unique_ptr<LoadedKernel>> kernels_;
};

}  // namespace korch::testing
