// An executable as Python calls it: from any number of threads, on the arrays that they bring.
#pragma once

#include <nanobind/nanobind.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "array_view.h"
#include "korch/package/loaded.h"

namespace korch::python {

// Instances over the same code and weights. A caller takes one and gives it back; who finds none waits, and
// is served in the order of coming: a thread that calls again and again, and has the GIL when it gives one
// back, overtakes nobody.
class InstancePool {
 public:
  InstancePool(std::shared_ptr<const LoadedCode> code, int threads, int most);

  // With the GIL, which is released while it waits; throws what a signal's handler does (Ctrl-C), and
  // Error{usage} when the pool is closed or Python ends.
  std::unique_ptr<LoadedExecutable> take();
  void give_back(std::unique_ptr<LoadedExecutable> instance);  // of this pool
  // No more calls; those that run end by themselves.
  void close();
  bool is_of_this_process() const;

 private:
  void hand_on(std::unique_ptr<LoadedExecutable> instance);  // with the mutex

  const std::shared_ptr<const LoadedCode> code_;
  const int threads_;
  const pid_t process_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<LoadedExecutable>> idle_;     // none while anybody waits
  std::deque<std::unique_ptr<LoadedExecutable>*> waiting_;  // where those who wait want theirs
  int may_make_;
  bool closed_ = false;
};

class Network {
 public:
  // Throws as LoadedExecutable; `instances` calls at most run at once.
  Network(const std::string& path, int threads, int instances);

  const LoadedCode& code() const { return *code_; }
  const std::string& plan_json() const { return code_->info.plan_json; }
  std::string explain(int kernel) const;
  // `step_us`: one per step, or none. Throws as read_sources.
  std::string explain_html(const std::vector<double>& step_us) const;

  // Arrays in the order of the executable's inputs and outputs; `outputs` None: new ones, which are returned.
  // With a state, which may be null, without the inputs and outputs that it has.
  nanobind::list run(nanobind::handle inputs, nanobind::handle outputs, LoadedState* state);
  // Microseconds of every step in one run.
  std::vector<double> profile(nanobind::handle inputs);
  std::unique_ptr<LoadedState> make_state() const { return std::make_unique<LoadedState>(code_); }
  void close();

 private:
  nanobind::list run(nanobind::handle inputs, nanobind::handle outputs, double* step_us, LoadedState* state);
  std::shared_ptr<InstancePool> pool_here();

  std::shared_ptr<const LoadedCode> code_;
  int threads_, instances_;
  std::shared_ptr<InstancePool> pool_;
  bool closed_ = false;
};

// Waits until no call runs, and lets none begin any more: a thread that would come back from one after Python
// has ended could not. With the GIL.
void end_calls();

}  // namespace korch::python
