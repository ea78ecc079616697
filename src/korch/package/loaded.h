// An executable loaded into this process: its C interface with checks, for `korch run`, `bench` and `verify`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "korch/package/executable.h"
#include "korch/plan/plan.h"
#include "korch/runtime/korch.h"
#include "korch/tensor/host_tensor.h"

namespace korch {

class LoadedExecutable {
 public:
  // `threads` 0: as compiled. Error{io} when it is not ours, damaged, not for this machine or cannot be
  // loaded; Error{resource} when memory or threads are short.
  explicit LoadedExecutable(const std::string& path, int threads = 0);
  // Of a file that was read, and so checked, before.
  explicit LoadedExecutable(ExecutableInfo info, int threads = 0);
  ~LoadedExecutable();
  LoadedExecutable(const LoadedExecutable&) = delete;
  LoadedExecutable& operator=(const LoadedExecutable&) = delete;

  const ExecutableInfo& info() const { return info_; }
  const korch_model_info& model() const { return *model_; }
  const std::vector<PlanIo>& inputs() const { return inputs_; }
  const std::vector<PlanIo>& outputs() const { return outputs_; }

  // Error{invalid} when inputs do not match in number, dtype or shape, or a gather's index leaves its axis.
  std::vector<HostTensor> run(const std::vector<HostTensor>& inputs);
  std::vector<HostTensor> allocate_outputs() const;
  // Without allocating; `outputs` as allocate_outputs gives them.
  void run_into(const std::vector<HostTensor>& inputs, std::vector<HostTensor>& outputs);
  // Duration of every step in microseconds; steps are the plan's, then copies of outputs if there are any.
  std::vector<double> profile(const std::vector<HostTensor>& inputs, std::vector<HostTensor>& outputs);
  // `observe(step, args)` after each step: the addresses of its inputs, constants, outputs, temporaries. What
  // it throws is thrown on after the run.
  using Observer = std::function<void(int step, void* const* args)>;
  void run_observed(const std::vector<HostTensor>& inputs, std::vector<HostTensor>& outputs,
                    const Observer& observe);

 private:
  void check(const std::vector<HostTensor>& inputs, const std::vector<HostTensor>& outputs) const;
  void run_checked(const std::vector<HostTensor>& inputs, std::vector<HostTensor>& outputs, double* step_us,
                   korch_observer observe, void* user);

  ExecutableInfo info_;
  void* handle_ = nullptr;
  const korch_model_info* model_ = nullptr;
  korch_instance* instance_ = nullptr;
  decltype(&korch_profile) profile_ = nullptr;
  decltype(&korch_last_error) last_error_ = nullptr;
  decltype(&korch_status_text) status_text_ = nullptr;
  decltype(&korch_free) free_ = nullptr;
  std::vector<PlanIo> inputs_, outputs_;
};

}  // namespace korch
