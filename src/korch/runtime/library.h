// Library calls, for Kernels without source. One table (library.cpp) names every function that a step may
// call, so that a call is found by pointer in this process and by symbol when an executable is linked.
#pragma once

#include "korch/plan/program.h"
#include "korch/runtime/abi.h"

namespace korch::rt {

struct LibraryOps {
  // Prepares the call; null when the library refuses (`code` becomes KORCH_KERNEL_LIBRARY_FAILED) or there is
  // no memory (KORCH_KERNEL_OUT_OF_MEMORY). `scratch_bytes` receives the need per worker.
  void* (*create)(const int64_t* params, uint32_t param_count, const float* floats, uint32_t float_count,
                  uint64_t* scratch_bytes, int32_t* code);
  void (*destroy)(void* state);
};

struct LibraryFunction {
  const char* library;   // LibraryCall::library
  const char* function;  // LibraryCall::function
  const LibraryOps* ops;
  const char* ops_symbol;  // extern "C" name of *ops
  korch_kernel_fn run;     // the step's only phase; reads context->state
  const char* run_symbol;  // extern "C" name of run; KernelPhase::symbol of the kernel's one phase
};

// Null when there is none.
const LibraryFunction* find_library_function(const char* library, const char* function);

}  // namespace korch::rt

extern "C" {
// "korch" "copy": args {source, destination}, params {bytes}; graph outputs that are views of other tensors.
extern const korch::rt::LibraryOps korch_copy_ops;
int32_t korch_copy_run(const korch_kernel_context* context, int64_t begin, int64_t end);
// "korch" "loop_begin" and "loop_end": args as the primitives' operands and results (ir/loops.h), each once;
// params {operands, results, (of the end: carried tensors,) per operand its argument and bytes, the first
// result's argument}.
extern const korch::rt::LibraryOps korch_loop_ops;
int32_t korch_loop_begin_run(const korch_kernel_context* context, int64_t begin, int64_t end);
int32_t korch_loop_end_run(const korch_kernel_context* context, int64_t begin, int64_t end);
// "korch" "append" (ir/append.h), a slice for each place of the axes before the one that grows: params {their
// number, bytes of a row, extents of old and new rows and of the result, then the arguments that are the
// operands, each once, and the result}.
extern const korch::rt::LibraryOps korch_append_ops;
int32_t korch_append_run(const korch_kernel_context* context, int64_t begin, int64_t end);
}
