#include "c_api_network.h"

#include <thread>

#include "korch/runtime/abi.h"
#include "korch/runtime/check.h"
#include "korch/runtime/checksum.h"
#include "korch/runtime/model.h"

namespace korch::rt {

std::atomic<bool> gate_is_open{true};
std::atomic<int> workers_at_the_gate{0};
std::atomic<int64_t> slices_run{0};
std::atomic<int32_t> cancel{0};
std::atomic<int64_t> cancel_at{INT64_MAX};

namespace {

int32_t twice(const korch_kernel_context* context, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<float*>(context->args[1])[i] = 2 * static_cast<const float*>(context->args[0])[i];
  if ((slices_run += end - begin) >= cancel_at) cancel = 1;
  return KORCH_KERNEL_OK;
}

int32_t twice_at_the_gate(const korch_kernel_context* context, int64_t begin, int64_t end) {
  ++workers_at_the_gate;
  while (!gate_is_open) std::this_thread::yield();
  --workers_at_the_gate;
  return twice(context, begin, end);
}

constexpr uint64_t kBytes = 4 * kCount;
const int64_t kDims[] = {kCount};
const korch_tensor_info kInputs[] = {{"x", "f32", 1, kDims, kBytes}};
const korch_tensor_info kOutputs[] = {{"y", "f32", 1, kDims, kBytes}};
const char* const kStepNames[] = {"first", "one chunk", "last"};

CheckRecord record_of_nothing() {
  CheckRecord record{};
  record.magic = kCheckMagic;
  record.format = kExecutableFormat;
  record.record_bytes = sizeof record;
  record.record_sum = checksum(&record, sizeof record);
  return record;
}

}  // namespace

// In one piece, as in an executable.
struct Network {
  Network() {
    model.size_bytes = sizeof(Network);
    model.input_count = model.output_count = model.shape_plan_count = 1;
    model.shape_plans = &shape_plan;
    model.output_ranks = &output_rank;
    shape_plan.output_dims = &output_dims;
    shape_plan.program.steps = steps;
    shape_plan.program.step_count = kStepCount;
    shape_plan.program.threads = 2;
    shape_plan.program.arena_bytes = 2 * kBytes;
    for (int s = 0; s < kStepCount; ++s) {
      steps[s].phases = &phases[s];
      steps[s].phase_count = 1;
      steps[s].args = args[s];
      steps[s].arg_count = 2;
      steps[s].name = names[s];
    }
  }
  Model model;
  ShapePlan shape_plan;
  const Phase phases[kStepCount] = {
      {twice_at_the_gate, kCount, kGrain}, {twice, kCount, kCount}, {twice, kCount, kGrain}};
  const BufferRef args[kStepCount][2] = {{{kInput, 0, 0}, {kArena, 0, 0}},
                                         {{kArena, 0, 0}, {kArena, 0, kBytes}},
                                         {{kArena, 0, kBytes}, {kOutput, 0, 0}}};
  const char names[kStepCount][16] = {"first", "one chunk", "last"};
  Step steps[kStepCount];
  const int64_t dims[1] = {kCount};
  const Ref<int64_t> output_dims = dims;
  const uint32_t output_rank = 1;
};

}  // namespace korch::rt

extern "C" {
korch::rt::Network c_api_network;
extern const korch::rt::Model korch_model __attribute__((alias("c_api_network")));
extern const korch_model_info korch_info = {KORCH_API_VERSION,
                                            "x86-64",
                                            2,
                                            1,
                                            1,
                                            korch::rt::kInputs,
                                            korch::rt::kOutputs,
                                            korch::rt::kStepCount,
                                            korch::rt::kStepNames,
                                            2 * korch::rt::kBytes,
                                            0,
                                            0,
                                            0,
                                            nullptr,
                                            nullptr,
                                            0,
                                            nullptr};
}
const korch::rt::CheckRecord korch_check_record = korch::rt::record_of_nothing();
