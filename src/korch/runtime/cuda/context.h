// The GPU of an instance: its driver, its context, and what went wrong with them.
#pragma once

#include "korch/runtime/cuda/driver.h"
#include "korch/runtime/model.h"
#include "korch/runtime/run.h"

namespace korch::rt::cuda {

// Begins as zeros, and has no destructor.
struct Context {
  // The primary context of the GPU, which release() gives back. The status says why the model cannot run on
  // it, and `words` what that does not say.
  korch_status open(const Model& model, int ordinal);
  bool enter() { return did(driver.push_context(context)); }
  bool leave();
  void release();

  // Notes a failure of the driver.
  bool did(int code);
  // Of what did() noted last; if that is nothing, this process has no memory.
  korch_status refuse_failure();
  korch_status refuse_memory(uint64_t wanted);
  korch_status refuse(korch_status status, const char* format, ...) __attribute__((format(printf, 3, 4)));
  RunStatus failed(int32_t step = -1);

  Driver driver;
  int device;
  void* context;
  bool emulated;        // takes DeviceImage::emulated
  int last_code;        // of the last failure; 0: there was none since a run began
  const char* failure;  // the driver's name of it
  char words[256];

 private:
  korch_status check(const Model& model, int ordinal);
};

}  // namespace korch::rt::cuda
