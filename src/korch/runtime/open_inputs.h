// Inputs with open dimensions: a run tells their extents, kernels find the tensors at their bounds.
#pragma once

#include "korch/runtime/model.h"
#include "korch/runtime/state_run.h"

namespace korch::rt {

constexpr int64_t kNotTold = -1;  // an extent that other inputs tell

class OpenInputs {
 public:
  // `model` and `info` must outlive it. Null when there is no memory.
  static OpenInputs* create(const Model* model, const korch_model_info* info);
  static void destroy(OpenInputs* inputs);

  // Reads the extents of this run from `dims`, as in korch_run_options. False, with a sentence in `message`,
  // if the dimensions do not allow them.
  bool read(const int64_t* const* dims, const StateRun& states, char* message, uint64_t message_bytes);
  const int64_t* extents() const { return extents_; }  // of each dimension
  // The inputs for an executor: the caller's buffers, or copies of them within `bounds` of each dimension,
  // then the extents. Elements beyond the extents of a copy are undefined. What grows in a state stays there.
  const void* const* within(const int64_t* bounds, const void* const* inputs, const StateRun& states);

 private:
  OpenInputs(const Model* model, const korch_model_info* info)
      : model_(info),
        rules_(model->extent_rules),
        rule_count_(model->extent_rule_count),
        fitting_(model->fitting),
        fitting_count_(model->fitting_count) {}
  ~OpenInputs();
  bool allocate();
  bool obeys_rules(char* message, uint64_t message_bytes) const;
  bool fits(char* message, uint64_t message_bytes) const;
  bool read_dims(uint32_t input, const int64_t* dims, bool is_of_state, char* message,
                 uint64_t message_bytes);
  const korch_open_axis* open_axis(uint32_t input, uint32_t axis) const;
  const korch_open_axis& first_axis(uint32_t dimension) const;

  const korch_model_info* model_;
  const ExtentRule* rules_;
  uint64_t rule_count_;
  const FittingExtents* fitting_;
  uint64_t fitting_count_;
  const void** pointers_ = nullptr;  // of inputs, then of extents_
  void** copies_ = nullptr;          // per input with open axes
  int64_t* extents_ = nullptr;       // per dimension
  int64_t* dims_ = nullptr;          // room for those of any input, and for their bounds
};

}  // namespace korch::rt
