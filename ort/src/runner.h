// Runner: runs one executable for any number of callers at a time, on their threads.
#pragma once

#include <korch/korch.hpp>
#include <memory>
#include <mutex>
#include <vector>

namespace korch::ort {

class Runner {
 public:
  explicit Runner(Executable executable) : executable_(std::move(executable)) {}

  const korch_model_info& model() const { return executable_.model(); }

  // `parallel` runs the tasks of this run, unless it is for a GPU, and may run one after the other. Each
  // caller has an instance of its own meanwhile; they share code and weights, and stay for later callers.
  // Throws RunFailure.
  void run(const void* const* inputs, void* const* outputs, korch_parallel parallel, void* user);

 private:
  // An instance is bound to one function and its argument; those of a run are behind it.
  struct Seat {
    explicit Seat(const Executable& executable);
    korch_parallel parallel = nullptr;
    void* user = nullptr;
    Instance instance;
  };
  std::unique_ptr<Seat> take();

  const Executable executable_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Seat>> free_;
};

}  // namespace korch::ort
