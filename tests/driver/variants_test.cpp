// Kernel variants of the steps of an executable for a range of shapes: the bits of results never depend on them,
// and a second compilation measures nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/inspect/executable_inputs.h"
#include "korch/inspect/explain.h"
#include "korch/inspect/open_shapes.h"
#include "korch/inspect/verify.h"
#include "korch/interp/interpreter.h"
#include "korch/package/loaded.h"
#include "korch/variants/choice.h"

namespace korch {
namespace {

constexpr int64_t kRows = 256, kColumns = 384;

// y = relu(x a) b for x[n, 64]: at the bound slices are blocks of many rows, of which a small n needs little.
Graph two_products() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {kRows, 64}}, "x");
  const ValueId n = g.add_input({DType::i64, {}}, "n");
  const auto weights = [&](int64_t rows, int64_t columns) {
    std::vector<float> values(static_cast<size_t>(rows * columns));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 251) / 125 - 1;
    return g.add_constant(HostTensor::of<float>(DType::f32, {rows, columns}, values));
  };
  const ValueId hidden =
      g.add(Op::Relu, NoAttrs{}, {g.add(Op::MatMul, MatMulAttrs{}, {x, weights(64, kColumns)})});
  g.set_outputs({g.add(Op::MatMul, MatMulAttrs{}, {hidden, weights(kColumns, 64)}), n}, {"y", "n"}, {{0, 0}});
  g.set_open_dimensions({{"n", 1, kRows, {{0, 0}}}});
  return g;
}

class VariantsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempDir;
    first_ = compile("variants.so", WhichVariants::exact);
  }
  static void TearDownTestSuite() { delete folder_; }
  static CompileResult compile(const std::string& name, WhichVariants variants) {
    CompileOptions options;
    options.threads = 2;
    options.strategy = Strategy::greedy;
    options.schedule = PlanSchedule::barrier;
    options.database_path = path("k.db");
    options.variants.which = variants;
    options.other_schedules = false;  // else the step's own kernel may be the best one for few rows too
    options.variants.least = {{"n", kRows / 4 + 1}};  // below nothing is measured: runs try
    return compile_graph(two_products(), "launches", path(name), options);
  }
  static std::string path(const std::string& name) { return folder_->path() + "/" + name; }
  static inline TempDir* folder_;
  static inline CompileResult first_;
};

TEST_F(VariantsTest, ChangeNoBit) {
  const Plan& plan = first_.plan;
  compile("none.so", WhichVariants::none);
  int steps = 0, choices = 0;
  for (const PlanStep& step : plan.steps) {
    if (step.variants.list.empty()) continue;
    ++steps;
    EXPECT_EQ(step.variants.list[0].kernel, step.kernel);
    EXPECT_EQ(step.variants.list[0].constants, step.constants);
    choices += variants::chosen_variant(step.variants, {kRows / 4 + 1}) > 0 ? 1 : 0;
  }
  ASSERT_GT(steps, 0);
  EXPECT_GT(choices, 0);  // a quarter of the rows in blocks of many
  const Graph graph = two_products();
  LoadedExecutable with(path("variants.so")), without(path("none.so"));
  std::vector<std::unique_ptr<LoadedExecutable>> others;
  for (const int threads : {1, 2, 3, 5})
    for (const PlanSchedule schedule : kSchedules)
      others.push_back(std::make_unique<LoadedExecutable>(path("variants.so"), threads, schedule));
  for (const int64_t n : {256, 65, 128, 66, 200, 255, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 65}) {
    std::vector<HostTensor> inputs = random_inputs(graph, static_cast<uint64_t>(n));
    inputs.back() = HostTensor::of<int64_t>(DType::i64, {}, {n});
    const HostTensor got = with.run(dense_inputs(graph, inputs))[0];
    const HostTensor wanted = without.run(dense_inputs(graph, inputs))[0];
    ASSERT_EQ(got.shape(), (Shape{n, 64}));
    EXPECT_EQ(std::memcmp(got.raw(), wanted.raw(), static_cast<size_t>(got.bytes())), 0) << n;
    for (size_t i = 0; i < others.size(); ++i) {
      const HostTensor other = others[i]->run(dense_inputs(graph, inputs))[0];
      EXPECT_EQ(std::memcmp(other.raw(), wanted.raw(), static_cast<size_t>(got.bytes())), 0)
          << n << ", " << i;
    }
    const HostTensor exact = interpret(graph, inputs)[0].cropped(got.shape());
    for (int64_t i = 0; i < got.elements(); ++i)
      ASSERT_NEAR(element_as_double(got, i), element_as_double(exact, i), 1e-2) << n;
  }
}

TEST_F(VariantsTest, ASecondCompilationMeasuresNothing) {
  EXPECT_GT(first_.measured, 0);
  const CompileResult second = compile("second.so", WhichVariants::exact);
  EXPECT_EQ(second.measured, 0);
  EXPECT_EQ(second.compiled, 0);
  EXPECT_EQ(read_file(path("variants.so")), read_file(path("second.so")));
}

TEST_F(VariantsTest, AreExplained) {
  const Plan& plan = first_.plan;
  EXPECT_NE(explain(plan, {}, {}).find(" variants, by a run's extents"), std::string::npos);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    if (plan.steps[s].variants.list.empty()) continue;
    ExplainOptions options;
    options.kernel = static_cast<int>(s);
    const std::string text = explain(plan, {}, options);
    EXPECT_NE(text.find("variant 1: "), std::string::npos) << text;
    EXPECT_NE(text.find("n: from 65 variant "), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace korch
