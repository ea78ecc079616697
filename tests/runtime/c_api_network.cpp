#include "c_api_network.h"

#include <thread>

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
const Phase kFirst[] = {{twice_at_the_gate, kCount, kGrain}};
const Phase kOneChunk[] = {{twice, kCount, kCount}};
const Phase kLast[] = {{twice, kCount, kGrain}};
const BufferRef kArgs[][2] = {{{kInput, 0, 0}, {kArena, 0, 0}},
                              {{kArena, 0, 0}, {kArena, 0, kBytes}},
                              {{kArena, 0, kBytes}, {kOutput, 0, 0}}};
const Step kSteps[] = {{kFirst, 1, kArgs[0], 2, nullptr, nullptr, 0, nullptr, 0, "first"},
                       {kOneChunk, 1, kArgs[1], 2, nullptr, nullptr, 0, nullptr, 0, "one chunk"},
                       {kLast, 1, kArgs[2], 2, nullptr, nullptr, 0, nullptr, 0, "last"}};
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
}  // namespace korch::rt

namespace {

const int64_t* const kOutputDims[] = {korch::rt::kOutputs[0].dims};
const korch::rt::Variant kVariants[] = {
    {{korch::rt::kSteps, korch::rt::kStepCount, 2, 2 * korch::rt::kBytes, 0, false},
     0,
     nullptr,
     kOutputDims,
     nullptr,
     0,
     0,
     0}};

}  // namespace

const korch::rt::Model korch_model = {
    kVariants,
    1,
    nullptr,
    korch::rt::kPortable,
    {KORCH_API_VERSION, "x86-64", 2, 1, 1, korch::rt::kInputs, korch::rt::kOutputs, korch::rt::kStepCount,
     korch::rt::kStepNames, 2 * korch::rt::kBytes, 0, 0, 0, nullptr, nullptr},
    nullptr,
    0,
    nullptr,
    0};
const korch::rt::CheckRecord korch_check_record = korch::rt::record_of_nothing();
