// A run with a state: the state's buffers and extents in the places of what the caller leaves out. Without
// one, what grows does so in a buffer of the instance, into and out of which it is copied.
#pragma once

#include "korch/runtime/state.h"

namespace korch::rt {

class StateRun {
 public:
  // `info` must outlive it. Null when there is no memory.
  static StateRun* create(const korch_model_info* info);
  static void destroy(StateRun* run);

  // Takes the state, which must be of the executable with this number. Unless the result is KORCH_OK, nothing
  // is taken, and `message` has a sentence.
  korch_status begin(korch_state* state, uint64_t executable, const void* const* inputs, void* const* outputs,
                     const int64_t* const* input_dims, char* message, uint64_t message_bytes);
  // Without a state.
  korch_status begin_alone(const void* const* inputs, void* const* outputs, const int64_t* const* input_dims);
  // Once the extents are known to be right.
  void load();
  // `dims_of(output, dims)`: the extents of an output after a run that was right; null: it was not. Gives the
  // state back.
  void end(void (*dims_of)(const void* user, uint32_t output, int64_t* dims), const void* user);

  // Whether a state has this input of the run.
  bool is_kept(uint32_t input) const { return state_ != nullptr && state_of_input(*info_, input) != nullptr; }
  // Whether it is in a buffer where runs append to it.
  bool grows(const korch_state_info* state) const { return runs_ && state != nullptr && state->axis >= 0; }
  const void* const* inputs() const { return inputs_; }
  void* const* outputs() const { return outputs_; }
  const int64_t* const* input_dims() const { return dims_; }

 private:
  explicit StateRun(const korch_model_info* info) : info_(info) {}
  bool allocate();
  void take_arguments(const void* const* inputs, void* const* outputs, const int64_t* const* input_dims);

  const korch_model_info* info_;
  bool runs_ = false;
  korch_state* state_ = nullptr;  // the caller's, of the run
  korch_state* own_ = nullptr;    // the instance's, for runs without one
  const void** inputs_ = nullptr;
  void** outputs_ = nullptr;
  const int64_t** dims_ = nullptr;  // of each input
  const void** from_ = nullptr;     // of each state, where a run without one has them
  void** to_ = nullptr;
  int64_t* extents_ = nullptr;  // of each state's input, then room for those of any output
  int64_t* room_ = nullptr;
};

}  // namespace korch::rt
