// A model of costs, from kernels that are measured here to a plan.
#include <fmt/format.h>

#include <algorithm>

#include "cli.h"
#include "korch/base/json.h"

namespace korch {
namespace {

class Costs : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    ModelBuilder b;
    b.input("x", {64, 32}).output("y");
    b.floats("w", {32, 64}, std::vector<float>(32 * 64, 0.5F));
    b.node("MatMul", {"x", "w"}, {"p"});
    b.node("Relu", {"p"}, {"r"});
    b.node("Softmax", {"r"}, {"y"});
    write_model("net.onnx", b);
  }
  std::string database() const { return " --profile-db " + path("k.db"); }
};

TEST_F(Costs, OfSomeKernelsAreMeasuredWithTheirFeatures) {
  ASSERT_EQ(run("costs measure " + path("net.onnx") + " --kernels 5 --threads 1" + database()), 0) << err_;
  EXPECT_NE(out_.find("5 kernels measured"), std::string::npos) << out_;
  ASSERT_EQ(run("costs measure " + path("net.onnx") + " --kernels 5 --threads 1" + database()), 0) << err_;
  EXPECT_NE(out_.find("0 kernels measured"), std::string::npos) << out_;  // the same seed: they are known
  ASSERT_EQ(run("costs export " + path("costs") + database()), 0) << err_;
  int rows = 0;
  std::istringstream lines(read_file(path("costs")));
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    if (!row.contains("cost")) continue;
    ++rows;
    EXPECT_EQ(row.at("conditions").at("network"), "net.onnx");
    EXPECT_GT(row.at("conditions").at("features").size(), 50U);
    EXPECT_EQ(row.at("care"), "thorough");
  }
  EXPECT_EQ(rows, 5);
  ASSERT_EQ(run("costs score shipped" + database()), 0) << err_;
  EXPECT_NE(out_.find("5 costs of 1 network"), std::string::npos) << out_;
  expect_refused("costs train " + path("m.json") + database(), 2,
                 {"5 costs of 1 networks are too few to learn from"});
  EXPECT_FALSE(file_exists(path("m.json")));
}

TEST_F(Costs, AreATableForOtherPrograms) {
  ASSERT_EQ(run("costs measure " + path("net.onnx") + " --kernels 3 --threads 1" + database()), 0) << err_;
  ASSERT_EQ(run("costs table " + path("t.csv") + database()), 0) << err_;
  EXPECT_NE(out_.find("3 costs"), std::string::npos) << out_;
  const std::string text = read_file(path("t.csv"));
  EXPECT_TRUE(text.starts_with("network,device,candidate,kernel,family,")) << text.substr(0, 100);
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
  ASSERT_EQ(run("costs table " + path("t.csv") + " --network other.onnx" + database()), 0) << err_;
  EXPECT_NE(out_.find("0 costs"), std::string::npos) << out_;
  expect_refused("costs table " + path("k.db") + database(), 2, {"k.db"});
  expect_refused("costs train " + path("k.db") + " " + database(), 2, {"k.db"});
}

TEST_F(Costs, BadModelsAreRefused) {
  ASSERT_EQ(run("costs measure " + path("net.onnx") + " --kernels 1 --threads 1" + database()), 0) << err_;
  write_file(path("bad.json"), "{\"korch_cost_model\": 2, \"feature_set\": 1, \"features\": [\"colour\"]}");
  expect_refused("costs score " + path("bad.json") + database(), 3, {"train it again (korch costs train)"});
  expect_refused("costs score " + path("none.json") + database(), 7, {"none.json"});
  expect_refused("costs score shipped --profile-db " + path("no.db"), 7, {"there is no kernel database"});
  EXPECT_FALSE(file_exists(path("no.db")));
}

TEST_F(Costs, APlanByEstimatesMeasuresItsKernels) {
  ASSERT_EQ(
      run("compile " + path("net.onnx") + " -o " + path("m.so") + " --measure plan --threads 1" + database()),
      0)
      << err_;
  EXPECT_NE(out_.find("(if every kernel left out costs at least its 5 % quantile: bound "), std::string::npos)
      << out_;
  EXPECT_EQ(out_.find("certified"), std::string::npos) << out_;
  EXPECT_EQ(out_.find("audit"), std::string::npos) << out_;
  ASSERT_EQ(run("verify " + path("net.onnx") + " " + path("m.so")), 0) << err_;
  ASSERT_EQ(run("explain --json " + path("m.so")), 0) << err_;
  const nlohmann::json plan = nlohmann::json::parse(out_), report = plan.at("report");
  EXPECT_EQ(report.at("bounds"), "quantiles");
  EXPECT_EQ(report.at("audited"), 0);
  EXPECT_FALSE(report.at("certified").get<bool>());
  EXPECT_GT(report.at("modelled").get<int>(), 0);
  for (const nlohmann::json& step : plan.at("steps")) EXPECT_EQ(step.at("measured"), true) << step;
  // Once more: the same, from the database.
  ASSERT_EQ(
      run("compile " + path("net.onnx") + " -o " + path("n.so") + " --measure plan --threads 1" + database()),
      0)
      << err_;
  EXPECT_NE(out_.find("0 kernels compiled and 0 measured now"), std::string::npos) << out_;
  EXPECT_EQ(read_file(path("m.so")), read_file(path("n.so")));
}

// Some of the kernels that are left out are measured, and it is said how many cost less than their quantile.
TEST_F(Costs, AnAuditIsReported) {
  ASSERT_EQ(run("compile " + path("net.onnx") + " -o " + path("m.so") +
                " --measure plan --audit 2 --threads 1" + database()),
            0)
      << err_;
  ASSERT_EQ(run("explain --json " + path("m.so")), 0) << err_;
  const nlohmann::json report = nlohmann::json::parse(out_).at("report");
  const int audited = report.at("audited").get<int>(), below = report.at("audited_below").get<int>();
  EXPECT_LE(audited, 2);
  EXPECT_LE(below, audited);
  ASSERT_EQ(run("explain " + path("m.so")), 0) << err_;
  EXPECT_EQ(out_.find("certificate: "), std::string::npos) << out_;
  EXPECT_EQ(out_.find("proven bound"), std::string::npos) << out_;
  EXPECT_EQ(out_.find(fmt::format("audit: of {} kernels left out", audited)) != std::string::npos,
            audited > 0)
      << out_;
}

TEST_F(Costs, WithoutMeasuringTheyAreEstimated) {
  const std::string rest = " --measure none --threads 1 --no-profile-db --no-verify";
  ASSERT_EQ(run("compile " + path("net.onnx") + " -o " + path("m.so") + rest), 0) << err_;
  EXPECT_NE(out_.find(" estimated, 0 measured"), std::string::npos) << out_;
  ASSERT_EQ(run("explain --json " + path("m.so")), 0) << err_;
  const nlohmann::json plan = nlohmann::json::parse(out_);
  EXPECT_EQ(plan.at("report").at("bounds"), "estimated");
  for (const nlohmann::json& step : plan.at("steps")) EXPECT_EQ(step.at("cost_from"), "estimate");
  ASSERT_EQ(run("explain " + path("m.so")), 0) << err_;
  EXPECT_NE(out_.find("  estimated  "), std::string::npos) << out_;
  ASSERT_EQ(run("verify " + path("net.onnx") + " " + path("m.so")), 0) << err_;
  // By bounds alone, as it was asked for.
  ASSERT_EQ(run("compile " + path("net.onnx") + " -o " + path("n.so") + rest + " --cost-model analytic"), 0)
      << err_;
  EXPECT_EQ(out_.find("estimated"), std::string::npos) << out_;
  ASSERT_EQ(run("explain --json " + path("n.so")), 0) << err_;
  EXPECT_EQ(nlohmann::json::parse(out_).at("report").at("bounds"), "analytic");
}

// A user's own model, before any work; nothing stands in for it.
TEST_F(Costs, BadModelsMakeNoPlan) {
  const auto compile = [&](const std::string& model) {
    return "compile " + path("net.onnx") + " -o " + path("m.so") +
           " --measure none --threads 1 --no-profile-db" + " --cost-model " + path(model);
  };
  write_file(path("bad.json"), "{\"korch_cost_model\": 1}");
  expect_refused(compile("bad.json"), 3, {"bad.json: a model of version 1; this korch reads version 2"});
  write_file(path("cut.json"), "{\"korch_cost_model\": 2, \"feature_set\": 1, ");
  expect_refused(compile("cut.json"), 3, {"cut.json: it is no model of costs"});
  expect_refused(compile("none.json"), 7, {"none.json"});
  EXPECT_FALSE(file_exists(path("m.so")));
}

}  // namespace
}  // namespace korch
