// The contract between kernels and the step executor. Generated code repeats this declaration; keep them
// equal.
#pragma once

#include <stdint.h>

extern "C" {

struct korch_kernel_context {
  void* const* args;  // inputs, constants, outputs, temporaries
  void* scratch;      // private to the worker, 64-byte aligned
  const void* state;  // what a library call prepared when the instance was created; null for generated code
  int32_t worker;     // 0 .. threads - 1
};

// Computes the slices [begin, end) of the phase's grid. Returns 0, or one of the codes below.
typedef int32_t (*korch_kernel_fn)(const struct korch_kernel_context* context, int64_t begin, int64_t end);

enum {
  KORCH_KERNEL_OK = 0,
  KORCH_KERNEL_INDEX_OUT_OF_RANGE = 1,  // a gather read an index outside its axis
  KORCH_KERNEL_LIBRARY_FAILED = 2,
  KORCH_KERNEL_OUT_OF_MEMORY = 3,    // in a library
  KORCH_KERNEL_LOOP_WITHOUT_END = 4  // more steps than a loop may have
};

}  // extern "C"
