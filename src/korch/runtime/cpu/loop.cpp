#include <stdlib.h>
#include <string.h>

#include "korch/runtime/library.h"

namespace {

constexpr int64_t kMostSteps = int64_t{1} << 20;  // ir/loops.h

// The call's parameters, and room for what must be put aside, behind one another.
struct Loop {
  const int64_t* params;
  unsigned char* aside;
};

void* create_loop(const int64_t* params, uint32_t param_count, const float*, uint32_t,
                  uint64_t* scratch_bytes, int32_t* code) {
  *code = KORCH_KERNEL_LIBRARY_FAILED;
  if (param_count < 2) return nullptr;
  uint64_t bytes = 0;
  for (uint32_t i = 3; i < param_count; ++i) bytes += static_cast<uint64_t>(params[i]);
  *code = KORCH_KERNEL_OUT_OF_MEMORY;
  auto* loop = static_cast<Loop*>(malloc(sizeof(Loop) + bytes));
  if (loop == nullptr) return nullptr;
  *code = KORCH_KERNEL_OK;
  *scratch_bytes = 0;
  loop->params = params;
  loop->aside = reinterpret_cast<unsigned char*>(loop + 1);
  return loop;
}

struct Call {
  void* const* args;
  const int64_t* operands;  // argument and bytes of each
  void* const* results;

  const void* operand(int64_t i) const { return args[operands[2 * i]]; }
  size_t bytes(int64_t i) const { return static_cast<size_t>(operands[2 * i + 1]); }
};

Call call_of(const korch_kernel_context* context, int64_t fixed) {
  const int64_t* params = static_cast<const Loop*>(context->state)->params;
  const int64_t* operands = params + fixed;
  return {context->args, operands, context->args + operands[2 * params[0]]};
}

void copy(void* to, const void* from, size_t bytes) {
  if (to != from) memmove(to, from, bytes);
}

bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return first < second + b_bytes && second < first + a_bytes;
}

}  // namespace

extern "C" {

const korch::rt::LibraryOps korch_loop_ops = {create_loop, free};

int32_t korch_loop_begin_run(const korch_kernel_context* context, int64_t begin, int64_t end) {
  if (begin >= end) return KORCH_KERNEL_OK;
  const int64_t operands = static_cast<const Loop*>(context->state)->params[0];
  const Call call = call_of(context, 2);
  int64_t count = 0;
  memcpy(&count, call.operand(0), sizeof(count));
  const bool goes_on = *static_cast<const unsigned char*>(call.operand(1)) != 0 && count > 0;
  for (int64_t i = 2; i < operands; ++i) copy(call.results[i], call.operand(i), call.bytes(i));
  memset(call.results[0], 0, sizeof(count));
  *static_cast<unsigned char*>(call.results[1]) = goes_on;
  return KORCH_KERNEL_OK;
}

// Results may be where LoopBegin's are, and so may operands be: what an earlier copy would change is put
// aside.
int32_t korch_loop_end_run(const korch_kernel_context* context, int64_t begin, int64_t end) {
  if (begin >= end) return KORCH_KERNEL_OK;
  const Loop& loop = *static_cast<const Loop*>(context->state);
  const int64_t operands = loop.params[0], carried = loop.params[2], stacked = (operands - 3 - carried) / 2;
  const Call call = call_of(context, 3);
  int64_t step = 0, count = 0;
  memcpy(&step, call.operand(0), sizeof(step));
  memcpy(&count, call.operand(1), sizeof(count));
  const bool goes_on = *static_cast<const unsigned char*>(call.operand(2)) != 0 && step + 1 < count;

  for (int64_t i = 0; i < stacked; ++i) {
    const int64_t whole = 3 + carried + i, row = whole + stacked;
    void* const result = call.results[2 + carried + i];
    copy(result, call.operand(whole), call.bytes(whole));
    const size_t at = static_cast<size_t>(step) * call.bytes(row);
    if (step >= 0 && at + call.bytes(row) <= call.bytes(whole))
      memcpy(static_cast<unsigned char*>(result) + at, call.operand(row), call.bytes(row));
  }
  const auto is_changed = [&](int64_t i) {
    for (int64_t j = 0; j < i; ++j)
      if (overlap(call.results[2 + j], call.bytes(3 + j), call.operand(3 + i), call.bytes(3 + i)))
        return true;
    return false;
  };
  unsigned char* aside = loop.aside;
  for (int64_t i = 0; i < carried; ++i) {
    if (!is_changed(i)) continue;
    memcpy(aside, call.operand(3 + i), call.bytes(3 + i));
    aside += call.bytes(3 + i);
  }
  aside = loop.aside;
  for (int64_t i = 0; i < carried; ++i) {
    const bool changed = is_changed(i);
    copy(call.results[2 + i], changed ? aside : call.operand(3 + i), call.bytes(3 + i));
    if (changed) aside += call.bytes(3 + i);
  }
  ++step;
  memcpy(call.results[0], &step, sizeof(step));
  *static_cast<unsigned char*>(call.results[1]) = goes_on;
  return goes_on && step == kMostSteps ? KORCH_KERNEL_LOOP_WITHOUT_END : KORCH_KERNEL_OK;
}

}  // extern "C"
