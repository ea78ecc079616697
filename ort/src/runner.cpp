#include "runner.h"

#include <string_view>

namespace korch::ort {
namespace {

// What is for a GPU takes no threads of its caller's.
korch_options options_of(const korch_model_info& model, korch_parallel parallel, void* user) {
  korch_options options{};
  options.struct_size = sizeof options;
  if (std::string_view(model.isa).starts_with("sm_")) return options;
  options.parallel = parallel;
  options.parallel_user = user;
  return options;
}

}  // namespace

Runner::Seat::Seat(const Executable& executable)
    : instance(executable, options_of(
                               executable.model(),
                               [](void* user, int32_t tasks, void (*task)(void*, int32_t), void* arg) {
                                 auto* seat = static_cast<Seat*>(user);
                                 seat->parallel(seat->user, tasks, task, arg);
                               },
                               this)) {}

std::unique_ptr<Runner::Seat> Runner::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Seat> seat = std::move(free_.back());
      free_.pop_back();
      return seat;
    }
  }
  return std::make_unique<Seat>(executable_);
}

void Runner::run(const void* const* inputs, void* const* outputs, korch_parallel parallel, void* user) {
  std::unique_ptr<Seat> seat = take();
  seat->parallel = parallel;
  seat->user = user;
  const auto give_back = [&] {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(seat));
  };
  try {
    seat->instance.run(inputs, outputs);
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
}

}  // namespace korch::ort
