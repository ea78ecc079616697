#include "korch/runtime/state_run.h"

#include <stdio.h>
#include <stdlib.h>

#include <new>

#include "korch/runtime/packed.h"

namespace korch::rt {
namespace {

uint64_t elements_of(const korch_tensor_info& tensor) {
  uint64_t elements = 1;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) elements *= static_cast<uint64_t>(tensor.dims[axis]);
  return elements;
}

}  // namespace

StateRun* StateRun::create(const korch_model_info* info) {
  void* memory = malloc(sizeof(StateRun));
  if (memory == nullptr) return nullptr;
  auto* made = new (memory) StateRun(info);
  if (made->allocate()) return made;
  destroy(made);
  return nullptr;
}

void StateRun::destroy(StateRun* run) {
  if (run == nullptr) return;
  free(run->inputs_);
  free(run->outputs_);
  free(run->dims_);
  free(run->extents_);
  free(run->from_);
  free(run->to_);
  if (run->own_ != nullptr) destroy_state(run->own_);
  run->~StateRun();
  free(run);
}

bool StateRun::allocate() {
  uint64_t extents = 0, rank = 0;
  for (uint32_t s = 0; s < info_->state_count; ++s) extents += info_->inputs[info_->states[s].input].rank;
  for (uint32_t o = 0; o < info_->output_count; ++o)
    if (info_->outputs[o].rank > rank) rank = info_->outputs[o].rank;
  inputs_ = static_cast<const void**>(calloc(info_->input_count + 1, sizeof(void*)));
  outputs_ = static_cast<void**>(calloc(info_->output_count + 1, sizeof(void*)));
  dims_ = static_cast<const int64_t**>(calloc(info_->input_count + 1, sizeof(int64_t*)));
  extents_ = static_cast<int64_t*>(calloc(extents + rank + 1, sizeof(int64_t)));
  from_ = static_cast<const void**>(calloc(info_->state_count + 1, sizeof(void*)));
  to_ = static_cast<void**>(calloc(info_->state_count + 1, sizeof(void*)));
  if (extents_ != nullptr) room_ = extents_ + extents;
  return inputs_ != nullptr && outputs_ != nullptr && dims_ != nullptr && extents_ != nullptr &&
         from_ != nullptr && to_ != nullptr;
}

void StateRun::take_arguments(const void* const* inputs, void* const* outputs,
                              const int64_t* const* input_dims) {
  for (uint32_t i = 0; i < info_->input_count; ++i) {
    inputs_[i] = inputs == nullptr ? nullptr : inputs[i];
    dims_[i] = input_dims == nullptr ? nullptr : input_dims[i];
  }
  for (uint32_t o = 0; o < info_->output_count; ++o) outputs_[o] = outputs == nullptr ? nullptr : outputs[o];
}

korch_status StateRun::begin(korch_state* state, uint64_t executable, const void* const* inputs,
                             void* const* outputs, const int64_t* const* input_dims, char* message,
                             uint64_t message_bytes) {
  if (!is_state_of(state, executable)) {
    snprintf(message, message_bytes, "the state is none of this executable");
    return KORCH_INVALID_ARGUMENT;
  }
  if (state->busy.exchange(true, std::memory_order_acquire)) {
    snprintf(message, message_bytes, "another run has the state");
    return KORCH_BUSY;
  }
  take_arguments(inputs, outputs, input_dims);
  int64_t* dims = extents_;
  for (uint32_t s = 0; s < info_->state_count; ++s) {
    const korch_state_info& pair = info_->states[s];
    inputs_[pair.input] = state->kept[s].now;
    outputs_[pair.output] = state->kept[s].next;
    if (!state_dims(*info_, *state, s, dims_[pair.input], dims, message, message_bytes)) {
      state->busy.store(false, std::memory_order_release);
      return KORCH_INVALID_ARGUMENT;
    }
    dims_[pair.input] = dims;
    dims += info_->inputs[pair.input].rank;
  }
  state_ = state;
  runs_ = true;
  return KORCH_OK;
}

korch_status StateRun::begin_alone(const void* const* inputs, void* const* outputs,
                                   const int64_t* const* input_dims) {
  bool any = false;
  for (uint32_t s = 0; s < info_->state_count; ++s) any = any || info_->states[s].axis >= 0;
  if (any && own_ == nullptr) {
    const korch_status made = create_state(*info_, 0, &own_);
    if (made != KORCH_OK) return made;
  }
  take_arguments(inputs, outputs, input_dims);
  for (uint32_t s = 0; s < info_->state_count; ++s) {
    const korch_state_info& pair = info_->states[s];
    if (pair.axis < 0) continue;
    from_[s] = inputs_[pair.input];
    to_[s] = outputs_[pair.output];
    inputs_[pair.input] = outputs_[pair.output] = own_->kept[s].now;
  }
  runs_ = any;
  return KORCH_OK;
}

void StateRun::load() {
  for (uint32_t s = 0; runs_ && state_ == nullptr && s < info_->state_count; ++s) {
    const korch_state_info& pair = info_->states[s];
    const korch_tensor_info &input = info_->inputs[pair.input], &output = info_->outputs[pair.output];
    const int64_t* const dims = dims_[pair.input] != nullptr ? dims_[pair.input] : input.dims;
    if (pair.axis >= 0 && elements_of(input) > 0)
      unpack(own_->kept[s].now, from_[s], input.size_bytes / elements_of(input), input.rank, output.dims,
             dims);
  }
}

void StateRun::end(void (*dims_of)(const void* user, uint32_t output, int64_t* dims), const void* user) {
  if (!runs_) return;
  runs_ = false;
  for (uint32_t s = 0; dims_of != nullptr && s < info_->state_count; ++s) {
    const korch_state_info& pair = info_->states[s];
    const korch_tensor_info& output = info_->outputs[pair.output];
    if (state_ == nullptr && pair.axis < 0) continue;
    dims_of(user, pair.output, room_);
    if (state_ != nullptr)
      keep_dims(*info_, state_, s, room_);
    else if (elements_of(output) > 0)
      gather(to_[s], own_->kept[s].now, output.size_bytes / elements_of(output), output.rank, output.dims,
             room_);
  }
  if (state_ == nullptr) return;
  korch_state* const state = state_;
  state_ = nullptr;
  state->busy.store(false, std::memory_order_release);
}

}  // namespace korch::rt
