// A run of a program: what is asked of it, and how it ended.
#pragma once

#include "korch/runtime/cpu/slices.h"
#include "korch/runtime/korch.h"

namespace korch::rt {

enum class RunError : int32_t {
  none = KORCH_OK,
  out_of_memory = KORCH_OUT_OF_MEMORY,
  library_refused = KORCH_LIBRARY_REFUSED,        // at LibraryOps::create
  index_out_of_range = KORCH_INDEX_OUT_OF_RANGE,  // the KORCH_KERNEL_ codes of abi.h
  library_failed = KORCH_LIBRARY_FAILED,
  unknown_code = KORCH_INTERNAL,
  cancelled = KORCH_CANCELLED,
  loop_without_end = KORCH_LOOP_WITHOUT_END,
  parallel_failed = KORCH_PARALLEL_FAILED,  // Workers::parallel did not run every task once
  gpu_failed = KORCH_GPU_FAILED
};

struct RunStatus {
  RunError error = RunError::none;
  int32_t step = -1;             // where it happened, when it happened in a step
  const char* detail = nullptr;  // what the GPU's driver calls it
};

struct RunOptions {
  double* step_us = nullptr;  // receives the duration of every step, all its runs together
  // Called by the caller after each step, the others waiting; `args` as the step's kernel sees them.
  void (*observe)(void* user, uint32_t step, void* const* args) = nullptr;
  void* observe_user = nullptr;
  // The run ends soon after this is not 0: it is read before each chunk of slices. Written by others,
  // atomically.
  const int32_t* cancel = nullptr;
  SliceObserver on_slices = {};
  // The addresses are the GPU's, and the run is put into the stream (korch_run_options).
  bool on_device = false;
  void* stream = nullptr;
};

}  // namespace korch::rt
