// The functions of korch.h for states, over this executable's tables.
#include "korch/runtime/check.h"
#include "korch/runtime/state.h"
#include "korch/runtime/tables.h"

using korch::rt::the_info;

namespace {

bool is_ours(const korch_state* state) {
  return state != nullptr && korch::rt::is_state_of(state, korch_check_record.record_sum);
}

// A state that no run has, as long as this lives.
class Taken {
 public:
  explicit Taken(korch_state* state) : state_(state) {
    if (!is_ours(state))
      status_ = KORCH_INVALID_ARGUMENT;
    else if (state->busy.exchange(true, std::memory_order_acquire))
      status_ = KORCH_BUSY;
  }
  ~Taken() {
    if (status_ == KORCH_OK && state_ != nullptr) state_->busy.store(false, std::memory_order_release);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  korch_status status() const { return status_; }
  void destroy() {
    korch::rt::destroy_state(state_);
    state_ = nullptr;
  }

 private:
  korch_state* state_;
  korch_status status_ = KORCH_OK;
};

}  // namespace

extern "C" {

korch_status korch_state_create(korch_state** state) {
  if (state == nullptr) return KORCH_INVALID_ARGUMENT;
  *state = nullptr;
  if (the_info().state_count == 0) return KORCH_INVALID_ARGUMENT;
  return korch::rt::create_state(the_info(), korch_check_record.record_sum, state);
}

korch_status korch_state_reset(korch_state* state) {
  const Taken taken(state);
  if (taken.status() == KORCH_OK) korch::rt::reset_state(the_info(), state);
  return taken.status();
}

korch_status korch_state_copy(korch_state* to, korch_state* from) {
  if (to == from) return is_ours(to) ? KORCH_OK : KORCH_INVALID_ARGUMENT;
  const Taken target(to), source(from);
  if (target.status() != KORCH_OK) return target.status();
  if (source.status() == KORCH_OK) korch::rt::copy_state(the_info(), to, from);
  return source.status();
}

korch_status korch_state_rewind(korch_state* state, int64_t length) {
  const Taken taken(state);
  if (taken.status() != KORCH_OK) return taken.status();
  return korch::rt::rewind_state(the_info(), state, length) ? KORCH_OK : KORCH_INVALID_ARGUMENT;
}

int64_t korch_state_length(const korch_state* state) {
  return is_ours(state) ? korch::rt::length_of(the_info(), *state) : -1;
}

korch_status korch_state_free(korch_state* state) {
  if (state == nullptr) return KORCH_OK;
  Taken taken(state);
  if (taken.status() == KORCH_OK) taken.destroy();
  return taken.status();
}

}  // extern "C"
