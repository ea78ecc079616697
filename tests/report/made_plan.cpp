#include "made_plan.h"

#include <random>

namespace korch {
namespace {

int add_tensor(Plan& plan, const std::string& name, int64_t value, TensorRole role, int index = -1) {
  PlanTensor tensor;
  tensor.name = name;
  tensor.value = value;
  tensor.type = {DType::f32, {1, 8, 16, 16}};
  tensor.size_bytes = 8192;
  tensor.role = role;
  tensor.index = index;
  plan.tensors.push_back(tensor);
  return static_cast<int>(plan.tensors.size()) - 1;
}

PlanStep step_of(Plan& plan, const std::string& label, double us) {
  Kernel kernel;
  kernel.source = "extern \"C\" int run() { return " + std::to_string(plan.kernels.size()) + "; }\n";
  kernel.phases = {{"run", 8, 1}};
  kernel.flops = 1e6;
  kernel.bytes = 16384;
  PlanStep step;
  step.kernel = static_cast<int>(plan.kernels.size());
  step.label = label;
  step.implementation = "loop() rm->rm";
  step.predicted_us = us;
  step.measured = true;
  step.bound_us = us / 2;
  plan.kernels.push_back(kernel);
  return step;
}

void add_primitive(PlanStep& step, const std::string& text, std::vector<int64_t> inputs,
                   std::vector<int64_t> outputs, std::vector<int> origins, double work) {
  step.primitives.push_back(text);
  step.wiring.push_back({std::move(inputs), std::move(outputs), std::move(origins), work});
}

Plan empty_plan(const std::string& model) {
  Plan plan;
  plan.threads = 2;
  plan.report.model = model;
  plan.report.strategy = "optimal";
  plan.report.accuracy = "standard";
  plan.report.target = "x86-64-v3, 2 threads";
  Device& device = plan.report.device;
  device.flops_per_us = 100e3;
  device.launch_us = 1;
  const double speeds[] = {300e3, 200e3, 150e3, 60e3};
  for (size_t level = 0; level < std::size(speeds); ++level)
    device.memory[level].bytes_per_us = speeds[level];
  plan.inputs = {{"x", {DType::f32, {1, 8, 16, 16}}}};
  plan.outputs = {{"y", {DType::f32, {1, 8, 16, 16}}}};
  return plan;
}

}  // namespace

Plan small_plan() {
  Plan plan = empty_plan(kHostile);
  const int x = add_tensor(plan, "x", 0, TensorRole::input, 0);
  const int w = add_tensor(plan, "w", 1, TensorRole::constant, 0);
  const int a = add_tensor(plan, kHostile, 3, TensorRole::intermediate);
  const int b = add_tensor(plan, "b", 3, TensorRole::intermediate);
  plan.tensors[b].alias_of = a;
  const int c = add_tensor(plan, "c", 4, TensorRole::intermediate);
  const int d = add_tensor(plan, "d", 4, TensorRole::intermediate);
  const int y = add_tensor(plan, "y", 4, TensorRole::output, 0);
  plan.tensors[y].alias_of = d;

  PlanStep first = step_of(plan, "Conv+Relu", 60);
  first.inputs = {x};
  first.constants = {w};
  first.outputs = {a};
  first.onnx_nodes = {kHostile, "/relu"};
  add_primitive(first, "%conv = Conv(%x, %w)", {0, 1}, {2}, {0}, 3000);
  add_primitive(first, "%a = Relu(%conv)", {2}, {3}, {1}, 1000);
  plan.kernels[0].source.clear();
  plan.kernels[0].call.library = "korch";
  plan.kernels[0].call.function = "conv";
  plan.steps.push_back(first);

  PlanStep second = step_of(plan, "Relu+Add", 30);
  second.inputs = {b, b};
  second.outputs = {c};
  second.onnx_nodes = {"/relu", "/add<b>"};
  add_primitive(second, "%a = Relu(%conv)", {2}, {3}, {0}, 500);
  add_primitive(second, "%c = Add(%a, %a)", {3, 3}, {4}, {0, 1}, 500);
  second.rejected = {{"Relu+Add loop() p0231->rm", 45, true}, {"Add loop() rm->rm <i>", 8, false}};
  plan.steps.push_back(second);

  PlanStep third = step_of(plan, "reorder", 10);
  third.inputs = {c};
  third.outputs = {d};
  plan.kernels[2].flops = 0;
  plan.steps.push_back(third);
  return plan;
}

Plan long_plan(int steps) {
  Plan plan = empty_plan("long.onnx");
  std::vector<int> made = {add_tensor(plan, "x", 0, TensorRole::input, 0)};
  for (int s = 0; s < steps; ++s) {
    const std::string place = "/blocks/" + std::to_string(s / 8) + "/layer" + std::to_string(s);
    const int64_t value = 10 * (s + 1);
    PlanStep step = step_of(plan, "Conv+Add+Relu+Mul", 10 + s % 37);
    step.inputs = {made.back()};
    if (s % 16 == 15) step.inputs.push_back(made[made.size() - 16]);
    step.onnx_nodes = {place + "/Conv", place + "/Relu"};
    add_primitive(step, "%" + place + "/conv = Conv(%before, %weights) : f32[1x8x16x16]", {value - 10},
                  {value + 1}, {0}, 9000);
    add_primitive(step, "%" + place + "/sum = Add(%conv, %bias) : f32[1x8x16x16]", {value + 1}, {value + 2},
                  {0}, 500);
    add_primitive(step, "%" + place + "/relu = Relu(%sum) : f32[1x8x16x16]", {value + 2}, {value + 3}, {1},
                  500);
    add_primitive(step, "%" + place + " = Mul(%relu, %sum) : f32[1x8x16x16]", {value + 3, value + 2}, {value},
                  {1}, 500);
    for (int r = 0; r < 8; ++r)
      step.rejected.push_back({"Conv+Add+Relu+Mul conv_direct(" + std::to_string(r) + ") rm->rm",
                               step.predicted_us * (1 + 0.1 * r), r < 5});
    made.push_back(add_tensor(plan, place + "_output_0", value, TensorRole::intermediate));
    step.outputs = {made.back()};
    plan.steps.push_back(step);
  }
  const int y = add_tensor(plan, "y", 10 * steps, TensorRole::output, 0);
  plan.tensors[static_cast<size_t>(y)].alias_of = made.back();
  return plan;
}

std::vector<std::string> long_sources(const Plan& plan) {
  std::mt19937 random(1);
  std::vector<std::string> sources;
  for (const Kernel& kernel : plan.kernels) {
    std::string source = kernel.source;
    for (int line = 0; line < 250; ++line)
      source += "  const float v" + std::to_string(line) + " = in[" + std::to_string(random() % 4096) +
                " * i + " + std::to_string(random() % 64) + "] * w[" + std::to_string(line) + "];\n";
    sources.push_back(source);
  }
  return sources;
}

}  // namespace korch
