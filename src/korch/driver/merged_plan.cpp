#include "korch/driver/merged_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

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

namespace {

// A half, a quarter, ... of the largest extent; multiples of what the least and the largest are multiples of,
// for networks that are valid for such extents alone.
std::vector<int64_t> levels_of(const OpenDimension& dimension) {
  const int64_t least = std::max<int64_t>(dimension.least, 1);
  const int64_t step = dimension.least < 1 ? 1 : std::gcd(dimension.least, dimension.most);
  std::vector<int64_t> levels = {dimension.most};
  if (dimension.sum) return levels;  // it follows the others
  for (int64_t half = dimension.most / 2; half > 0; half /= 2) {
    int64_t level = (half + step - 1) / step * step;
    if (half < least && level != dimension.least) break;
    level = fitting_up_to(dimension, level);
    if (level < levels.back()) levels.push_back(level);
  }
  return levels;
}

// Of each dimension which of its levels.
using Levels = std::vector<int>;

// All of them. Of many dimensions few levels.
std::vector<Levels> all_levels(const std::vector<std::vector<int64_t>>& levels) {
  constexpr double kMostCombinations = 512;
  std::vector<Levels> result = {{}};
  const auto count = static_cast<double>(std::max<size_t>(levels.size(), 1));
  const auto each = static_cast<size_t>(std::pow(kMostCombinations, 1 / count) + 1e-9);
  for (const std::vector<int64_t>& dimension : levels) {
    std::vector<Levels> longer;
    for (size_t level = 0; level < std::min(std::max<size_t>(each, 1), dimension.size()); ++level) {
      for (Levels shorter : result) {
        shorter.push_back(static_cast<int>(level));
        longer.push_back(std::move(shorter));
      }
    }
    result = std::move(longer);
  }
  return result;
}

// By how many levels the largest extents of a plan exceed what a run needs; none if they do not suffice.
std::optional<int> excess(const Levels& plan, const Levels& run) {
  int result = 0;
  for (size_t d = 0; d < plan.size(); ++d) {
    if (plan[d] > run[d]) return std::nullopt;
    result += run[d] - plan[d];
  }
  return result;
}

}  // namespace

std::vector<PlanBounds> plan_bounds(const std::vector<OpenDimension>& dimensions) {
  std::vector<std::vector<int64_t>> levels;
  for (const OpenDimension& dimension : dimensions) levels.push_back(levels_of(dimension));
  const std::vector<Levels> runs = all_levels(levels);
  std::vector<Levels> chosen;
  std::vector<int> wasted(runs.size(), std::numeric_limits<int>::max());  // by the best plan so far
  const auto choose = [&](const Levels& plan) {
    chosen.push_back(plan);
    for (size_t r = 0; r < runs.size(); ++r)
      wasted[r] = std::min(wasted[r], excess(plan, runs[r]).value_or(wasted[r]));
  };
  choose(Levels(dimensions.size(), 0));
  while (chosen.size() < kMostPlans) {
    int most_saved = 0;
    const Levels* best = nullptr;
    for (const Levels& plan : runs) {
      int saved = 0;
      for (size_t r = 0; r < runs.size(); ++r)
        saved += std::max(wasted[r] - excess(plan, runs[r]).value_or(wasted[r]), 0);
      if (saved > most_saved) best = &plan;
      most_saved = std::max(most_saved, saved);
    }
    if (best == nullptr) break;
    choose(*best);
  }
  std::vector<PlanBounds> result;
  for (const Levels& plan : chosen) {
    std::vector<int64_t> bounds;
    for (size_t d = 0; d < dimensions.size(); ++d) bounds.push_back(levels[d][static_cast<size_t>(plan[d])]);
    result.emplace_back();
    for (size_t d = 0; d < dimensions.size(); ++d) {
      const auto& [name, least, most, axes, sum, fitting] = dimensions[d];
      const bool is_smaller = sum && result.size() > 1;
      result.back()[name] = is_smaller ? std::clamp(sum->of(bounds), least, most) : bounds[d];
    }
  }
  return result;
}

std::vector<OpenDimension> stated_dimensions(const std::map<std::string, Shape>& most,
                                             const std::map<std::string, Shape>& least) {
  std::vector<OpenDimension> result;
  for (const auto& [name, bounds] : most) {
    const auto leasts = least.find(name);
    for (size_t axis = 0; leasts != least.end() && axis < bounds.size(); ++axis)
      if (leasts->second[axis] < bounds[axis])
        result.push_back({bounds.size() == 1 ? name : name + ":" + std::to_string(axis),
                          leasts->second[axis],
                          bounds[axis],
                          {}});
  }
  return result;
}

PlanBounds plan_leasts(const PlanBounds& plan, const std::vector<PlanBounds>& all,
                       const std::vector<OpenDimension>& dimensions) {
  PlanBounds leasts;
  for (const OpenDimension& dimension : dimensions) {
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
