// What the self-check feeds beside random numbers, and what it demands then.
#include "korch/inspect/special_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>

#include "korch/inspect/verify.h"

namespace korch {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

HostTensor floats(const std::vector<float>& values) {
  return HostTensor::of<float>(DType::f32, {static_cast<int64_t>(values.size())}, values);
}

Tolerance tolerance_of(const std::vector<float>& exact) {
  return {DType::f32, converted(floats(exact), DType::f64)};
}

TEST(SpecialValues, LargeFloatInputsGetThem) {
  Graph graph;
  graph.add_input({DType::f32, {4, 10}}, "x");
  graph.add_input({DType::f32, {1}}, "scale");
  graph.add_input({DType::i64, {20}}, "ids");
  const std::vector<HostTensor> plain = random_inputs(graph, 1);
  const auto changed = [&](SpecialValues values, size_t input) {
    const HostTensor with = with_special_values(graph, plain, values)[input];
    std::vector<double> numbers;
    for (int64_t i = 0; i < with.elements(); ++i) {
      const double x = element_as_double(with, i);
      if (!(x == element_as_double(plain[input], i))) numbers.push_back(x);
    }
    return numbers;
  };
  ASSERT_EQ(changed(SpecialValues::nan, 0).size(), 1U);
  EXPECT_TRUE(std::isnan(changed(SpecialValues::nan, 0)[0]));
  EXPECT_EQ(changed(SpecialValues::extremes, 0),
            (std::vector<double>{kInf, -kInf, static_cast<double>(1e18F), static_cast<double>(1e-39F), 0}));
  for (const size_t input : {1, 2})
    for (const SpecialValues values : {SpecialValues::nan, SpecialValues::extremes})
      EXPECT_TRUE(changed(values, input).empty());
}

// A network of one number gets it all the same.
TEST(SpecialValues, OneNumberAlone) {
  Graph graph;
  graph.add_input({DType::f32, {1}}, "x");
  const auto with = with_special_values(graph, random_inputs(graph, 1), SpecialValues::nan);
  EXPECT_TRUE(std::isnan(element_as_double(with[0], 0)));
}

TEST(SpecialValues, NanMustStay) {
  for (const bool spreads : {false, true})
    EXPECT_FALSE(
        compare_special(tolerance_of({1, kNaN}), floats({1, 0}), SpecialValues::nan, {.spreads = spreads})
            .passed());
}

// Sums put together otherwise make of them NaN, an infinity, and of that anything: sigmoid(infinity) is 1.
TEST(SpecialValues, InfinitiesThatCancel) {
  const Tolerance tolerance = tolerance_of({1, kNaN, kInf});
  EXPECT_TRUE(compare_special(tolerance, floats({1, kInf, kInf}), SpecialValues::extremes, {}).passed());
  EXPECT_TRUE(compare_special(tolerance, floats({1, 1, kInf}), SpecialValues::extremes, {}).passed());
  EXPECT_FALSE(compare_special(tolerance, floats({1, kInf, kInf}), SpecialValues::nan, {}).passed());
  EXPECT_FALSE(compare_special(tolerance, floats({1, kNaN, -kInf}), SpecialValues::extremes, {}).passed());
  EXPECT_FALSE(compare_special(tolerance, floats({1, kNaN, kNaN}), SpecialValues::extremes, {}).passed());
}

// A tile of Winograd's: beside the NaN everything may be NaN, and an infinity too, but no number.
TEST(SpecialValues, WhatSpreads) {
  const Tolerance tolerance = tolerance_of({1, kNaN, kInf});
  EXPECT_TRUE(
      compare_special(tolerance, floats({kNaN, kNaN, kNaN}), SpecialValues::nan, {.spreads = true}).passed());
  EXPECT_TRUE(
      compare_special(tolerance_of({1, kNaN}), floats({1, 0}), SpecialValues::nan, {.loses = true}).passed());
  EXPECT_FALSE(compare_special(tolerance, floats({kNaN, kNaN, kNaN}), SpecialValues::nan, {}).passed());
  EXPECT_TRUE(compare_special(tolerance, floats({kInf, 1, 3}), SpecialValues::extremes, {.overflows = true})
                  .passed());
  EXPECT_FALSE(
      compare_special(tolerance, floats({kInf, 1, 3}), SpecialValues::nan, {.overflows = true}).passed());
  EXPECT_FALSE(
      compare_special(tolerance, floats({kNaN, kNaN, 3}), SpecialValues::nan, {.spreads = true}).passed());
  EXPECT_TRUE(
      compare_special(tolerance, floats({kNaN, 1, 3}), SpecialValues::extremes, {.spreads = true}).passed());
}

// Which of two is larger, where one is an infinity or NaN.
TEST(SpecialValues, ComparisonsOfThem) {
  const auto bits = [](uint8_t bit) { return HostTensor::of<uint8_t>(DType::bool_, {1}, {bit}); };
  const Tolerance tolerance(DType::bool_, bits(1));
  EXPECT_TRUE(compare_special(tolerance, bits(0), SpecialValues::extremes, {}).passed());
  EXPECT_TRUE(compare_special(tolerance, bits(0), SpecialValues::nan, {.spreads = true}).passed());
  EXPECT_FALSE(compare_special(tolerance, bits(0), SpecialValues::nan, {}).passed());
}

TEST(SpecialValues, StepsWithoutThemAreJudgedAsEver) {
  Plan plan;
  plan.kernels.emplace_back();
  plan.steps.emplace_back().kernel = 0;
  plan.report.alternatives_used["winograd"] = 1;
  const HostTensor plain = floats({1, 2}), special = floats({1, kNaN});
  const Tolerance tolerance = tolerance_of({1, 2});
  const auto passes = [&](const HostTensor& read) {
    return compare_special_step(plan, plan.steps[0], {&read}, tolerance, floats({1, kNaN})).passed();
  };
  EXPECT_FALSE(passes(plain));
  EXPECT_TRUE(passes(special));
}

// By what the plan uses.
TEST(SpecialValues, LimitsOfAPlan) {
  Plan plan;
  EXPECT_TRUE(special_value_limits(plan).empty());
  plan.report.alternatives_used["merge_linear"] = 1;  // a strict one
  EXPECT_TRUE(special_value_limits(plan).empty());
  plan.report.alternatives_used["strassen"] = 1;
  plan.flushes_subnormals = true;
  const std::vector<std::string> limits = special_value_limits(plan);
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].find("strassen"), 0U);
}

}  // namespace
}  // namespace korch
