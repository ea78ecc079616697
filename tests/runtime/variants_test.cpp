// Kernel variants of a step: which a run takes.
#include "korch/runtime/variants.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "korch/runtime/executor.h"
#include "korch/runtime/variant_cost.h"

namespace korch::rt {
namespace {

constexpr int64_t kMost = 100;

// Whatever variant: output[0] says which one ran, output[1] counts slices.
template <int kWay>
int32_t note(const korch_kernel_context* context, int64_t begin, int64_t end) {
  auto* output = static_cast<int64_t*>(context->args[0]);
  __atomic_store_n(&output[0], kWay, __ATOMIC_RELAXED);
  __atomic_fetch_add(&output[1], end - begin, __ATOMIC_RELAXED);
  return KORCH_KERNEL_OK;
}

// Costs 100, 2 e and 20 + e: the third from 20 on, for extents of 10 to 100, and the first from 75 on: it
// needs not be faster, if it is no more than 5 % slower.
struct Tables {
  const Phase phases[3] = {{note<0>, 10, 1}, {note<1>, kMost, 1}, {note<2>, kMost, 1}};
  const BufferRef args[2] = {{kOutput, 0, 0}, {kInput, 0, 0}};
  SliceLimit limits[1] = {{0, 1, 1, kMost, 1, 0, 1}};
  Step others[2] = {variant(1), variant(2)};
  VariantCost costs[3] = {cost(100, 0, 0), cost(0, 200, kMost), cost(20, 100, kMost)};
  VariantTable table{others, costs, 3, 1, {1, 0}, {10, 0}, {kMost, 0}, true};
  Step step = own();
  Program program{&step, 1, 1, 0, 0, false};

  Step variant(int i) const {
    Step step{&phases[i], 1, args, 2, nullptr, nullptr, 0, nullptr, 0, "variant"};
    step.limits = limits;
    step.limit_count = 1;
    return step;
  }
  Step own() const {
    Step step{phases, 1, args, 2, nullptr, nullptr, 0, nullptr, 0, "own"};
    step.variants = &table;
    return step;
  }
  static VariantCost cost(double constant, double slope, int64_t count) {
    return {{{1, 0, 1, count}, {1, 0, 1, 0}}, {constant, slope, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0}};
  }
};

class VariantsTest : public testing::TestWithParam<int> {
 protected:
  VariantsTest() : pool_(Pool::create(GetParam()), [](Pool* pool) { Pool::destroy(pool); }) { start(); }

  void start() {
    RunStatus status;
    executor_ = {Executor::create(&tables_.program, nullptr, pool_->workers(), &status),
                 [](Executor* executor) { Executor::destroy(executor); }};
    ASSERT_NE(executor_, nullptr);
  }

  // The variant that a run of this extent takes, and how many slices.
  std::pair<int64_t, int64_t> run(int64_t extent, const RunOptions& options = {}) {
    int64_t output[2] = {-1, 0};
    const void* inputs[] = {&extent};
    void* outputs[] = {output};
    EXPECT_EQ(executor_->run(inputs, outputs, options).error, RunError::none);
    return {output[0], output[1]};
  }

  Tables tables_;
  std::shared_ptr<Pool> pool_;
  std::shared_ptr<Executor> executor_;
};

TEST_P(VariantsTest, RunTheWayThatCostsLeast) {
  using Ran = std::pair<int64_t, int64_t>;
  for (int repeat = 0; repeat < 3; ++repeat)
    for (int64_t e = 10; e <= kMost; ++e) {
      if (e == 20 || e == 75) continue;  // equal costs
      const Ran wanted = e < 20 ? Ran{1, e} : e < 75 ? Ran{2, e} : Ran{0, 10};
      EXPECT_EQ(run(e), wanted) << e;
    }
}

TEST_P(VariantsTest, WhoObservesSeesTheStepItself) {
  RunOptions options;
  int64_t seen = 0;
  options.observe = [](void* user, uint32_t, void* const* args) {
    *static_cast<int64_t*>(user) = *static_cast<const int64_t*>(args[1]);
  };
  options.observe_user = &seen;
  EXPECT_EQ(run(15, options).first, 0);
  EXPECT_EQ(seen, 15);
  std::vector<double> step_us(1);
  RunOptions timed;
  timed.step_us = step_us.data();
  EXPECT_EQ(run(15, timed).first, 1);
  EXPECT_GT(step_us[0], 0);
}

// Outside of what was measured each variant has its turns, and then one is kept.
TEST_P(VariantsTest, RunsTryThreeWhereCostsDoNotTell) {
  int turns[3] = {};
  for (int i = 0; i < 9; ++i) ++turns[run(5).first];
  for (const int count : turns) EXPECT_EQ(count, 3);
  const int64_t kept = run(5).first;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(run(5).first, kept);
  EXPECT_EQ(run(15).first, 1);  // and within nobody tries
  EXPECT_EQ(run(5).first, kept);
  tables_.table.trusted = false;
  start();
  for (int& count : turns) count = 0;
  for (int i = 0; i < 9; ++i) ++turns[run(15).first];
  for (const int count : turns) EXPECT_EQ(count, 3);
}

INSTANTIATE_TEST_SUITE_P(Threads, VariantsTest, testing::Values(1, 2, 4));

TEST(Variants, KeepWhatTookLeast) {
  Tables tables;
  const std::unique_ptr<Variants, void (*)(Variants*)> variants(Variants::create(&tables.program),
                                                                Variants::destroy);
  int64_t extent = 3;
  int64_t output[2];
  void* args[] = {output, &extent};
  const double us[3] = {7, 5, 6};
  bool tries = true;
  for (int i = 0; i < 9; ++i) {
    const uint32_t variant = variants->choose(0, args, &tries);
    ASSERT_TRUE(tries);
    variants->note(0, us[variant] + i % 2);  // noise changes nothing: the least counts
  }
  EXPECT_EQ(variants->choose(0, args, &tries), 1u);
  EXPECT_FALSE(tries);
}

TEST(VariantCost, IsARatioOfTheSharesThatAreNeeded) {
  const VariantCost cost{{{3, 7, 8, 12}, {1, 0, 1, 5}}, {1, 2, 3, 4, 5, 6}, {2, 0, 1, 0, 0, 0}};
  const int64_t extents[] = {9, 2};  // of 12: ceil(27 / 8) = 4; of 5: 2
  const double x = 4.0 / 12, y = 2.0 / 5;
  EXPECT_DOUBLE_EQ(variant_us(cost, extents, 2),
                   (1 + 2 * x + 3 * y + 4 * x * x + 5 * x * y + 6 * y * y) / (2 + y));
  EXPECT_EQ(needed_share({1, 0, 1, 5}, 0), 0.2);  // at least one of them
  EXPECT_EQ(needed_share({1, 0, 1, 5}, 99), 1);
  EXPECT_EQ(needed_share({1, 0, 1, 0}, 2), 1);
}

}  // namespace
}  // namespace korch::rt
