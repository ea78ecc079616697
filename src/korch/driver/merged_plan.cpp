#include "korch/driver/merged_plan.h"

#include <algorithm>

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
    add_variant(plan(), 0, 0);
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
    add_variant(part.plan, first_step, first_tensor);
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
                                     [&](const PlanDimension& dimension) { return dimension.name == name; });
      KORCH_ASSERT(same != plan().dimensions.end(), "a dimension that the whole network has not");
      return static_cast<int>(plan().inputs.size() + (same - plan().dimensions.begin()));
    }
    if (tensor.role == TensorRole::output && at >= part.outputs.size()) {
      const PlanExtent& extent = part.extents[at - part.outputs.size()];
      const auto same = std::find(plan().extents.begin(), plan().extents.end(), extent);
      KORCH_ASSERT(same != plan().extents.end(), "an extent that the whole network has not");
      return static_cast<int>(plan().outputs.size() + (same - plan().extents.begin()));
    }
    return tensor.index;
  }

  void add_variant(const Plan& part, int first_step, int first_tensor) {
    PlanVariant variant;
    variant.first_step = first_step;
    variant.end_step = static_cast<int>(plan().steps.size());
    variant.first_tensor = first_tensor;
    variant.end_tensor = static_cast<int>(plan().tensors.size());
    variant.predicted_us = part.report.objective_us;
    for (const PlanDimension& dimension : plan().dimensions) {
      const auto& [input, axis] = dimension.axes.at(0);
      variant.bounds.push_back(part.inputs[static_cast<size_t>(input)].type.shape[static_cast<size_t>(axis)]);
    }
    for (const PlanIo& output : part.outputs) variant.output_shapes.push_back(output.type.shape);
    for (const PlanExtent& extent : plan().extents) {
      const bool is_told = std::count(part.extents.begin(), part.extents.end(), extent) != 0;
      const Shape& shape = part.outputs[static_cast<size_t>(extent.output)].type.shape;
      variant.extents.push_back(is_told ? -1 : shape[static_cast<size_t>(extent.axis)]);
    }
    plan().variants.push_back(std::move(variant));
  }

  BuiltPlan result_;
  std::map<Hash, int> kernel_of_, constant_of_;
};

}  // namespace

BuiltPlan merged_plan(std::vector<BuiltPlan> parts) {
  KORCH_ASSERT(!parts.empty(), "a plan at least");
  Merger merger(std::move(parts[0]));
  for (size_t i = 1; i < parts.size(); ++i) merger.add(std::move(parts[i]));
  BuiltPlan result = merger.take();
  if (parts.size() > 1)
    result.plan.report.tasks = result.plan.report.events = 0;  // phases follow one another
  return result;
}

std::vector<PlanBounds> plan_bounds(const std::vector<PlanDimension>& dimensions) {
  constexpr int64_t kFactor = 4;
  constexpr int kMostSmaller = 3;  // of a dimension
  PlanBounds all;
  for (const PlanDimension& dimension : dimensions) all[dimension.name] = dimension.most;
  std::vector<PlanBounds> result = {all};
  for (const PlanDimension& dimension : dimensions)
    for (int64_t i = 0, most = dimension.most / kFactor;
         i < kMostSmaller && most >= std::max<int64_t>(dimension.least, 1); ++i, most /= kFactor) {
      result.push_back(all);
      result.back()[dimension.name] = most;
    }
  result.resize(std::min(result.size(), kMostPlans));
  return result;
}

PlanBounds plan_leasts(const PlanBounds& plan, const std::vector<PlanBounds>& all,
                       const std::vector<PlanDimension>& dimensions) {
  PlanBounds leasts;
  for (const PlanDimension& dimension : dimensions) {
    int64_t& least = leasts[dimension.name] = dimension.least;
    for (const PlanBounds& other : all) {
      const bool is_smaller = other.at(dimension.name) < plan.at(dimension.name);
      const bool else_equal = std::all_of(plan.begin(), plan.end(), [&](const auto& bound) {
        return bound.first == dimension.name || other.at(bound.first) == bound.second;
      });
      if (is_smaller && else_equal) least = std::max(least, other.at(dimension.name) + 1);
    }
  }
  return leasts;
}

}  // namespace korch
