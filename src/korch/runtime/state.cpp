#include "korch/runtime/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <new>

namespace korch::rt {
namespace {

constexpr uint64_t kMagic = 0x545448435243524f;
constexpr uint64_t kLineBytes = 64, kLargeBytes = 2 << 20;

uint64_t whole_lines(uint64_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

// Of a buffer; the two of what is made anew lie behind one another.
uint64_t buffer_bytes(const korch_model_info& info, const korch_state_info& state) {
  const korch_tensor_info& tensor = state.axis >= 0 ? info.outputs[state.output] : info.inputs[state.input];
  return whole_lines(tensor.size_bytes);
}

// Rows of a tensor that grows, at each place of the axes before that along which it does.
struct Rows {
  uint64_t outer = 1, capacity = 1, row_bytes = 1;
};
Rows rows_of(const korch_model_info& info, const korch_state_info& state) {
  const korch_tensor_info& tensor = info.outputs[state.output];
  Rows rows;
  rows.capacity = static_cast<uint64_t>(tensor.dims[state.axis]);
  for (int32_t axis = 0; axis < state.axis; ++axis) rows.outer *= static_cast<uint64_t>(tensor.dims[axis]);
  const uint64_t all = rows.outer * rows.capacity;
  rows.row_bytes = all == 0 ? 0 : tensor.size_bytes / all;
  return rows;
}

bool is_open(const korch_model_info& info, uint32_t input, uint32_t axis) {
  for (uint32_t a = 0; a < info.open_axis_count; ++a)
    if (info.open_axes[a].input == input && info.open_axes[a].axis == axis) return true;
  return false;
}

// Others that grow in place are as long as they may be from the beginning: inputs of the network say how much
// of that counts.
bool has_length(const korch_model_info& info, const korch_state_info& state) {
  return state.axis >= 0 && is_open(info, state.input, static_cast<uint32_t>(state.axis));
}

}  // namespace

korch_status create_state(const korch_model_info& info, uint64_t executable, korch_state** state) {
  *state = nullptr;
  uint64_t bytes = 0, extents = 0;
  for (uint32_t s = 0; s < info.state_count; ++s) {
    bytes += buffer_bytes(info, info.states[s]) * (info.states[s].axis >= 0 ? 1 : 2);
    extents += info.inputs[info.states[s].input].rank;
  }
  void* room = malloc(sizeof(korch_state));
  void* kept = calloc(1, info.state_count * sizeof(korch_kept) + extents * sizeof(int64_t));
  // Zeros, whose pages appear when they are written.
  void* memory =
      bytes == 0 ? nullptr : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == nullptr || kept == nullptr || memory == MAP_FAILED) {
    if (memory != nullptr && memory != MAP_FAILED) munmap(memory, bytes);
    free(kept);
    free(room);
    return KORCH_OUT_OF_MEMORY;
  }
  if (bytes >= kLargeBytes) madvise(memory, bytes, MADV_HUGEPAGE);
  auto* made = new (room) korch_state{kMagic, executable, {false}, memory, bytes, info.state_count, {}};
  made->kept = static_cast<korch_kept*>(kept);
  auto* at = static_cast<unsigned char*>(memory);
  auto* dims = reinterpret_cast<int64_t*>(made->kept + info.state_count);
  for (uint32_t s = 0; s < info.state_count; ++s) {
    const uint64_t size = buffer_bytes(info, info.states[s]);
    made->kept[s] = {at, info.states[s].axis >= 0 ? at : at + size, dims, true};
    at += info.states[s].axis >= 0 ? size : 2 * size;
    dims += info.inputs[info.states[s].input].rank;
  }
  reset_state(info, made);
  *state = made;
  return KORCH_OK;
}

bool is_state_of(const korch_state* state, uint64_t executable) {
  return state->magic == kMagic && state->executable == executable;
}

void destroy_state(korch_state* state) {
  if (state->memory != nullptr) munmap(state->memory, state->memory_bytes);
  free(state->kept);
  state->magic = 0;
  state->~korch_state();
  free(state);
}

void reset_state(const korch_model_info& info, korch_state* state) {
  for (uint32_t s = 0; s < state->count; ++s) {
    const korch_state_info& pair = info.states[s];
    korch_kept& kept = state->kept[s];
    const korch_tensor_info& input = info.inputs[pair.input];
    for (uint32_t axis = 0; axis < input.rank; ++axis) kept.dims[axis] = input.dims[axis];
    if (has_length(info, pair))
      kept.dims[pair.axis] = 0;
    else if (!kept.is_empty)
      memset(kept.now, 0, input.size_bytes);
    kept.is_empty = true;
  }
}

void copy_state(const korch_model_info& info, korch_state* to, const korch_state* from) {
  for (uint32_t s = 0; s < to->count; ++s) {
    const korch_state_info& pair = info.states[s];
    korch_kept &target = to->kept[s], &source = from->kept[s];
    memcpy(target.dims, source.dims, info.inputs[pair.input].rank * sizeof(int64_t));
    target.is_empty = source.is_empty;
    if (pair.axis < 0) {
      memcpy(target.now, source.now, info.inputs[pair.input].size_bytes);
      continue;
    }
    const Rows rows = rows_of(info, pair);
    const uint64_t bytes = static_cast<uint64_t>(source.dims[pair.axis]) * rows.row_bytes;
    for (uint64_t o = 0; o < rows.outer && bytes > 0; ++o) {
      const uint64_t begin = o * rows.capacity * rows.row_bytes;
      memcpy(target.now + begin, source.now + begin, bytes);
    }
  }
}

int64_t length_of(const korch_model_info& info, const korch_state& state) {
  int64_t length = 0;
  for (uint32_t s = 0; s < state.count; ++s)
    if (has_length(info, info.states[s]) && state.kept[s].dims[info.states[s].axis] > length)
      length = state.kept[s].dims[info.states[s].axis];
  return length;
}

bool rewind_state(const korch_model_info& info, korch_state* state, int64_t length) {
  if (length < 0 || length > length_of(info, *state)) return false;
  for (uint32_t s = 0; s < state->count; ++s)
    if (info.states[s].axis < 0) return false;
  if (length == 0) {
    reset_state(info, state);
    return true;
  }
  for (uint32_t s = 0; s < state->count; ++s) {
    int64_t& own = state->kept[s].dims[info.states[s].axis];
    if (has_length(info, info.states[s]) && own > length) own = length;
  }
  return true;
}

bool state_dims(const korch_model_info& info, const korch_state& state, uint32_t number, const int64_t* given,
                int64_t* dims, char* message, uint64_t message_bytes) {
  const korch_state_info& pair = info.states[number];
  const korch_tensor_info& input = info.inputs[pair.input];
  const korch_kept& kept = state.kept[number];
  for (uint32_t axis = 0; axis < input.rank; ++axis) {
    const bool is_told =
        !kept.is_empty || static_cast<int32_t>(axis) == pair.axis || !is_open(info, pair.input, axis);
    dims[axis] = is_told ? kept.dims[axis] : given != nullptr ? given[axis] : -1;
    if (given == nullptr || given[axis] == dims[axis]) continue;
    snprintf(message, message_bytes, "input '%s', axis %u: its state has %lld, not %lld", input.name, axis,
             static_cast<long long>(dims[axis]), static_cast<long long>(given[axis]));
    return false;
  }
  return true;
}

void keep_dims(const korch_model_info& info, korch_state* state, uint32_t number, const int64_t* dims) {
  korch_kept& kept = state->kept[number];
  memcpy(kept.dims, dims, info.inputs[info.states[number].input].rank * sizeof(int64_t));
  kept.is_empty = false;
  unsigned char* const before = kept.now;
  kept.now = kept.next;
  kept.next = before;
}

const korch_state_info* state_of_input(const korch_model_info& info, uint32_t input) {
  for (uint32_t s = 0; s < info.state_count; ++s)
    if (info.states[s].input == input) return info.states + s;
  return nullptr;
}

const korch_state_info* state_of_output(const korch_model_info& info, uint32_t output) {
  for (uint32_t s = 0; s < info.state_count; ++s)
    if (info.states[s].output == output) return info.states + s;
  return nullptr;
}

}  // namespace korch::rt
