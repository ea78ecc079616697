#include "korch/driver/variant_budget.h"

#include <gtest/gtest.h>

#include "korch/driver/plan_bounds.h"

namespace korch {
namespace {

// A step of one plan for all shapes: its own constant of 100 bytes, and variants with constants of these
// bytes that make it faster by these microseconds; 0 bytes: the step's own constant.
class BudgetTest : public testing::Test {
 protected:
  int constant(int64_t bytes) {
    Plan& plan = built_.plan;
    PlanTensor tensor;
    tensor.role = TensorRole::constant;
    tensor.index = static_cast<int>(plan.constants.size());
    tensor.size_bytes = bytes;
    plan.tensors.push_back(tensor);
    const std::string content(static_cast<size_t>(bytes), static_cast<char>('a' + plan.constants.size()));
    plan.constants.push_back({0, {}, hash_text(content), bytes});
    built_.constant_bytes.push_back(content);
    return static_cast<int>(plan.tensors.size()) - 1;
  }

  int kernel() {
    built_.plan.kernels.emplace_back().source = std::to_string(built_.plan.kernels.size());
    built_.objects.push_back("object " + std::to_string(built_.plan.kernels.size()));
    return static_cast<int>(built_.plan.kernels.size()) - 1;
  }

  void add_step(const std::vector<std::pair<int64_t, double>>& variants) {
    PlanStep step;
    step.kernel = kernel();
    step.constants = {constant(100)};
    step.variants.extents = {0};
    step.variants.samples = {{1}, {2}};
    step.variants.list.push_back({step.kernel, step.constants, {}, "own", {}, {}, {}, 0, {50, 50}});
    for (const auto& [bytes, faster] : variants)
      step.variants.list.push_back({kernel(),
                                    {bytes > 0 ? constant(bytes) : step.constants[0]},
                                    {},
                                    std::to_string(bytes),
                                    {},
                                    {},
                                    {},
                                    0,
                                    {50 - faster, 60}});
    built_.plan.steps.push_back(step);
  }

  std::vector<std::string> variants(size_t step) const {
    std::vector<std::string> names;
    for (const KernelVariant& variant : built_.plan.steps[step].variants.list)
      names.push_back(variant.implementation);
    return names;
  }

  int64_t constant_bytes() const {
    int64_t sum = 0;
    for (const std::string& bytes : built_.constant_bytes) sum += static_cast<int64_t>(bytes.size());
    return sum;
  }

  BuiltPlan built_;
};

using Names = std::vector<std::string>;

TEST_F(BudgetTest, LeavesOutWhatGainsLeastPerByte) {
  add_step({{60, 5}, {0, 4}, {90, 40}});
  limit_variant_bytes(built_);
  // 100 for the first plan's, so 100 for variants: 60 and 90 are too much together.
  EXPECT_EQ(variants(0), (Names{"own", "0", "90"}));
  EXPECT_EQ(constant_bytes(), 190);
  ASSERT_EQ(built_.plan.report.limits.size(), 1u);
  EXPECT_NE(built_.plan.report.limits[0].find("variant_bytes: 1 kernel variants"), std::string::npos);
  // What nobody uses is gone, the others are where they are used.
  EXPECT_EQ(built_.objects, (Names{"object 1", "object 3", "object 4"}));
  const std::vector<KernelVariant>& left = built_.plan.steps[0].variants.list;
  EXPECT_EQ(left[2].kernel, 2);
  const PlanTensor& tensor = built_.plan.tensors[static_cast<size_t>(left[2].constants[0])];
  EXPECT_EQ(built_.constant_bytes[static_cast<size_t>(tensor.index)].size(), 90u);
}

TEST_F(BudgetTest, LeavesAloneWhatFits) {
  add_step({{60, 5}, {40, 9}});
  limit_variant_bytes(built_);
  EXPECT_EQ(variants(0), (Names{"own", "60", "40"}));
  EXPECT_TRUE(built_.plan.report.limits.empty());
}

TEST_F(BudgetTest, AStepWithoutOtherWaysHasNone) {
  add_step({{101, 30}});
  limit_variant_bytes(built_);
  EXPECT_EQ(variants(0), Names{});
  EXPECT_EQ(constant_bytes(), 100);
}

TEST(PlanLeasts, AreWhereASmallerPlanEnds) {
  const auto product = [](const std::vector<int64_t>& extents) {
    double time = 1;
    for (const int64_t extent : extents) time *= static_cast<double>(extent);
    return time;
  };
  const std::vector<OpenDimension> one = {{"n", 3, 64, {}}};
  const std::vector<PlanBounds> plans = {{{"n", 64}}, {{"n", 16}}, {{"n", 32}}, {{"n", 4}}};
  const auto least = [&](size_t plan) { return plan_leasts(plans[plan], plans, one, product).at("n"); };
  EXPECT_EQ(least(0), 33);
  EXPECT_EQ(least(1), 5);
  EXPECT_EQ(least(2), 17);
  EXPECT_EQ(least(3), 3);
  const std::vector<OpenDimension> two = {{"n", 4, 64, {}}, {"m", 1, 8, {}}};
  const std::vector<PlanBounds> all = {
      {{"n", 64}, {"m", 8}}, {{"n", 16}, {"m", 8}}, {{"n", 32}, {"m", 4}}, {{"n", 64}, {"m", 2}}};
  EXPECT_EQ(plan_leasts(all[0], all, two, product), (PlanBounds{{"n", 17}, {"m", 3}}));
  // A run of few n and few m may take this one or the third: which depends on what they take.
  EXPECT_EQ(plan_leasts(all[1], all, two, product), (PlanBounds{{"n", 4}, {"m", 1}}));
}

}  // namespace
}  // namespace korch
