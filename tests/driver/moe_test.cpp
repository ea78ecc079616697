// Mixtures of experts in executables: as the dense formula says, and nothing of experts without tokens.
#include "../onnx/moe_model.h"
#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/package/loaded.h"

namespace korch {
namespace {

// What is computed of an expert's weights stands between the ends of its loop, whatever was rewritten.
void expect_products_in_loops(const Plan& plan) {
  int open = 0, products = 0;
  for (const PlanStep& step : plan.steps) {
    if (step.label == "LoopBegin") ++open;
    if (step.label == "LoopEnd") --open;
    if (step.label.find("MatMul") == std::string::npos) continue;
    ++products;
    EXPECT_EQ(open, 1) << step.label;
  }
  EXPECT_GT(products, 0);
}

Values compiled(const MoeModel& moe, Strategy strategy) {
  const TempDir folder;
  CompileOptions options;
  options.threads = 2;
  options.strategy = strategy;
  options.measure = Measure::none;
  options.verify = options.heal = false;
  const std::string file = folder.path() + "/moe.so";
  const CompileResult result = compile_graph(import_onnx_bytes(moe.model().bytes()), "moe", file, options);
  expect_products_in_loops(result.plan);
  LoadedExecutable executable(file);
  const HostTensor y = executable.run(moe.inputs())[0];
  Values values;
  for (int64_t i = 0; i < y.elements(); ++i) values.push_back(element_as_double(y, i));
  return values;
}

class MoeIn : public ::testing::TestWithParam<Strategy> {};

TEST_P(MoeIn, ExecutablesFollowTheRouting) {
  MoeCase c;
  c.activation = "silu";
  c.hidden = 16;
  c.inner = 32;
  c.biases = c.fc3 = true;
  for (const int64_t tokens : {1, 21}) {
    c.tokens = tokens;
    c.k = 2;
    c.routed.clear();
    c.poisoned.clear();
    const MoeModel uniform(c);
    expect_near(compiled(uniform, GetParam()), uniform.dense(), 1e-4);
    // All tokens to the last expert: the others' weights are no numbers.
    c.k = 1;
    c.routed.assign(static_cast<size_t>(tokens), 3);
    c.poisoned = {0, 1, 2};
    const MoeModel skewed(c);
    expect_near(compiled(skewed, GetParam()), skewed.dense(), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, MoeIn, ::testing::Values(Strategy::optimal, Strategy::unfused));

}  // namespace
}  // namespace korch
