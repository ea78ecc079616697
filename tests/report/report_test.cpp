// The data that the page holds: what it shows is right when this is right and the browser test passes.
#include <gtest/gtest.h>

#include "korch/base/error.h"
#include "korch/base/json.h"
#include "korch/plan/plan_json.h"
#include "korch/report/explanations.h"
#include "made_plan.h"

namespace korch {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostPageBytes = 3'000'000;

Json data_of(const Plan& plan, const std::vector<double>& step_us = {}) {
  return Json::parse(report_data({&plan, "in words", {}, step_us, {}}));
}

double us_of(const Json& shares, const std::string& name) {
  for (const Json& share : shares)
    if (share["name"] == name) return share["us"];
  ADD_FAILURE() << "no share of " << name << " in " << shares;
  return 0;
}

double total_us(const Json& shares) {
  double total = 0;
  for (const Json& share : shares) total += share["us"].get<double>();
  return total;
}

TEST(ReportData, EdgesLeadFromMakersThroughViewsToReaders) {
  const Json edges = data_of(small_plan())["edges"];
  const Json expected = {{{"from", "i0"}, {"to", "s0"}, {"tensor", 0}},
                         {{"from", "s0"}, {"to", "s1"}, {"tensor", 3}},
                         {{"from", "s1"}, {"to", "s2"}, {"tensor", 4}},
                         {{"from", "s2"}, {"to", "o0"}, {"tensor", 6}}};
  EXPECT_EQ(edges, expected);
}

// They are no inputs and outputs of the network, and the page has no place for them.
TEST(ReportData, NoEdgesLeadFromAndToExtents) {
  Plan plan = small_plan();
  PlanTensor extent = plan.tensors[0];
  extent.index = 1;
  plan.tensors.push_back(extent);
  plan.steps[0].inputs.push_back(static_cast<int>(plan.tensors.size()) - 1);
  extent.role = TensorRole::output;
  extent.alias_of = static_cast<int>(plan.tensors.size()) - 1;
  plan.tensors.push_back(extent);
  EXPECT_EQ(data_of(plan)["edges"], data_of(small_plan())["edges"]);
}

TEST(ReportData, TimeIsSharedOutByWork) {
  const Json data = data_of(small_plan());
  EXPECT_NEAR(us_of(data["by_operator"], "Conv"), 45, 1e-9);       // 3/4 of 60
  EXPECT_NEAR(us_of(data["by_operator"], "Relu"), 15 + 15, 1e-9);  // 1/4 of 60 and half of 30
  EXPECT_NEAR(us_of(data["by_operator"], "Add"), 15, 1e-9);
  EXPECT_NEAR(us_of(data["by_operator"], "reorder"), 10, 1e-9);
  EXPECT_NEAR(us_of(data["by_node"], kHostile), 45, 1e-9);
  EXPECT_NEAR(us_of(data["by_node"], "/relu"), 15 + 15 + 7.5, 1e-9);  // the Add is of two nodes
  EXPECT_NEAR(us_of(data["by_node"], "/add<b>"), 7.5, 1e-9);
  EXPECT_NEAR(us_of(data["by_node"], ""), 10, 1e-9);
  EXPECT_NEAR(total_us(data["by_operator"]), 100, 1e-9);
  EXPECT_NEAR(total_us(data["by_node"]), 100, 1e-9);
  EXPECT_EQ(data["by_node"][1]["steps"], Json({0, 1}));
}

TEST(ReportData, WhatWorkersDidInARun) {
  const Plan plan = small_plan();
  ReportInput input{
      &plan, "in words", {}, {}, {{0, 0, 0, 50.126}, {1, 1, 60, 90}, {1, 2, 90, 91}, {1, 3, 91, 92}}};
  const Json workers = Json::parse(report_data(input))["workers"];
  EXPECT_EQ(workers, Json({{{0, 0.0, 50.13}}, {{1, 60.0, 90.0}, {2, 90.0, 91.0}}}));  // step 3 is a copy
  input.spans.clear();
  for (int i = 0; i < 10000; ++i) input.spans.push_back({0, 0, 10.0 * i, 10.0 * i + 1 + i % 7});
  EXPECT_LT(Json::parse(report_data(input))["workers"][0].size(), 9000u);
  EXPECT_FALSE(data_of(plan).contains("workers"));
}

TEST(ReportData, TimesOfARunReplaceThoseOfTheKernelsAlone) {
  const Json data = data_of(small_plan(), {50, 40, 20});
  EXPECT_NEAR(total_us(data["by_operator"]), 110, 1e-9);
  EXPECT_EQ(data["steps"][1]["run_us"], 40);
  EXPECT_EQ(data["steps"][1]["us"], 30);
  EXPECT_FALSE(data_of(small_plan())["steps"][1].contains("run_us"));
}

TEST(ReportData, StepsTellWhatTheyAreAndWhatTheyCouldBe) {
  const Json steps = data_of(small_plan())["steps"];
  EXPECT_EQ(steps[0]["category"], "linear");
  EXPECT_EQ(steps[1]["category"], "elementwise");
  EXPECT_EQ(steps[2]["category"], "layout");
  EXPECT_EQ(steps[0]["library"], "korch");
  EXPECT_EQ(steps[0]["primitives"][1]["also_in"], Json::array({1}));
  EXPECT_EQ(steps[1]["primitives"][0]["also_in"], Json::array({0}));
  EXPECT_FALSE(steps[1]["primitives"][1].contains("also_in"));
  EXPECT_EQ(steps[1]["primitives"][1]["op"], "Add");
  EXPECT_EQ(steps[1]["rejected"][0]["same_inputs"], true);
  EXPECT_EQ(steps[1]["rejected"][1]["us"], 8);
}

// 0 to 100 at step 0 and 1; 50 to 150, which in step 1 is written in place of a part; 300 to 310 in step 2.
TEST(ReportData, WhatTheArenaHoldsAtEachStep) {
  const Plan plan = small_plan();
  ReportInput input{&plan, "in words", {}, {}};
  EXPECT_FALSE(Json::parse(report_data(input)).contains("memory"));
  input.memory = {400, 1000, {{2, 0, 1, 0, 100}, {4, 1, 2, 50, 100}, {-1, 2, 2, 300, 10}}};
  const Json memory = Json::parse(report_data(input))["memory"];
  EXPECT_EQ(memory["live"], Json({100, 150, 110}));
  EXPECT_EQ(memory["peak_step"], 1);
  EXPECT_EQ(memory["arena_bytes"], 400);
  EXPECT_EQ(memory["weights_bytes"], 1000);
  EXPECT_EQ(memory["buffers"][1], Json({4, 1, 2, 50, 100}));
}

TEST(ReportData, StepsOfSeveralPlansAreToldApart) {
  Plan plan = small_plan();
  EXPECT_TRUE(data_of(plan)["shape_plans"].empty());
  plan.dimensions = {{"n", 1, 8, {}}, {"m", 2, 4, {}}};
  plan.shape_plans.resize(2);
  plan.shape_plans[0].end_step = plan.shape_plans[1].first_step = 2;
  plan.shape_plans[1].end_step = 3;
  plan.shape_plans[0].bounds = {8, 4};
  plan.shape_plans[1].bounds = {1, 4};
  const Json parts = data_of(plan)["shape_plans"];
  EXPECT_EQ(parts[0], Json({{"bounds", "n up to 8, m up to 4"}, {"first_step", 0}, {"end_step", 2}}));
  EXPECT_EQ(parts[1], Json({{"bounds", "n up to 1, m up to 4"}, {"first_step", 2}, {"end_step", 3}}));
}

TEST(ReportData, LayoutsAndFamiliesThatThePlanNamesAreExplained) {
  const Plan plan = small_plan();
  ReportInput input{&plan, "in words", {}, {}};
  input.families = {{"loop", {"loops over memory", ""}}, {"matmul", {"products", "rows"}}};
  const Json data = Json::parse(report_data(input));
  EXPECT_EQ(data["families"], Json({{"loop", {{"what", "loops over memory"}, {"numbers", ""}}}}));
  EXPECT_EQ(data["layouts"]["rm"], "row-major: in memory the last axis is the innermost");
  EXPECT_EQ(data["layouts"]["p0231"],  // only a rejected kernel has it
            "axes 0, 2, 3, 1 from the outermost to the innermost in memory (channels last, NHWC)");
  EXPECT_EQ(data["layouts"].size(), 2u);
  EXPECT_EQ(meaning(Layout::channel_blocked(16)), "axis 1 in blocks of 16, which are innermost");
}

TEST(PlanJson, ReferencesThatLeadOutsideAreRefused) {
  const auto is_refused = [](const Plan& plan) {
    try {
      plan_from_json(plan_to_json(plan));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::io;
    }
    return false;
  };
  Plan plan = small_plan();
  EXPECT_FALSE(is_refused(plan));
  plan.steps[1].inputs[0] = static_cast<int>(plan.tensors.size());
  EXPECT_TRUE(is_refused(plan));
  plan = small_plan();
  plan.steps[1].kernel = -1;
  EXPECT_TRUE(is_refused(plan));
  plan = small_plan();
  plan.tensors[3].alias_of = 3;  // a view of itself
  EXPECT_TRUE(is_refused(plan));
}

TEST(PlanJson, KeepsWhatTheReportShows) {
  const Plan plan = plan_from_json(plan_to_json(small_plan()));
  EXPECT_EQ(report_data({&plan, "", {}, {}}), [] {
    const Plan made = small_plan();
    return report_data({&made, "", {}, {}});
  }());
}

TEST(ReportSources, TheMostExpensiveKernelsKeepTheirs) {
  Plan plan = long_plan(80);
  std::vector<std::string> sources = long_sources(plan);
  Json kept = Json::parse(report_sources({&plan, "", sources, {}}));
  EXPECT_EQ(kept, Json(sources));
  for (std::string& source : sources)
    for (int i = 0; i < 3; ++i) source += source;  // near enough to be found again ...
  unsigned state = 1;
  for (std::string& source : sources)  // ... but for every second character
    for (size_t i = 0; i < source.size(); i += 2)
      source[i] = static_cast<char>('0' + ((state = state * 1103515245 + 12345) >> 16) % 64);
  kept = Json::parse(report_sources({&plan, "", sources, {}}));
  double least_kept = 1e9, most_dropped = 0;
  for (size_t k = 0; k < sources.size(); ++k) {
    if (!kept[k].is_null()) {
      EXPECT_EQ(kept[k], sources[k]);
    }
    double& limit = kept[k].is_null() ? most_dropped : least_kept;
    limit = kept[k].is_null() ? std::max(limit, plan.steps[k].predicted_us)
                              : std::min(limit, plan.steps[k].predicted_us);
  }
  EXPECT_GT(most_dropped, 0);
  EXPECT_LE(most_dropped, least_kept);
  EXPECT_LT(report_page({&plan, "", sources, {}}).size(), kMostPageBytes);
}

TEST(ReportPage, HoldsNoTextOfTheModelAsHtml) {
  const Plan plan = small_plan();
  const std::string page = report_page({&plan, kHostile, {"", kHostile, ""}, {}});
  EXPECT_EQ(page.find("broken in"), std::string::npos);
  EXPECT_EQ(page.find("alert(1)"), std::string::npos);
  EXPECT_EQ(page.find("{{data}}"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(ReportPage, AThousandKernelsFit) {
  const Plan plan = long_plan(1000);
  EXPECT_LT(report_page({&plan, "", long_sources(plan), {}}).size(), kMostPageBytes);
}

}  // namespace
}  // namespace korch
