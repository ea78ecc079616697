#include "korch/plan/plan.h"

#include <algorithm>
#include <cmath>

#include "korch/base/error.h"

namespace korch {

const char* cost_word(CostFrom from, bool measured) {
  switch (from) {
    case CostFrom::here:
      return measured ? "measured" : "bound";
    case CostFrom::carried:
      return "carried";
    case CostFrom::model:
      return "modelled";
    case CostFrom::estimate:
      return "estimated";
  }
  return "";
}

rt::VariantCost cost_of(const KernelVariant& variant) {
  rt::VariantCost cost;
  KORCH_ASSERT(variant.shares.size() <= rt::kMostVariantExtents, "too many extents choose a variant");
  std::copy(variant.shares.begin(), variant.shares.end(), cost.shares);
  const auto fill = [](const std::vector<double>& values, double* terms) {
    const bool fits = values.size() <= rt::kVariantTerms &&
                      std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
    KORCH_ASSERT(fits, "a variant's cost is none");
    std::copy(values.begin(), values.end(), terms);
  };
  fill(variant.over, cost.over);
  fill(variant.under, cost.under);
  return cost;
}

const char* name(PlanSchedule schedule) {
  switch (schedule) {
    case PlanSchedule::barrier:
      return "barrier";
    case PlanSchedule::dynamic:
      return "dynamic";
  }
  return "?";
}

bool parse_schedule(const std::string& text, PlanSchedule* schedule) {
  for (PlanSchedule known : kSchedules) {
    if (text != name(known)) continue;
    *schedule = known;
    return true;
  }
  return false;
}

std::vector<ShapePlan> shape_plans_of(const Plan& plan) {
  if (!plan.shape_plans.empty()) return plan.shape_plans;
  ShapePlan whole;
  whole.end_step = static_cast<int>(plan.steps.size());
  whole.end_tensor = static_cast<int>(plan.tensors.size());
  for (const OpenDimension& dimension : plan.dimensions) whole.bounds.push_back(dimension.most);
  for (const PlanIo& output : plan.outputs) whole.output_shapes.push_back(output.type.shape);
  whole.extents.assign(plan.extents.size(), -1);
  whole.schedule = plan.schedule;
  whole.graph = plan.graph;
  return {whole};
}

double allowed_output_error(const Plan& plan) {
  constexpr std::string_view kRelaxed = "relaxed:";
  const std::string& accuracy = plan.report.accuracy;
  return accuracy.starts_with(kRelaxed) ? std::strtod(accuracy.c_str() + kRelaxed.size(), nullptr) : 0;
}

ProductType products_of(const Plan& plan) {
  if (allowed_output_error(plan) > 0) return ProductType::bf16;
  return product_type_named(plan.report.accuracy).value_or(ProductType::f32);
}

Plan plan_of(const Plan& plan, const ShapePlan& shape_plan) {
  Plan part = plan;
  if (plan.shape_plans.empty()) return part;
  part.shape_plans.clear();
  part.schedule = shape_plan.schedule;
  part.graph = shape_plan.graph;
  part.steps.assign(plan.steps.begin() + shape_plan.first_step, plan.steps.begin() + shape_plan.end_step);
  part.tensors.assign(plan.tensors.begin() + shape_plan.first_tensor,
                      plan.tensors.begin() + shape_plan.end_tensor);
  for (PlanTensor& tensor : part.tensors)
    if (tensor.alias_of >= 0) tensor.alias_of -= shape_plan.first_tensor;
  for (PlanStep& step : part.steps) {
    if (step.other_end >= 0) step.other_end -= shape_plan.first_step;
    visit_tensors(step, [&](int& tensor) { tensor -= shape_plan.first_tensor; });
  }
  return part;
}

}  // namespace korch
