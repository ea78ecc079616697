#include <stdlib.h>
#include <string.h>

#include "korch/runtime/library.h"

namespace {

// The call's parameters (library.h).
struct Append {
  int64_t outer;                                     // places of the axes before the one that grows
  int64_t row_bytes;                                 // of a row there
  int64_t old_rows, new_rows, capacity;              // extents of the axis
  int64_t old, added, length, count, place, result;  // arguments
};

void* create_append(const int64_t* params, uint32_t param_count, const float*, uint32_t,
                    uint64_t* scratch_bytes, int32_t* code) {
  *code = KORCH_KERNEL_LIBRARY_FAILED;
  if (param_count != sizeof(Append) / sizeof(int64_t)) return nullptr;
  *code = KORCH_KERNEL_OUT_OF_MEMORY;
  void* append = malloc(sizeof(Append));
  if (append == nullptr) return nullptr;
  *code = KORCH_KERNEL_OK;
  *scratch_bytes = 0;
  memcpy(append, params, sizeof(Append));
  return append;
}

int64_t number_at(const void* address) {
  int64_t number = 0;
  memcpy(&number, address, sizeof(number));
  return number;
}

}  // namespace

extern "C" {

const korch::rt::LibraryOps korch_append_ops = {create_append, free};

// A slice is one place of the outer axes. Where old and result are one buffer, the old rows lie where they
// belong.
int32_t korch_append_run(const korch_kernel_context* context, int64_t begin, int64_t end) {
  const Append& a = *static_cast<const Append*>(context->state);
  void* const* args = context->args;
  const int64_t length = number_at(args[a.length]), count = number_at(args[a.count]),
                place = number_at(args[a.place]);
  if (length < 0 || length > a.old_rows || count < 0 || count > a.new_rows || place < 0 || place > length ||
      place + count > a.capacity)
    return KORCH_KERNEL_INDEX_OUT_OF_RANGE;
  const auto bytes = [&](int64_t rows) { return static_cast<size_t>(rows * a.row_bytes); };
  const auto* const old = static_cast<const unsigned char*>(args[a.old]);
  const auto* const added = static_cast<const unsigned char*>(args[a.added]);
  auto* const result = static_cast<unsigned char*>(args[a.result]);
  const bool in_place = old == result;
  const int64_t behind = length > place + count ? length : place + count,
                zeros_end = in_place && length + count < a.capacity ? length + count : a.capacity;
  for (int64_t o = begin; o < end; ++o) {
    unsigned char* const to = result + bytes(o * a.capacity);
    if (!in_place) memcpy(to, old + bytes(o * a.old_rows), bytes(length));
    memcpy(to + bytes(place), added + bytes(o * a.new_rows), bytes(count));
    if (zeros_end > behind) memset(to + bytes(behind), 0, bytes(zeros_end - behind));
  }
  return KORCH_KERNEL_OK;
}

}  // extern "C"
