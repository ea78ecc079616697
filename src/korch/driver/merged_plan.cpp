#include "korch/driver/merged_plan.h"

#include <algorithm>
#include <map>

#include "korch/base/error.h"

namespace korch {
namespace {

class Merger {
 public:
  explicit Merger(BuiltPlan first) : result_(std::move(first)) {
    for (size_t k = 0; k < plan().kernels.size(); ++k)
      kernel_of_.emplace(plan().kernels[k].key(), static_cast<int>(k));
    for (size_t c = 0; c < plan().constants.size(); ++c)
      constant_of_.emplace(plan().constants[c].content, static_cast<int>(c));
    add_shape_plan(plan(), 0, 0);
  }

  void add(BuiltPlan part) {
    const auto first_step = static_cast<int>(plan().steps.size()),
               first_tensor = static_cast<int>(plan().tensors.size());
    std::vector<int> kernels, constants;
    for (size_t k = 0; k < part.plan.kernels.size(); ++k) kernels.push_back(kernel(part, k));
    for (size_t c = 0; c < part.plan.constants.size(); ++c) constants.push_back(constant(part, c));
    for (PlanTensor& tensor : part.plan.tensors) {
      if (tensor.alias_of >= 0) tensor.alias_of += first_tensor;
      tensor.index = index_of(part.plan, tensor, constants);
      plan().tensors.push_back(std::move(tensor));
    }
    for (PlanStep& step : part.plan.steps) {
      visit_kernels(step, [&](int& k) { k = kernels[static_cast<size_t>(k)]; });
      if (step.other_end >= 0) step.other_end += first_step;
      visit_tensors(step, [&](int& tensor) { tensor += first_tensor; });
      plan().steps.push_back(std::move(step));
    }
    add_shape_plan(part.plan, first_step, first_tensor);
  }

  BuiltPlan take() { return std::move(result_); }

 private:
  Plan& plan() { return result_.plan; }

  int kernel(BuiltPlan& part, size_t k) {
    const auto [known, is_new] =
        kernel_of_.emplace(part.plan.kernels[k].key(), static_cast<int>(plan().kernels.size()));
    if (is_new) {
      plan().kernels.push_back(std::move(part.plan.kernels[k]));
      result_.objects.push_back(std::move(part.objects[k]));
    }
    return known->second;
  }

  int constant(BuiltPlan& part, size_t c) {
    const auto [known, is_new] =
        constant_of_.emplace(part.plan.constants[c].content, static_cast<int>(plan().constants.size()));
    if (is_new) {
      plan().constants.push_back(part.plan.constants[c]);
      result_.constant_bytes.push_back(std::move(part.constant_bytes[c]));
    }
    return known->second;
  }

  // Of an input or output behind the tensors: an extent, which the part may count otherwise.
  int index_of(const Plan& part, const PlanTensor& tensor, const std::vector<int>& constants) {
    const auto at = static_cast<size_t>(tensor.index);
    if (tensor.role == TensorRole::constant) return constants[at];
    if (tensor.role == TensorRole::input && at >= part.inputs.size()) {
      const std::string& name = part.dimensions[at - part.inputs.size()].name;
      const auto same = std::find_if(plan().dimensions.begin(), plan().dimensions.end(),
                                     [&](const OpenDimension& dimension) { return dimension.name == name; });
      KORCH_ASSERT(same != plan().dimensions.end(), "a dimension that the whole network has not");
      return static_cast<int>(plan().inputs.size() + (same - plan().dimensions.begin()));
    }
    if (tensor.role == TensorRole::output && at >= part.outputs.size()) {
      const OutputExtent& extent = part.extents[at - part.outputs.size()];
      const auto same = std::find(plan().extents.begin(), plan().extents.end(), extent);
      KORCH_ASSERT(same != plan().extents.end(), "an extent that the whole network has not");
      return static_cast<int>(plan().outputs.size() + (same - plan().extents.begin()));
    }
    return tensor.index;
  }

  void add_shape_plan(const Plan& part, int first_step, int first_tensor) {
    ShapePlan shape_plan;
    shape_plan.first_step = first_step;
    shape_plan.end_step = static_cast<int>(plan().steps.size());
    shape_plan.first_tensor = first_tensor;
    shape_plan.end_tensor = static_cast<int>(plan().tensors.size());
    shape_plan.predicted_us = part.report.objective_us;
    shape_plan.schedule = part.schedule;
    shape_plan.schedules = part.report.schedules;
    shape_plan.graph = part.graph;
    for (const OpenDimension& dimension : plan().dimensions) {
      const auto& [input, axis] = dimension.axes.at(0);
      shape_plan.bounds.push_back(
          part.inputs[static_cast<size_t>(input)].type.shape[static_cast<size_t>(axis)]);
    }
    for (const PlanIo& output : part.outputs) shape_plan.output_shapes.push_back(output.type.shape);
    for (const OutputExtent& extent : plan().extents) {
      const bool is_told = std::count(part.extents.begin(), part.extents.end(), extent) != 0;
      const Shape& shape = part.outputs[static_cast<size_t>(extent.output)].type.shape;
      shape_plan.extents.push_back(is_told ? -1 : shape[static_cast<size_t>(extent.axis)]);
    }
    plan().shape_plans.push_back(std::move(shape_plan));
  }

  BuiltPlan result_;
  std::map<Hash, int> kernel_of_, constant_of_;
};

}  // namespace

BuiltPlan merged_plan(std::vector<BuiltPlan> parts) {
  KORCH_ASSERT(!parts.empty(), "a plan at least");
  Merger merger(std::move(parts[0]));
  for (size_t i = 1; i < parts.size(); ++i) merger.add(std::move(parts[i]));
  return merger.take();
}

}  // namespace korch
