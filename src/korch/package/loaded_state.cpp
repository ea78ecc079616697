#include <fmt/format.h>

#include "korch/base/error.h"
#include "korch/package/loaded.h"

namespace korch {

LoadedState::LoadedState(std::shared_ptr<const LoadedCode> code) : code_(std::move(code)) {
  if (code_->states.empty())
    throw Error(ErrorKind::usage,
                fmt::format("'{}' keeps nothing from one run to the next: it was compiled without states "
                            "(--state INPUT=OUTPUT)",
                            code_->info.path));
  if (code_->state_create(&state_) != KORCH_OK)
    throw Error(ErrorKind::resource, fmt::format("no memory for a state of '{}'", code_->info.path));
}

LoadedState::~LoadedState() {
  code_->state_free(state_);
}

void LoadedState::require(korch_status status, const std::string& what) const {
  if (status == KORCH_OK) return;
  throw Error(ErrorKind::usage, status == KORCH_BUSY ? "a run has the state" : what);
}

void LoadedState::reset() {
  require(code_->state_reset(state_), "the state cannot be reset");
}

void LoadedState::copy_from(LoadedState& other) {
  require(code_->state_copy(state_, other.state_), "the states are of different executables");
}

void LoadedState::rewind(int64_t length) {
  require(
      code_->state_rewind(state_, length),
      fmt::format("the state goes back to no length of {}: it has {}, and goes back only if runs append to "
                  "all that it holds",
                  length, this->length()));
}

int64_t LoadedState::length() const {
  return code_->state_length(state_);
}

}  // namespace korch
