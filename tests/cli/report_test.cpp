// What the program tells: progress on a terminal, JSON of every verb, the plan and its alternatives.
#include <regex>
#include <sstream>

#include "cli.h"
#include "korch/base/json.h"

namespace korch {
namespace {

using Json = nlohmann::json;

class Report : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    ModelBuilder b;
    b.input("x", {8, 64}).output("y");
    b.floats("w", {64, 32}, std::vector<float>(64 * 32, 0.5f));
    b.node("MatMul", {"x", "w"}, {"product"}, "matmul");
    b.node("Relu", {"product"}, {"positive"}, "relu");
    set_attribute(b.node("Softmax", {"positive"}, {"y"}, "softmax"), "axis", int64_t{1});
    write_model("net.onnx", b);
  }
  Json run_json(const std::string& arguments, int code = 0) {
    EXPECT_EQ(run(arguments + " --json"), code) << arguments << ": " << err_;
    const Json json = Json::parse(out_, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << arguments << ": " << out_;
    return json;
  }
};

TEST_F(Report, ProgressTellsStageCountsAndTimeLeft) {
  RunningProgram program(compile_arguments("net.onnx", "--exhaustive"), temporary_folder());
  ASSERT_EQ(program.wait(300), 0) << program.terminal();
  for (const char* stage : {"import", "fission", "candidates", "columns", "solve", "package", "verify"})
    EXPECT_NE(program.terminal().find(std::string("\r\033[K") + stage), std::string::npos)
        << program.terminal();
  EXPECT_TRUE(std::regex_search(program.terminal(), std::regex("solve [0-9]+/[0-9]+"))) << program.terminal();
  EXPECT_TRUE(std::regex_search(program.terminal(), std::regex("solve [1-9][0-9]*/[0-9]+, [0-9].*s left")))
      << program.terminal();
  EXPECT_NE(program.terminal().find("predicted"), std::string::npos);
}

TEST_F(Report, ProgressIsPlainLinesWithoutATerminal) {
  ASSERT_EQ(compile("net.onnx"), 0);
  size_t lines = 0;
  std::istringstream stream(without_busy_warnings(err_));
  for (std::string line; std::getline(stream, line); ++lines)
    EXPECT_TRUE(std::regex_match(
        line, std::regex("\\[ *[0-9]+\\.[0-9] s\\] [a-z ]+( [0-9]+/[0-9]+)?(, [0-9].* left)?")))
        << line;
  EXPECT_GE(lines, 7u) << err_;  // one per stage
  for (const char* stage : {"] import\n", "] solve", "] verify\n"})
    EXPECT_NE(err_.find(stage), std::string::npos) << err_;
  ASSERT_EQ(compile("net.onnx", "--quiet"), 0);
  EXPECT_EQ(without_busy_warnings(err_), "");
}

TEST_F(Report, JsonOfEveryVerb) {
  Json json = run_json(compile_arguments("net.onnx"));
  EXPECT_EQ(json["output"], path("m.so"));
  EXPECT_GT(json["objective_us"], 0);
  EXPECT_GT(json["columns"], json["steps"]);
  EXPECT_TRUE(json["seconds"].contains("solve"));
  EXPECT_TRUE(json["warnings"].is_array());
  EXPECT_TRUE(json["struck"].empty());
  ASSERT_EQ(run("explain --figures " + path("m.so")), 0) << err_;
  EXPECT_TRUE(says("columns: " + json["columns"].dump() + "\n    candidates in all")) << out_;
  json = run_json("compile " + path("net.onnx") + " --stop-after fission --no-profile-db");
  EXPECT_EQ(json["stopped_after"], "fission");

  json = run_json("verify " + path("net.onnx") + " " + path("m.so") + " --samples 2");
  EXPECT_EQ(json["passed"], true);
  EXPECT_EQ(json["samples"], 2);
  EXPECT_EQ(json["outputs"][0]["name"], "y");
  EXPECT_LE(json["outputs"][0]["error"], json["outputs"][0]["tolerance"]);
  EXPECT_EQ(json["rule"]["noise_factor"], 20);

  json = run_json("run " + path("m.so"));
  EXPECT_EQ(json["outputs"][0]["name"], "y");
  EXPECT_EQ(json["outputs"][0]["shape"], Json::array({8, 32}));
  EXPECT_NEAR(json["outputs"][0]["mean"].get<double>(), 1.0 / 32, 1e-6);  // of a softmax

  json = run_json("bench --rounds 5 " + path("m.so") + " " + path("m.so"));
  EXPECT_EQ(json["rows"].size(), 2u);
  EXPECT_GT(json["rows"][1]["ratio"], 0);
  EXPECT_FALSE(json.contains("profile"));
  json = run_json("bench --rounds 5 --profile " + path("m.so"));
  EXPECT_GT(json["profile"]["steps"].size(), 0u);
  EXPECT_GT(json["profile"]["steps"][0]["median_us"], 0);

  json = run_json("fission " + path("net.onnx") + " -o " + path("primitive.onnx"));
  EXPECT_EQ(json["operators"], 4);  // the weights are one
  EXPECT_GT(json["primitives"], 4);

  json = run_json("equiv " + path("net.onnx") + " " + path("primitive.onnx"));
  EXPECT_EQ(json["verdict"], "equal");
  EXPECT_EQ(json["tests"], 16);
  EXPECT_LE(json["float64_difference"], 1e-9);

  json = run_json("doctor --threads 1");
  EXPECT_EQ(json["device"]["workers"], 1);
  EXPECT_GT(json["device"]["flops_per_us"], 0);
  json = run_json("model --list");
  EXPECT_NE(std::find(json["models"].begin(), json["models"].end(), "candy_224"), json["models"].end());
  json = run_json("model unet_like_32 -o " + path("u.onnx") + " --inputs " + path("inputs"));
  EXPECT_EQ(json["written"][0], path("u.onnx"));
  EXPECT_GT(json["written"].size(), 1u);
}

TEST_F(Report, ExplainTellsThePlan) {
  ASSERT_EQ(compile("net.onnx"), 0) << err_;
  const Json json = run_json("explain " + path("m.so"));
  EXPECT_TRUE(json["shared_libraries"].is_array());
  std::string covered;
  for (const Json& step : json["steps"]) {
    EXPECT_GT(step["bound_us"], 0) << step;
    EXPECT_GT(step["predicted_us"], 0) << step;
    for (const Json& node : step["onnx_nodes"]) covered += node.get<std::string>() + " ";
  }
  for (const char* node : {"matmul", "relu", "softmax"})
    EXPECT_NE(covered.find(node), std::string::npos) << covered;
  ASSERT_EQ(run("explain " + path("m.so")), 0);
  for (const char* part :
       {"primitives", "candidates", "columns", "measured", "ruled out by their bounds", "bound", "gap",
        "matmul", "softmax", "shared libraries needed: ", "libc.so.6", "input  x f32[8x64]"})
    EXPECT_TRUE(says(part)) << part << " in\n" << out_;
}

TEST_F(Report, ExplainTellsTheAlternativesOfAKernel) {
  ASSERT_EQ(compile("net.onnx", "--exhaustive"), 0)
      << err_;  // what is in place of what depends on the machine
  const size_t steps = run_json("explain " + path("m.so"))["steps"].size();
  int in_its_place = 0, others = 0;
  for (size_t step = 0; step < steps; ++step) {
    const std::string explain = "explain " + path("m.so") + " --kernel " + std::to_string(step);
    const Json rejected = run_json(explain)["rejected"];
    double cost = 0;
    bool same_inputs = true;  // those that could stand in its place come first
    for (const Json& other : rejected) {
      if (same_inputs && !other["same_inputs"]) cost = 0;
      EXPECT_TRUE(same_inputs || !other["same_inputs"]) << rejected;
      EXPECT_GE(other["us"], cost);
      same_inputs = other["same_inputs"];
      cost = other["us"];
      ++(same_inputs ? in_its_place : others);
    }
    if (rejected.empty()) continue;
    ASSERT_EQ(run(explain), 0);
    EXPECT_TRUE(says("rejected alternatives")) << out_;
    EXPECT_TRUE(says(rejected[0]["what"].get<std::string>())) << out_;
  }
  EXPECT_GT(in_its_place + others, 0);
  EXPECT_EQ(run("explain " + path("m.so") + " --kernel 1000"), 2);
  EXPECT_TRUE(says("no step 1000"));
}

TEST_F(Report, ExplainTellsWhatThePageShows) {
  ASSERT_EQ(compile("net.onnx"), 0) << err_;
  const Json plan = run_json("explain " + path("m.so"));
  EXPECT_GT(plan["report"]["device"]["flops_per_us"], 0);
  std::set<int64_t> computed;
  for (const Json& step : plan["steps"]) {
    EXPECT_EQ(step["measured"], true) << step;
    ASSERT_EQ(step["wiring"].size(), step["primitives"].size());
    for (const Json& primitive : step["wiring"]) {
      EXPECT_GT(primitive["work"], 0) << step;
      for (const Json& origin : primitive["origins"]) EXPECT_LT(origin, step["onnx_nodes"].size());
      for (const Json& value : primitive["outputs"]) computed.insert(value.get<int64_t>());
    }
    for (const Json& output : step["outputs"])
      EXPECT_TRUE(computed.contains(plan["tensors"][output.get<size_t>()]["value"])) << step;
  }
}

TEST_F(Report, ExplainWritesAPage) {
  ASSERT_EQ(compile("net.onnx"), 0) << err_;
  ASSERT_EQ(run("explain " + path("m.so") + " --html " + path("page.html")), 0) << err_;
  EXPECT_TRUE(says("open it in a browser")) << out_;
  const std::string page = read_file(path("page.html"));
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0u);
  EXPECT_LT(page.size(), 3e6);
  ASSERT_EQ(run("explain " + path("m.so") + " --html " + path("run.html") + " --run"), 0) << err_;
  EXPECT_NE(read_file(path("run.html")), page);
  const std::string executable = read_file(path("m.so"));
  expect_refused("explain " + path("m.so") + " --html " + path("m.so"), 2, {"the executable", "the page"});
  EXPECT_EQ(read_file(path("m.so")), executable);
  EXPECT_EQ(run("explain " + path("m.so") + " --html " + path("no/page.html")), 7);
  EXPECT_EQ(run("explain " + path("m.so") + " --run"), 0) << err_;
  for (const char* words : {"time line of a run", "worker  0 |", "worker  0: busy", "pieces; waits"})
    EXPECT_NE(out_.find(words), std::string::npos) << out_;
  EXPECT_NE(run("explain " + path("m.so") + " --run --json"), 0);
  EXPECT_NE(run("explain " + path("m.so") + " --json --html " + path("page.html")), 0);
}

TEST_F(Report, BenchWritesATrace) {
  ASSERT_EQ(compile("net.onnx"), 0) << err_;
  const std::string bench = "bench --rounds 5 " + path("m.so") + " --trace ";
  ASSERT_EQ(run(bench + path("trace.json")), 0) << err_;
  EXPECT_TRUE(says("open it in ui.perfetto.dev")) << out_;
  const Json trace = Json::parse(read_file(path("trace.json")));
  const Json steps = run_json("explain " + path("m.so"))["steps"];
  std::map<int, double> ended;  // of each worker
  std::set<int> workers, seen;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "M" && event["name"] == "thread_name") workers.insert(event["tid"].get<int>());
    if (event["ph"] != "X") continue;
    const int worker = event["tid"];
    EXPECT_TRUE(workers.contains(worker)) << event;
    EXPECT_GE(event["ts"].get<double>(), ended[worker] - 0.001) << "a worker does one thing at a time";
    ended[worker] = event["ts"].get<double>() + event["dur"].get<double>();
    if (event["name"] == "copy outputs") continue;
    const int step = event["args"]["step"];
    seen.insert(step);
    EXPECT_EQ(event["name"], steps.at(static_cast<size_t>(step))["label"]);
    EXPECT_GT(event["args"]["step_bytes"], 0);
  }
  EXPECT_EQ(seen.size(), steps.size());

  const std::string executable = read_file(path("m.so"));
  expect_refused(bench + path("m.so"), 2, {"the executable", "the trace"});
  EXPECT_EQ(read_file(path("m.so")), executable);
  expect_refused(bench + path("no/trace.json"), 7, {path("no")});
  expect_refused("bench --rounds 5 --shape batch=2 " + path("m.so"), 2, {"batch", "shapes are fixed"});
}

TEST_F(Report, ABudgetThatIsSpentAtOnceStillYieldsAPlan) {
  ASSERT_EQ(compile("net.onnx", "--no-profile-db --exhaustive --budget 0.001"), 0) << err_;
  EXPECT_TRUE(says("budget spent")) << out_;
  EXPECT_NE(err_.find("the budget of"), std::string::npos) << err_;  // and what it took instead
  EXPECT_EQ(run("verify " + path("net.onnx") + " " + path("m.so")), 0) << err_;
  const Json report = run_json("explain " + path("m.so"))["report"];
  EXPECT_EQ(report["certified"], false);
  EXPECT_EQ(report["solver_status"], "budget spent");
  EXPECT_LT(report["measured"], report["columns"]);
  EXPECT_LE(report["bound_us"], report["objective_us"]);
}

}  // namespace
}  // namespace korch
