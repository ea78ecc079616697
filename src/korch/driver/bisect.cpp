#include "korch/driver/bisect.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>

#include "korch/fission/fission.h"
#include "korch/interp/interpreter.h"
#include "korch/plan/plan_json.h"
#include "korch/rewrite/alternatives.h"

namespace korch {
namespace {

constexpr double kNoiseFactor =
    50;  // a kernel fuses what the interpreter rounds step by step, and the other way round
constexpr double kDeviationFactor = 1e-4;

// What the primitive graph computes for the Values that the plan materializes.
struct Reference {
  HostTensor exact;
  double tolerance = 0;
};

double tolerance_of(const HostTensor& exact, const HostTensor& rounded) {
  double noise = 0, sum = 0, squares = 0;
  for (int64_t i = 0; i < exact.elements(); ++i) {
    const double a = element_as_double(exact, i), b = element_as_double(rounded, i);
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    noise = std::max(noise, std::fabs(a - b));
    sum += a;
    squares += a * a;
  }
  const double n = std::max<double>(1, static_cast<double>(exact.elements()));
  const double deviation = std::sqrt(std::max(0.0, squares / n - (sum / n) * (sum / n)));
  return std::max(kNoiseFactor * noise, kDeviationFactor * deviation);
}

// Largest difference between a row-major reference and an element type and layout in memory.
double max_difference(const HostTensor& exact, const PlanTensor& tensor, const void* memory) {
  HostTensor physical(TensorType{tensor.type.dtype, physical_shape(tensor.type.shape, tensor.layout)});
  std::memcpy(physical.mutable_raw(), memory, static_cast<size_t>(physical.bytes()));
  double difference = 0;
  Shape index(tensor.type.shape.size(), 0);
  for (int64_t i = 0; i < exact.elements(); ++i) {
    const double a = element_as_double(exact, i);
    const double b = element_as_double(physical, element_offset(tensor.type.shape, tensor.layout, index));
    const bool same = (std::isnan(a) && std::isnan(b)) || a == b;
    if (!same)
      difference = std::isfinite(a) && std::isfinite(b) ? std::max(difference, std::fabs(a - b)) : INFINITY;
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < tensor.type.shape[axis]) break;
      index[axis] = 0;
    }
  }
  return difference;
}

}  // namespace

std::string first_wrong_kernel(const Graph& imported, LoadedExecutable& executable,
                               const std::vector<HostTensor>& inputs) {
  const Plan plan = plan_from_json(executable.info().plan_json);
  Graph graph = fission(imported);
  if (!plan.report.rules.empty())
    graph = add_alternatives(std::move(graph), {.only = plan.report.rules}).graph;
  std::map<int64_t, Reference> references;
  for (const PlanStep& step : plan.steps)
    for (int output : step.outputs) references[plan.tensors[output].value];
  const auto keep = [&](ValueId value, const HostTensor& tensor) {
    const auto found = references.find(value);
    if (found == references.end()) return;
    if (found->second.exact.raw() == nullptr) {
      found->second.exact = tensor;
    } else {
      found->second.tolerance = tolerance_of(found->second.exact, tensor);
    }
  };
  std::vector<ValueId> materialized;
  for (const auto& [value, reference] : references) materialized.push_back(static_cast<ValueId>(value));
  graph.set_outputs(materialized, std::vector<std::string>(materialized.size()));
  interpret(graph, inputs, {Precision::float64, keep});
  interpret(graph, inputs, {Precision::native, keep});
  std::string found;
  std::vector<HostTensor> outputs = executable.allocate_outputs();
  executable.run_observed(inputs, outputs, [&](int number, void* const* args) {
    if (number >= static_cast<int>(plan.steps.size())) return;  // a copy to a graph output
    const PlanStep& step = plan.steps[number];
    for (size_t i = 0; i < step.outputs.size() && found.empty(); ++i) {
      const PlanTensor& tensor = plan.tensors[step.outputs[i]];
      const Reference& reference = references.at(tensor.value);
      const double difference =
          max_difference(reference.exact, tensor, args[step.inputs.size() + step.constants.size() + i]);
      if (!(difference <= reference.tolerance))
        found = fmt::format("step {} ({}, {}): output %{} is off by {:.3g}, tolerance {:.3g}", number,
                            step.label, step.implementation, tensor.name, difference, reference.tolerance);
    }
  });
  return found.empty() ? "none found" : found;
}

}  // namespace korch
