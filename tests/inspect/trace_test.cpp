// The trace as a reader of the format sees it. `korch bench --trace` of a real run:
// tests/cli/report_test.cpp.
#include "korch/inspect/trace.h"

#include <gtest/gtest.h>

#include "korch/base/json.h"

namespace korch {
namespace {

using Json = nlohmann::json;

// Step 0 on both workers, step 1 on worker 0, then outputs are copied.
TracedRun traced_run() {
  TracedRun run;
  run.name = "net\xff.so";
  run.line.workers = 2;
  run.line.us = 40;
  run.line.spans = {{0, 0, 0, 10.0004, 3}, {0, 1, 20, 30, 1}, {0, 2, 30, 40, 1}, {1, 0, 0, 12, 2}};
  run.plan.kernels.resize(1);
  run.plan.kernels[0].bytes = 4096;
  run.plan.kernels[0].flops = 1e6;
  run.plan.steps.resize(2);
  for (PlanStep& step : run.plan.steps) {
    step.kernel = 0;
    step.label = "MatMul+Add";
    step.implementation = "matmul(3,9) rm->rm";
    step.onnx_nodes = {"/fc</script>"};
  }
  return run;
}

std::vector<Json> events_of(const Json& trace, const std::string& phase) {
  std::vector<Json> events;
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == phase) events.push_back(event);
  return events;
}

TEST(Trace, HasATrackPerWorkerAndASlicePerSpan) {
  const Json trace = Json::parse(chrome_trace({traced_run()}));
  std::map<int, std::string> tracks;
  for (const Json& event : events_of(trace, "M")) {
    if (event["name"] == "thread_name") tracks[event["tid"]] = event["args"]["name"];
    if (event["name"] == "process_name") {
      EXPECT_EQ(event["args"]["name"], "net\xef\xbf\xbd.so");
    }
  }
  EXPECT_EQ(tracks, (std::map<int, std::string>{{0, "worker 0"}, {1, "worker 1"}}));
  const std::vector<Json> slices = events_of(trace, "X");
  ASSERT_EQ(slices.size(), 4u);
  EXPECT_EQ(slices[0]["name"], "MatMul+Add");
  EXPECT_EQ(slices[0]["cat"], "matmul");
  EXPECT_EQ(slices[0]["ts"], 0);
  EXPECT_EQ(slices[0]["dur"], 10);  // rounded to nanoseconds
  EXPECT_EQ(slices[0]["args"]["implementation"], "matmul(3,9) rm->rm");
  EXPECT_EQ(slices[0]["args"]["onnx_nodes"], Json({"/fc</script>"}));
  EXPECT_EQ(slices[0]["args"]["step_bytes"], 4096);
  EXPECT_EQ(slices[0]["args"]["pieces"], 3);
  EXPECT_EQ(slices[1]["args"]["step"], 1);
  EXPECT_EQ(slices[2]["name"], "copy outputs");  // behind the plan's steps
  EXPECT_EQ(slices[3]["tid"], 1);
}

TEST(Trace, CountsBusyWorkers) {
  const Json trace = Json::parse(chrome_trace({traced_run()}));
  std::vector<std::pair<double, int>> counts;
  for (const Json& event : events_of(trace, "C")) counts.emplace_back(event["ts"], event["args"]["workers"]);
  EXPECT_EQ(counts, (std::vector<std::pair<double, int>>{{0, 2}, {10, 1}, {12, 0}, {20, 1}, {40, 0}}));
}

TEST(Trace, HasAProcessPerRun) {
  const Json trace = Json::parse(chrome_trace({traced_run(), traced_run()}));
  std::map<int, int> slices;
  for (const Json& event : events_of(trace, "X")) ++slices[event["pid"]];
  EXPECT_EQ(slices, (std::map<int, int>{{1, 4}, {2, 4}}));
}

}  // namespace
}  // namespace korch
