// What runs leave for the next one (korch_state in korch.h): tensors that grow in place, and those that each
// run makes anew, of which there are two buffers.
#pragma once

#include <sys/types.h>

#include <atomic>

#include "korch/runtime/model.h"

// One of korch_model_info::states.
struct korch_kept {
  unsigned char* now;   // what the next run reads
  unsigned char* next;  // what it writes: the same where it grows
  int64_t* dims;        // of the input
  bool is_empty;        // nothing is known of its open axes
};

struct korch_state {
  uint64_t magic;
  uint64_t executable;  // CheckRecord::record_sum
  std::atomic<bool> busy;
  void* memory;
  uint64_t memory_bytes;
  uint32_t count;
  korch_kept* kept;
};

namespace korch::rt {

// Of the executable with this `info`.
korch_status create_state(const korch_model_info& info, uint64_t executable, korch_state** state);
bool is_state_of(const korch_state* state, uint64_t executable);
void destroy_state(korch_state* state);
void reset_state(const korch_model_info& info, korch_state* state);
void copy_state(const korch_model_info& info, korch_state* to, const korch_state* from);
// False when it does not go back to that.
bool rewind_state(const korch_model_info& info, korch_state* state, int64_t length);
int64_t length_of(const korch_model_info& info, const korch_state& state);

// What the input of a state is for a run: extents, -1 for those that others must tell. `given`: what the
// caller says of it, or null. False, with a sentence in `message`, where that contradicts the state.
bool state_dims(const korch_model_info& info, const korch_state& state, uint32_t number, const int64_t* given,
                int64_t* dims, char* message, uint64_t message_bytes);
// After a run: what its output is.
void keep_dims(const korch_model_info& info, korch_state* state, uint32_t number, const int64_t* dims);

// The state that an input, or an output, is of; null: none.
const korch_state_info* state_of_input(const korch_model_info& info, uint32_t input);
const korch_state_info* state_of_output(const korch_model_info& info, uint32_t output);

}  // namespace korch::rt
