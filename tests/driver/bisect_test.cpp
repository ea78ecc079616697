// Which kernel of an executable with several plans is wrong, and what is said where it cannot be told.
#include "korch/inspect/bisect.h"

#include <gtest/gtest.h>

#include "../onnx/model_builder.h"
#include "korch/backend/cpu/compiler.h"
#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/inspect/verify.h"
#include "korch/onnx/import.h"
#include "korch/profile/database.h"

namespace korch {
namespace {

// y = softmax(f x w) over the rows: n of them, 2 to 8. Rules put the factors into the weights.
std::string model(const TempDir& folder) {
  ModelBuilder b(17);
  b.input("x", {-1, 6}, 1, {"n", ""}).output("y");
  std::vector<float> weights(36), factors(6);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i * 37 % 64) / 32 - 1;
  for (size_t i = 0; i < factors.size(); ++i) factors[i] = 1 + static_cast<float>(i) / 8;
  b.floats("w", {6, 6}, weights);
  b.floats("f", {6}, factors);
  b.node("Mul", {"x", "f"}, {"scaled"});
  b.node("MatMul", {"scaled", "w"}, {"product"});
  set_attribute(b.node("Softmax", {"product"}, {"y"}), "axis", int64_t{0});
  write_file(folder.path() + "/model.onnx", b.bytes());
  return folder.path() + "/model.onnx";
}

class BisectOfSeveralPlans : public testing::Test {
 protected:
  void SetUp() override {
    model_ = model(folder_);
    options_.threads = 2;
    options_.measure = Measure::none;
    options_.verify = false;
    options_.shapes = {{"n", {8}}};
    options_.least_shapes = {{"n", {2}}};
    options_.database_path = folder_.path() + "/k.db";
    plan_ = compile_model(model_, executable(), options_).plan;
    graph_ = import_onnx(model_, import_options());
  }
  std::string executable() const { return folder_.path() + "/model.so"; }

  ImportOptions import_options(const std::map<std::string, int64_t>& bounds = {}) const {
    ImportOptions options;
    options.shapes = options_.shapes;
    options.least_shapes = options_.least_shapes;
    options.bounds = bounds;
    return options;
  }

  // From now on the executable's kernel does nothing.
  void spoil(const Kernel& kernel) {
    std::string source;
    for (const KernelPhase& phase : kernel.phases)
      source += "extern \"C\" int " + phase.symbol + "(const void*, long, long) { return 0; }\n";
    const std::string code = detect_device("native", 2).code;
    Result<std::string> object = compile_object(source, code);
    ASSERT_TRUE(object.ok());
    Database(options_.database_path)
        .put_object(hash_text(compiler_version() + code + kernel.source), object.value());
    compile_model(model_, executable(), options_);
  }

  Bisection bisect_with(int64_t n, bool imports = true) {
    LoadedExecutable loaded(executable());
    std::vector<HostTensor> inputs = random_inputs(graph_, 1);
    inputs.back() = HostTensor::of<int64_t>(DType::i64, {}, {n});
    ImportWithin import_within;
    if (imports)
      import_within = [&](const auto& bounds) { return import_onnx(model_, import_options(bounds)); };
    return bisect(graph_, loaded, inputs, {}, import_within);
  }

  const TempDir folder_;
  std::string model_;
  CompileOptions options_;
  Plan plan_;
  Graph graph_;
};

TEST_F(BisectOfSeveralPlans, EachIsJudgedByItsOwnGraph) {
  ASSERT_GE(plan_.shape_plans.size(), 3U);
  for (const ShapePlan& shape_plan : plan_.shape_plans) {
    const Bisection bisection = bisect_with(shape_plan.bounds[0]);
    EXPECT_EQ(bisection.unknown, "");
    EXPECT_TRUE(bisection.wrong.empty()) << describe(bisection);
    EXPECT_GE(bisection.largest.step, shape_plan.first_step);
    EXPECT_LT(bisection.largest.step, shape_plan.end_step);
  }
}

TEST_F(BisectOfSeveralPlans, TheWrongKernelIsNamed) {
  for (const size_t v : {size_t{0}, size_t{1}}) {
    const ShapePlan& shape_plan = plan_.shape_plans[v];
    const PlanStep& step = plan_.steps[static_cast<size_t>(shape_plan.end_step - 1)];
    spoil(plan_.kernels[static_cast<size_t>(step.kernel)]);
    const Bisection bisection = bisect_with(shape_plan.bounds[0]);
    ASSERT_EQ(bisection.wrong.size(), 1U) << describe(bisection);
    EXPECT_EQ(bisection.wrong[0].step, shape_plan.end_step - 1);
    EXPECT_EQ(bisection.wrong[0].kernel, step.label + ", " + step.implementation);
  }
}

TEST_F(BisectOfSeveralPlans, WhatIsNotJudgedIsSaid) {
  const std::string text = describe(bisect_with(7));
  EXPECT_NE(text.find("with the largest extents of the plan, n = 8, and not with those of the sample, n = 7"),
            std::string::npos)
      << text;
  EXPECT_NE(describe(bisect_with(2, false)).find("unknown: the run took the plan for extents up to n = 2"),
            std::string::npos);
}

}  // namespace
}  // namespace korch
