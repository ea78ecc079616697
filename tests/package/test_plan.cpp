#include "test_plan.h"

#include <gtest/gtest.h>

namespace korch {
namespace {

const char* const kDeclarations = R"(
typedef long int64_t;
struct korch_kernel_context { void* const* args; void* scratch; const void* state; int worker; };
static const float* in(const korch_kernel_context* c, int a) { return (const float*)c->args[a]; }
static float* out(const korch_kernel_context* c, int a) { return (float*)c->args[a]; }
)";

// Both kernels call their function `run`.
const char* const kScaleKernel = R"(
extern "C" int run(const korch_kernel_context* c, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) out(c, 2)[i] = in(c, 0)[i] * in(c, 1)[i];
  return in(c, 0)[0] > 1000 ? 1 : 0;
}
)";

const char* const kReluKernel = R"(
extern "C" float ceilf(float);  // a call into libm on the portable target; whole numbers stay
static const float zeros[4] = {0, 0, 0, 0};
extern "C" int total(const korch_kernel_context* c, int64_t, int64_t) {
  float sum = 0;
  for (int64_t i = 0; i < 100; ++i) sum += in(c, 0)[i];
  out(c, 2)[0] = sum;
  return 0;
}
extern "C" int run(const korch_kernel_context* c, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) out(c, 1)[i] = ceilf(in(c, 0)[i] > zeros[i % 4] ? in(c, 0)[i] : 0) - in(c, 2)[0];
  return 0;
}
)";

PlanTensor tensor(const char* name, TensorRole role, int index, int64_t elements = kElements) {
  PlanTensor result;
  result.name = name;
  result.type = {DType::f32, {elements}};
  result.size_bytes = 4 * elements;
  result.role = role;
  result.index = index;
  return result;
}

}  // namespace

std::vector<float> test_scale() {
  std::vector<float> scale;
  for (int64_t i = 0; i < kElements; ++i) scale.push_back(static_cast<float>(i % 5) - 2);
  return scale;
}

Plan test_plan() {
  Plan plan;
  plan.threads = 2;
  plan.inputs = {{"x", {DType::f32, {kElements}}}};
  plan.outputs = {{"y", {DType::f32, {kElements}}}, {"middle", {DType::f32, {2, 5}}}};
  plan.tensors = {tensor("x", TensorRole::input, 0), tensor("scale", TensorRole::constant, 0),
                  tensor("scaled", TensorRole::intermediate, -1), tensor("y", TensorRole::output, 0),
                  tensor("middle", TensorRole::output, 1, 10)};
  plan.tensors[4].type.shape = {2, 5};
  plan.tensors[4].alias_of = 2;
  plan.tensors[4].alias_offset_bytes = 160;
  plan.constants = {{}};
  Kernel scale, relu;
  scale.source = std::string(kDeclarations) + kScaleKernel;
  scale.phases = {{"run", kElements, 8}};
  scale.constant_packing = {{}};
  relu.source = std::string(kDeclarations) + kReluKernel;
  relu.phases = {{"total", 1, 1}, {"run", kElements, 16}};
  relu.temporary_bytes = {4};
  plan.kernels = {scale, relu};
  plan.steps.resize(2);
  plan.steps[0].kernel = 0;
  plan.steps[0].inputs = {0};
  plan.steps[0].constants = {1};
  plan.steps[0].outputs = {2};
  plan.steps[0].label = "Mul \"scale\"";
  plan.steps[1].kernel = 1;
  plan.steps[1].inputs = {2};
  plan.steps[1].outputs = {3};
  plan.steps[1].label = "Relu+Sub";
  return plan;
}

Plan plan_with_accesses() {
  Plan plan = test_plan();
  const auto blocks = [&](const KernelPhase& phase, const auto& access) {
    PhaseAccess result{static_cast<double>(phase.grid), {}};
    const int64_t slices = block_slices(phase, plan.threads);
    for (int64_t begin = 0; begin < phase.grid; begin += slices)
      result.blocks.push_back(access(ByteRange{4 * begin, 4 * std::min(phase.grid, begin + slices)}));
    return result;
  };
  using Accesses = std::vector<ArgumentAccess>;
  Kernel &scale = plan.kernels[0], &relu = plan.kernels[1];
  scale.accesses = {blocks(scale.phases[0], [](ByteRange part) {
    return Accesses{{0, {part}, {}}, {2, {}, {part}}};
  })};
  relu.accesses = {blocks(relu.phases[0],
                          [](ByteRange) {
                            return Accesses{{0, {{0, 4 * kElements}}, {}}, {2, {}, {{0, 4}}}};
                          }),
                   blocks(relu.phases[1], [](ByteRange part) {
                     return Accesses{{0, {part}, {}}, {1, {}, {part}}, {2, {{0, 4}}, {}}};
                   })};
  return plan;
}

PackageInput test_package(const Plan& plan, Isa isa) {
  PackageInput input;
  input.plan = &plan;
  input.target = cpu_device(isa);
  input.placements = place(plan, input.target);
  for (const Kernel& kernel : plan.kernels)
    input.objects.push_back(cpu_backend().compile({kernel.source}, input.target)[0].value());
  const std::vector<float> scale = test_scale();
  input.constant_bytes = {std::string(reinterpret_cast<const char*>(scale.data()), 4 * scale.size())};
  input.plan_json = "{\"test\": true}";
  return input;
}

ErrorKind kind_of_failure(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::internal;
}

}  // namespace korch
