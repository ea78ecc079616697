// An executable loaded into this process: its C interface with checks, for `korch run`, `bench` and `verify`,
// and for Python.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "korch/device/device.h"
#include "korch/package/library.h"
#include "korch/plan/plan.h"
#include "korch/runtime/korch.h"
#include "korch/tensor/host_tensor.h"

namespace korch {

// Code and weights, which every instance made of them shares.
struct LoadedCode {
  // Of a file that was read, and so checked, before. Error{io} when it is not for this machine or cannot be
  // loaded.
  explicit LoadedCode(ExecutableInfo executable);

  bool is_for_gpu() const { return compute_capability(info.code) != 0; }

  ExecutableInfo info;
  Library library;
  const korch_model_info* model = nullptr;
  std::vector<PlanIo> inputs, outputs;
  std::vector<OpenDimension> dimensions;
  std::vector<StatePair> states;
  decltype(&korch_create) create = nullptr;
  decltype(&korch_create_with) create_with = nullptr;  // since version 5
  decltype(&korch_profile) profile = nullptr;
  decltype(&korch_run_with) run_with = nullptr;          // since version 5
  decltype(&korch_threads) threads = nullptr;            // since version 6
  decltype(&korch_wait) wait = nullptr;                  // since version 7
  decltype(&korch_state_create) state_create = nullptr;  // these since version 8
  decltype(&korch_state_reset) state_reset = nullptr;
  decltype(&korch_state_copy) state_copy = nullptr;
  decltype(&korch_state_rewind) state_rewind = nullptr;
  decltype(&korch_state_length) state_length = nullptr;
  decltype(&korch_state_free) state_free = nullptr;
  decltype(&korch_output_dims) output_dims = nullptr;
  decltype(&korch_last_error) last_error = nullptr;
  decltype(&korch_status_text) status_text = nullptr;
  decltype(&korch_free) free = nullptr;
};

// What runs leave for the next ones: korch_state. All but the last two throw Error{usage} while a run has it.
class LoadedState {
 public:
  // Error{usage} where the executable keeps nothing.
  explicit LoadedState(std::shared_ptr<const LoadedCode> code);
  ~LoadedState();  // outside of a run
  LoadedState(const LoadedState&) = delete;
  LoadedState& operator=(const LoadedState&) = delete;

  void reset();
  void copy_from(LoadedState& other);
  void rewind(int64_t length);
  int64_t length() const;
  korch_state* get() const { return state_; }

 private:
  void require(korch_status status, const std::string& what) const;

  std::shared_ptr<const LoadedCode> code_;
  korch_state* state_ = nullptr;
};

// One instance: serves one caller at a time.
class LoadedExecutable {
 public:
  // `threads` 0: as compiled. `schedule`: instead of the one that it was compiled with. Error{io} when it is
  // not ours, damaged, not for this machine or cannot be loaded; Error{resource} when memory or threads are
  // short.
  explicit LoadedExecutable(const std::string& path, int threads = 0,
                            std::optional<PlanSchedule> schedule = {});
  explicit LoadedExecutable(ExecutableInfo info, int threads = 0, std::optional<PlanSchedule> schedule = {});
  explicit LoadedExecutable(std::shared_ptr<const LoadedCode> code, int threads = 0,
                            std::optional<PlanSchedule> schedule = {});
  ~LoadedExecutable();
  LoadedExecutable(const LoadedExecutable&) = delete;
  LoadedExecutable& operator=(const LoadedExecutable&) = delete;

  const ExecutableInfo& info() const { return code_->info; }
  const korch_model_info& model() const { return *code_->model; }
  const std::vector<PlanIo>& inputs() const { return code_->inputs; }
  const std::vector<PlanIo>& outputs() const { return code_->outputs; }
  // The input's shape, with the given extents on open axes; its bounds where the rank is another.
  Shape shape_within(int input, const Shape& given) const;
  const std::vector<OpenDimension>& dimensions() const { return code_->dimensions; }

  // Inputs of extents that the dimensions allow; outputs of the extents that they have. Error{invalid} when
  // inputs do not match in number, dtype or shape, or a gather's index leaves its axis.
  std::vector<HostTensor> run(const std::vector<HostTensor>& inputs);
  std::vector<HostTensor> allocate_outputs() const;
  // As the last run left it.
  Shape output_shape(size_t output) const;
  // Without allocating; `outputs` as allocate_outputs gives them, at their bounds.
  void run_into(const std::vector<HostTensor>& inputs, std::vector<HostTensor>& outputs);
  // Duration of every step in microseconds; steps are the plan's, then copies of outputs if there are any.
  std::vector<double> profile(const std::vector<HostTensor>& inputs, std::vector<HostTensor>& outputs);
  // Workers of a run: fewer than asked for where the system gave no more.
  int threads() const;
  // As run_into; the slices that each worker ran, in no order. Error{usage} for executables of before that.
  std::vector<korch_slices> run_by_slices(const std::vector<HostTensor>& inputs,
                                          std::vector<HostTensor>& outputs);
  // `observe(step, args)` after each step: the addresses of its inputs, constants, outputs, temporaries. What
  // it throws is thrown on after the run.
  using Observer = std::function<void(int step, void* const* args)>;
  void run_observed(const std::vector<HostTensor>& inputs, std::vector<HostTensor>& outputs,
                    const Observer& observe);
  // On the caller's buffers, as korch_run wants them, at their bounds; `step_us`, if any, receives what
  // profile() gives.
  // `input_dims`: where dimensions are open, the extents of the inputs (korch_run_options).
  // `state`: in place of its inputs and outputs.
  void run_on(const void* const* inputs, void* const* outputs, double* step_us = nullptr,
              const int64_t* const* input_dims = nullptr, korch_state* state = nullptr);
  // On addresses in the memory of the executable's GPU, to the end of the run. Error{unsupported} where
  // extents are open.
  void run_on_gpu(const void* const* inputs, void* const* outputs);

 private:
  [[noreturn]] void fail(korch_status status) const;
  void check(const std::vector<HostTensor>& inputs, const std::vector<HostTensor>& outputs) const;
  void run_checked(const std::vector<HostTensor>& inputs, std::vector<HostTensor>& outputs,
                   const korch_run_options& options);
  void run_raw(const void* const* inputs, void* const* outputs, korch_run_options options);

  std::shared_ptr<const LoadedCode> code_;
  korch_instance* instance_ = nullptr;
};

}  // namespace korch
