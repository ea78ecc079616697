// The report of a plan: its list of fields is whole, and it comes back as it was written.
#include <gtest/gtest.h>

#include <set>

#include "korch/base/error.h"
#include "korch/base/json.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

struct Anything {
  template <typename T>
  operator T() const {
    return {};
  }
};

// Fields of an aggregate: so many initializers it takes, and no more.
template <typename T, typename... Initializers>
constexpr int count_fields() {
  if constexpr (requires { T{Initializers{}..., Anything{}}; })
    return count_fields<T, Initializers..., Anything>();
  else
    return sizeof...(Initializers);
}

template <typename T>
void fill(T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    value = "text";
  else if constexpr (std::is_same_v<T, bool>)
    value = true;
  else if constexpr (std::is_arithmetic_v<T>)
    value = 7;
}
void fill(std::optional<double>& value) {
  value = 7.5;
}
void fill(std::vector<std::string>& value) {
  value = {"one", "two"};
}
void fill(std::map<std::string, int>& value) {
  value = {{"a", 1}, {"b", 2}};
}
void fill(std::vector<StruckKernel>& value) {
  value = {{"key", "kernel", "reason"}};
}
void fill(std::vector<WholeRun>& value) {
  value = {{"greedy", 1.5, 2.5}, {"solver's", 1, 3}};
}
void fill(Device& value) {
  value = cpu_device(Isa::x86_64_v4, 3);
  value.name = "a processor";
  value.memory = {{"near", 5, false, 7.5}, {"far", 0, true, 0.5}};
  value.flops_per_us = 1;
  value.launch_us = 2;
}

Plan full_plan() {
  Plan plan;
  visit_report(plan.report, [](const ReportField&, auto& value) { fill(value); });
  return plan;
}

TEST(Report, EveryFieldIsListedOnce) {
  std::set<std::string> keys;
  std::set<const void*> fields;
  int count = 0;
  const PlanReport report;
  visit_report(report, [&](const ReportField& field, const auto& value) {
    EXPECT_TRUE(keys.insert(field.key).second) << field.key;
    EXPECT_TRUE(fields.insert(&value).second) << field.key;
    EXPECT_FALSE(std::string(field.meaning).empty()) << field.key;
    ++count;
  });
  EXPECT_EQ(count, count_fields<PlanReport>());
}

TEST(Report, ComesBack) {
  const Plan plan = full_plan();
  const std::string text = report_to_json(plan.report);
  EXPECT_EQ(report_to_json(plan_from_json(plan_to_json(plan)).report), text);
  const auto json = nlohmann::json::parse(text);
  visit_report(plan.report, [&](const ReportField& field, const auto&) {
    ASSERT_TRUE(json.contains(field.key)) << field.key;
    EXPECT_NE(json[field.key], nlohmann::json()) << field.key;
  });
  EXPECT_EQ(json["kept_plan"], "greedy");
  EXPECT_EQ(json["predicted_us"], 1.5);
}

TEST(Plan, ParametersOfLibraryCallsComeBack) {
  Plan plan = full_plan();
  plan.kernels.emplace_back();
  plan.kernels.back().call = {"korch", "copy", {1, -2, int64_t{1} << 40}, {0.5F, 0.1F}};
  const Plan read = plan_from_json(plan_to_json(plan));
  EXPECT_EQ(read.kernels.back().call, plan.kernels.back().call);
}

TEST(Report, WithoutAFieldItIsNone) {
  const auto whole = nlohmann::ordered_json::parse(plan_to_json(full_plan()));
  const PlanReport none;
  visit_report(none, [&](const ReportField& field, const auto&) {
    auto json = whole;
    json["report"].erase(field.key);
    EXPECT_THROW(plan_from_json(json.dump()), Error) << field.key;
  });
}

}  // namespace
}  // namespace korch
