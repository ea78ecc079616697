#include "korch/driver/bfloat16_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "korch/backend/backend.h"
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
  const Bfloat16Choice all = fit_bfloat16(three_products(), true, 1e-1, {});
  EXPECT_TRUE(all.float_products.empty());
  EXPECT_EQ(all.products, 3);
  EXPECT_EQ(all.taken, 3);
  EXPECT_GT(all.error, 1e-3);  // half an ulp of bfloat16 is 2e-3 of a number
  EXPECT_LT(all.error, 1e-2);
}

TEST(Bfloat16Budget, KeepsThoseThatWouldExceedIt) {
  const Bfloat16Choice none = fit_bfloat16(three_products(), true, 1e-6, {});
  EXPECT_EQ(none.float_products, (std::set<std::string>{"first", "last", "middle"}));
  EXPECT_EQ(none.taken, 0);
  EXPECT_LT(none.error, 1e-6);  // float32 rounds, too
  const Bfloat16Choice one = fit_bfloat16(three_products(), true, 1e-4, {});
  EXPECT_EQ(one.float_products, (std::set<std::string>{"first", "last"}));
  EXPECT_EQ(one.taken, 1);
  EXPECT_GT(one.error, 0);
  EXPECT_LE(one.error, 1e-4);
  EXPECT_NE(to_string(one, 1e-4).find("float32 for products of first, last"), std::string::npos)
      << to_string(one, 1e-4);
}

TEST(Bfloat16Budget, KeepsAllWhenTheTimeIsSpent) {
  const Bfloat16Choice products = fit_bfloat16(three_products(), true, 1e-1, Deadline(-1));
  EXPECT_TRUE(products.budget_spent);
  EXPECT_EQ(products.taken, 0);
  EXPECT_EQ(products.float_products.size(), 3u);
}

// sin(x) and what follows from it, which is small, added: no products, and all is large enough to be stored.
Graph sum_of_results(double scale) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {256, 128}}, "x");
  const ValueId sine = g.add(Op::Sin, NoAttrs{}, {x}, {"sine"});
  HostTensor factor(TensorType{DType::f32, {}});
  factor.mutable_data<float>()[0] = static_cast<float>(scale);
  const ValueId scaled =
      g.add(Op::Mul, NoAttrs{},
            {g.add(Op::Exp, NoAttrs{}, {sine}, {"exp"}), g.add_constant(factor, "factor")}, {"mul"});
  const ValueId means = g.add(Op::ReduceMax, ReduceAttrs{{1}, true}, {scaled}, {"max"});
  const ValueId rest = g.add(Op::Sub, NoAttrs{}, {scaled, means}, {"sub"});
  g.set_outputs({g.add(Op::Add, NoAttrs{}, {rest, sine}, {"add"})}, {"y"});
  return g;
}

TEST(Bfloat16Budget, StoresResultsThatFit) {
  const Graph graph = sum_of_results(1e-3);
  for (const bool multiplies : {false, true}) {
    const Bfloat16Choice all = fit_bfloat16(graph, multiplies, 1e-2, {});
    EXPECT_EQ(all.products, 0);
    EXPECT_EQ(all.results, 3);  // sine and mul have two readers, and what reads sub reads sine too
    EXPECT_EQ(all.stored, 3);
    EXPECT_GT(all.error, 1e-3);
  }
  // What is scaled by a thousandth matters a thousandth as much.
  const Bfloat16Choice one = fit_bfloat16(graph, false, 1e-4, {});
  EXPECT_EQ(one.float_results, (std::set<std::string>{"sine"}));
  EXPECT_EQ(one.stored, 2);
  EXPECT_LE(one.error, 1e-4);
  EXPECT_NE(to_string(one, 1e-4).find("float32 for results of sine"), std::string::npos);
  EXPECT_EQ(fit_bfloat16(graph, false, 1e-8, {}).stored, 0);
}

// A product's result goes through a depthwise convolution and is added to what that gives; then the most of
// each row is taken off. All results can be stored.
Graph residual_network() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {1, 24, 32, 40}}, "x");
  const auto convolution = [&](ValueId value, const char* name, Shape weights, int64_t pad, int64_t group) {
    ConvAttrs attrs;
    attrs.strides = attrs.dilations = {1, 1};
    attrs.pads_before = attrs.pads_after = {pad, pad};
    attrs.group = group;
    const ValueId w = g.add_constant(normal_weights(weights, 7, 0.2), std::string("w_") + name);
    return g.add(Op::Conv, attrs, {value, w}, {name});
  };
  const ValueId first = g.add(Op::Relu, NoAttrs{}, {convolution(x, "first", {32, 24, 1, 1}, 0, 1)}, {"relu"});
  const ValueId each = convolution(first, "depthwise", {32, 1, 3, 3}, 1, 32);
  const ValueId sum = g.add(Op::Add, NoAttrs{}, {each, first}, {"add"});
  const ValueId most = g.add(Op::ReduceMax, ReduceAttrs{{3}, true}, {sum}, {"max"});
  const ValueId last =
      convolution(g.add(Op::Sub, NoAttrs{}, {sum, most}, {"sub"}), "last", {16, 32, 1, 1}, 0, 1);
  g.set_outputs({last}, {"y"});
  return g;
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

// Plans at random for a processor that multiplies bfloat16 and for one that only stores it.
TEST(Bfloat16Storage, IsCompiledAndVerified) {
  const TempDir scratch;
  const std::string executable = scratch.path() + "/net.so";
  int64_t stored = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    CompileOptions options;
    options.threads = 2;
    options.target = seed % 2 == 0 ? "x86-64-v3" : "native";
    options.accuracy = Accuracy::relaxed;
    options.output_error = 5e-2;
    options.strategy = Strategy::random;
    options.random_seed = seed;
    options.heal = false;
    if (!is_here(detect_device(options.target, 2))) continue;
    const CompileResult result = compile_graph(residual_network(), "residual", executable, options);
    const std::vector<PlanTensor>& tensors = result.plan.tensors;
    stored += std::count_if(tensors.begin(), tensors.end(), [](const PlanTensor& tensor) {
      return tensor.role == TensorRole::intermediate && tensor.type.dtype == DType::bf16;
    });
    const VerifyResult check = compare_executable(residual_network(), executable, {});
    EXPECT_TRUE(check.passed) << failure_text(check);
    EXPECT_LE(check.outputs[0].relative, 0.05);
  }
  EXPECT_GT(stored, 4);
}

}  // namespace
}  // namespace korch
