#include "korch/driver/bfloat16_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "korch/base/files.h"
#include "korch/device/device.h"
#include "korch/driver/pipeline.h"
#include "korch/fission/fission.h"
#include "korch/inspect/verify.h"
#include "korch/plan/plan.h"

namespace korch {
namespace {

HostTensor normal_weights(const Shape& shape, unsigned seed, double scale) {
  HostTensor tensor(TensorType{DType::f32, shape});
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, scale);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>(normal(random));
  return tensor;
}

// Three products; the one in the middle is added with a hundredth of its weight.
Graph three_products() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {40, 64}}, "x");
  const auto product = [&](ValueId value, const char* name, unsigned seed, double scale) {
    const ValueId w = g.add_constant(normal_weights({64, 64}, seed, scale / 8), std::string("w_") + name);
    return g.add(Op::MatMul, MatMulAttrs{}, {value, w}, {name});
  };
  const ValueId first = product(x, "first", 1, 1);
  const ValueId middle = g.add(Op::Add, NoAttrs{}, {first, product(first, "middle", 2, 0.01)}, {"add"});
  const ValueId last = product(g.add(Op::Relu, NoAttrs{}, {middle}, {"relu"}), "last", 3, 1);
  g.set_outputs({last}, {"y"});
  return g;
}

TEST(Bfloat16Budget, TakesAllThatFit) {
  const Bfloat16Products all = fit_bfloat16_products(three_products(), 1e-1, {});
  EXPECT_TRUE(all.kept.empty());
  EXPECT_EQ(all.products, 3);
  EXPECT_EQ(all.taken, 3);
  EXPECT_GT(all.error, 1e-3);  // half an ulp of bfloat16 is 2e-3 of a number
  EXPECT_LT(all.error, 1e-2);
}

TEST(Bfloat16Budget, KeepsThoseThatWouldExceedIt) {
  const Bfloat16Products none = fit_bfloat16_products(three_products(), 1e-6, {});
  EXPECT_EQ(none.kept, (std::set<std::string>{"first", "last", "middle"}));
  EXPECT_EQ(none.taken, 0);
  EXPECT_EQ(none.error, 0);
  const Bfloat16Products one = fit_bfloat16_products(three_products(), 1e-4, {});
  EXPECT_EQ(one.kept, (std::set<std::string>{"first", "last"}));
  EXPECT_EQ(one.taken, 1);
  EXPECT_GT(one.error, 0);
  EXPECT_LE(one.error, 1e-4);
  EXPECT_NE(to_string(one, 1e-4).find("float32 for first, last"), std::string::npos) << to_string(one, 1e-4);
}

TEST(Bfloat16Budget, KeepsAllWhenTheTimeIsSpent) {
  const Bfloat16Products products = fit_bfloat16_products(three_products(), 1e-1, Deadline(-1));
  EXPECT_TRUE(products.budget_spent);
  EXPECT_EQ(products.taken, 0);
  EXPECT_EQ(products.kept.size(), 3u);
}

int64_t steps_of_bfloat16(const Plan& plan) {
  return std::count_if(plan.steps.begin(), plan.steps.end(),
                       [](const PlanStep& step) { return step.label.find("(bf16)") != std::string::npos; });
}

TEST(Bfloat16Products, AreCompiledAndVerified) {
  if (!multiplies_bfloat16(with_bfloat16(detect_device("native", 1))))
    GTEST_SKIP() << "this machine does not multiply bfloat16";
  const TempDir scratch;
  const std::string executable = scratch.path() + "/net.so";
  int64_t found = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CompileOptions options;
    options.threads = 2;
    options.accuracy = Accuracy::relaxed;
    options.output_error = 2e-2;
    options.strategy = Strategy::random;
    options.random_seed = seed;
    options.heal = false;
    const CompileResult result = compile_graph(three_products(), "three", executable, options);
    found += steps_of_bfloat16(result.plan);
    EXPECT_EQ(result.plan.report.accuracy, "relaxed:0.02");
    const VerifyResult check = compare_executable(three_products(), executable, {});
    EXPECT_TRUE(check.passed) << failure_text(check);
    EXPECT_EQ(check.allowed_error, 0.02);
    EXPECT_LE(check.outputs[0].relative, 0.02);
  }
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace korch
