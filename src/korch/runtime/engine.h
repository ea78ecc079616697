// What runs the shape plans of an instance: threads of this machine (cpu/engine.cpp), or a GPU
// (cuda/engine.cpp). An executable is linked with the one that its code is for.
#pragma once

#include "korch/runtime/model.h"
#include "korch/runtime/run.h"

namespace korch::rt {

struct Engine;

// `engine` receives what is to be destroyed, also where the status is not KORCH_OK; `model` and `info`
// outlive it.
korch_status create_engine(const Model* model, const korch_model_info* info, const korch_options& options,
                           Engine** engine);
// `forked`: in a process that did not create it. Null is fine.
void destroy_engine(Engine* engine, bool forked);
int32_t threads_of(const Engine* engine);
// What korch_create_with adds to its status; "": nothing. Null is fine.
const char* why_no_engine(const Engine* engine);
// As Executor::run. The extents of dimensions follow the inputs, those of outputs the outputs, an i64 each.
// Of the runs that were put into streams, how the last one ended.
RunStatus wait_for_engine(Engine* engine);
RunStatus run_engine(Engine* engine, uint32_t shape_plan, const void* const* inputs, void* const* outputs,
                     const RunOptions& options);

}  // namespace korch::rt
