#include "korch/runtime/open_inputs.h"

#include <stdio.h>
#include <stdlib.h>

#include <new>

#include "korch/runtime/packed.h"

namespace korch::rt {

OpenInputs* OpenInputs::create(const Model* model, const korch_model_info* info) {
  void* memory = malloc(sizeof(OpenInputs));
  if (memory == nullptr) return nullptr;
  auto* made = new (memory) OpenInputs(model, info);
  if (made->allocate()) return made;
  destroy(made);
  return nullptr;
}

void OpenInputs::destroy(OpenInputs* inputs) {
  if (inputs == nullptr) return;
  inputs->~OpenInputs();
  free(inputs);
}

OpenInputs::~OpenInputs() {
  for (uint32_t i = 0; copies_ != nullptr && i < model_->input_count; ++i) free(copies_[i]);
  free(copies_);
  free(pointers_);
  free(extents_);
}

bool OpenInputs::allocate() {
  const uint64_t inputs = model_->input_count, dimensions = model_->dimension_count;
  uint64_t rank = 0;
  for (uint64_t i = 0; i < inputs; ++i)
    if (model_->inputs[i].rank > rank) rank = model_->inputs[i].rank;
  pointers_ = static_cast<const void**>(calloc(inputs + dimensions + 1, sizeof(void*)));
  copies_ = static_cast<void**>(calloc(inputs + 1, sizeof(void*)));
  extents_ = static_cast<int64_t*>(calloc(dimensions + 2 * rank + 1, sizeof(int64_t)));
  if (pointers_ == nullptr || copies_ == nullptr || extents_ == nullptr) return false;
  dims_ = extents_ + dimensions;
  for (uint64_t d = 0; d < dimensions; ++d) pointers_[inputs + d] = extents_ + d;
  for (uint32_t a = 0; a < model_->open_axis_count; ++a) {
    const uint32_t input = model_->open_axes[a].input;
    if (copies_[input] != nullptr) continue;
    // Zeros, whose pages appear when they are written.
    copies_[input] = calloc(1, model_->inputs[input].size_bytes + 1);
    if (copies_[input] == nullptr) return false;
  }
  return true;
}

const korch_open_axis* OpenInputs::open_axis(uint32_t input, uint32_t axis) const {
  for (uint32_t a = 0; a < model_->open_axis_count; ++a)
    if (model_->open_axes[a].input == input && model_->open_axes[a].axis == axis)
      return &model_->open_axes[a];
  return nullptr;
}

// Each dimension has one.
const korch_open_axis& OpenInputs::first_axis(uint32_t dimension) const {
  uint32_t a = 0;
  while (a + 1 < model_->open_axis_count && model_->open_axes[a].dimension != dimension) ++a;
  return model_->open_axes[a];
}

// Into extents_, where -1 is none yet. False where they are not allowed.
bool OpenInputs::read_dims(uint32_t input, const int64_t* dims, bool is_of_state, char* message,
                           uint64_t message_bytes) {
  const korch_tensor_info& tensor = model_->inputs[input];
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    const long long given = dims[axis], bound = tensor.dims[axis];
    const korch_open_axis* open = open_axis(input, axis);
    if (open != nullptr && given == kNotTold && is_of_state) continue;
    if (open == nullptr) {
      if (given == bound) continue;
      snprintf(message, message_bytes, "input '%s', axis %u: the extent is %lld, not %lld", tensor.name, axis,
               bound, given);
      return false;
    }
    const korch_dimension& dimension = model_->dimensions[open->dimension];
    int64_t& extent = extents_[open->dimension];
    if (given < dimension.least || given > dimension.most) {
      snprintf(message, message_bytes, "input '%s', axis %u: %s is %lld to %lld, not %lld", tensor.name, axis,
               dimension.name, static_cast<long long>(dimension.least),
               static_cast<long long>(dimension.most), given);
      return false;
    }
    if (extent >= 0 && extent != given) {
      snprintf(message, message_bytes, "input '%s', axis %u: %s is %lld here and %lld before", tensor.name,
               axis, dimension.name, given, static_cast<long long>(extent));
      return false;
    }
    extent = given;
  }
  return true;
}

bool OpenInputs::read(const int64_t* const* dims, const StateRun& states, char* message,
                      uint64_t message_bytes) {
  for (uint32_t d = 0; d < model_->dimension_count; ++d) extents_[d] = -1;
  for (uint32_t i = 0; i < model_->input_count; ++i) {
    const bool given = dims != nullptr && dims[i] != nullptr;
    const bool is_of_state = states.is_kept(i);
    if (!read_dims(i, given ? dims[i] : model_->inputs[i].dims, is_of_state, message, message_bytes))
      return false;
  }
  for (uint32_t d = 0; d < model_->dimension_count; ++d)
    if (extents_[d] < 0) {
      snprintf(message, message_bytes, "%s is not told: no input but an empty state has it",
               model_->dimensions[d].name);
      return false;
    }
  return obeys_rules(message, message_bytes) && fits(message, message_bytes);
}

bool OpenInputs::fits(char* message, uint64_t message_bytes) const {
  for (uint64_t i = 0; i < fitting_count_; ++i) {
    const FittingExtents& fitting = fitting_[i];
    const int64_t given = extents_[fitting.dimension];
    bool is_among = false;
    for (uint32_t s = 0; s < fitting.count; ++s) {
      const ExtentSteps& steps = fitting.steps[s];
      is_among = is_among ||
                 (given >= steps.first && given <= steps.last && (given - steps.first) % steps.step == 0);
    }
    if (is_among) continue;
    const korch_open_axis& axis = first_axis(fitting.dimension);
    snprintf(message, message_bytes,
             "input '%s', axis %u: %s is %lld, but the network fits together only where it is %s",
             model_->inputs[axis.input].name, axis.axis, model_->dimensions[fitting.dimension].name,
             static_cast<long long>(given), fitting.text.get());
    return false;
  }
  return true;
}

bool OpenInputs::obeys_rules(char* message, uint64_t message_bytes) const {
  for (uint64_t r = 0; r < rule_count_; ++r) {
    const ExtentRule& rule = rules_[r];
    int64_t wanted = rule.plus;
    for (uint32_t d = 0; d < model_->dimension_count; ++d) wanted += rule.factors[d] * extents_[d];
    const int64_t given = extents_[rule.dimension];
    if (given == wanted) continue;
    const korch_open_axis& axis = first_axis(rule.dimension);
    snprintf(message, message_bytes, "input '%s', axis %u: %s is %s, which is %lld here, not %lld",
             model_->inputs[axis.input].name, axis.axis, model_->dimensions[rule.dimension].name,
             rule.text.get(), static_cast<long long>(wanted), static_cast<long long>(given));
    return false;
  }
  return true;
}

const void* const* OpenInputs::within(const int64_t* bounds, const void* const* inputs,
                                      const StateRun& states) {
  for (uint32_t i = 0; i < model_->input_count; ++i) {
    const korch_tensor_info& tensor = model_->inputs[i];
    pointers_[i] = inputs == nullptr ? nullptr : inputs[i];
    if (tensor.size_bytes == 0 || states.grows(state_of_input(*model_, i))) continue;
    int64_t* const bound_dims = dims_ + tensor.rank;
    bool at_bounds = true;
    uint64_t elements = 1;  // as described
    for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
      const korch_open_axis* open = open_axis(i, axis);
      dims_[axis] = open != nullptr ? extents_[open->dimension] : tensor.dims[axis];
      bound_dims[axis] = open != nullptr ? bounds[open->dimension] : tensor.dims[axis];
      at_bounds = at_bounds && dims_[axis] == bound_dims[axis];
      elements *= static_cast<uint64_t>(tensor.dims[axis]);
    }
    if (at_bounds) continue;
    unpack(copies_[i], inputs[i], tensor.size_bytes / elements, tensor.rank, bound_dims, dims_);
    pointers_[i] = copies_[i];
  }
  return pointers_;
}

}  // namespace korch::rt
