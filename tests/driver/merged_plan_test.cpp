// Plans of several bounds in one executable: which a run takes, and that all compute the same.
#include "korch/driver/merged_plan.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>

#include "../onnx/model_builder.h"
#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/inspect/explain.h"
#include "korch/inspect/open_shapes.h"
#include "korch/inspect/verify.h"
#include "korch/interp/interpreter.h"
#include "korch/onnx/import.h"
#include "korch/package/loaded.h"
#include "korch/package/plan_tasks.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

// y = softmax(x w) over the rows, as long as there are some: n of them.
std::string written_model(const TempDir& folder) {
  ModelBuilder b(17);
  b.input("x", {-1, 6}, 1, {"n", ""}).output("y").output("t");
  std::vector<float> weights(36);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i * 37 % 64) / 32 - 1;
  b.floats("w", {6, 6}, weights);
  b.node("MatMul", {"x", "w"}, {"product"});
  set_attribute(b.node("Softmax", {"product"}, {"y"}), "axis", int64_t{0});
  b.node("Transpose", {"y"}, {"t"});
  write_file(folder.path() + "/model.onnx", b.bytes());
  return folder.path() + "/model.onnx";
}

CompileOptions options_of_model() {
  CompileOptions options;
  options.threads = 2;
  options.measure = Measure::none;
  options.shapes = {{"n", {32}}};
  options.least_shapes = {{"n", {2}}};
  options.at = {"n=2", "n=4", "n=8", "n=16"};
  return options;
}

TEST(MergedPlan, ComputesTheSameForAllExtents) {
  const TempDir folder;
  const CompileOptions options = options_of_model();
  const std::string file = written_model(folder), output = folder.path() + "/model.so";
  const Plan plan = compile_model(file, output, options).plan;
  ASSERT_GE(plan.shape_plans.size(), 3u);  // up to 32, and for runs that were given
  EXPECT_EQ(plan.shape_plans[0].extents, (std::vector<int64_t>{-1, -1}));
  for (const ShapePlan& part : plan.shape_plans)
    if (part.bounds[0] == 2) {
      EXPECT_EQ(part.extents, (std::vector<int64_t>{2, 2}));  // which is known then
    }
  ImportOptions import_options;
  import_options.shapes = options.shapes;
  import_options.least_shapes = options.least_shapes;
  const Graph graph = import_onnx(file, import_options);
  LoadedExecutable executable(output);
  for (const int64_t n : {2, 32, 3, 8, 9, 2, 31}) {
    std::vector<HostTensor> inputs = random_inputs(graph, static_cast<uint64_t>(n));
    inputs.back() = HostTensor::of<int64_t>(DType::i64, {}, {n});
    const std::vector<HostTensor> exact = interpret(graph, inputs);
    const std::vector<HostTensor> got = executable.run(dense_inputs(graph, inputs));
    ASSERT_EQ(got[0].shape(), (Shape{n, 6}));
    ASSERT_EQ(got[1].shape(), (Shape{6, n}));
    for (size_t o = 0; o < 2; ++o) {
      const HostTensor wanted = exact[o].cropped(got[o].shape());
      for (int64_t i = 0; i < wanted.elements(); ++i)
        ASSERT_NEAR(element_as_double(got[o], i), element_as_double(wanted, i), 1e-5) << n;
    }
    // Steps are counted over all plans: those of one plan run.
    std::vector<HostTensor> outputs = executable.allocate_outputs();
    const std::vector<double> times = executable.profile(dense_inputs(graph, inputs), outputs);
    ASSERT_EQ(times.size(), executable.model().step_count);
    for (size_t v = 0; v < plan.shape_plans.size(); ++v) {
      double sum = 0;
      for (int s = plan.shape_plans[v].first_step; s < plan.shape_plans[v].end_step; ++s)
        sum += times[static_cast<size_t>(s)];
      if (n > plan.shape_plans[v].bounds[0]) {
        EXPECT_EQ(sum, 0) << n;
      }
    }
  }
}

HostTensor rows(int64_t n) {
  HostTensor x(TensorType{DType::f32, {n, 6}});
  for (int64_t i = 0; i < x.elements(); ++i)
    x.mutable_data<float>()[i] = static_cast<float>((i * 29 + n) % 53) / 16 - 1;
  return x;
}

// Step, phase, begin and end.
using Pieces = std::multiset<std::array<int64_t, 4>>;

TEST(MergedPlan, RunsAreGivenForOpenShapesOfTheModel) {
  const TempDir folder;
  const std::string file = written_model(folder), output = folder.path() + "/model.so";
  const auto failure = [&](CompileOptions options) -> std::string {
    try {
      compile_model(file, output, options);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage ? error.what() : "another kind";
    }
    return "none";
  };
  CompileOptions options = options_of_model();
  options.at = {"n=33"};
  EXPECT_EQ(failure(options), "at: 'n=33': n is 2..32, not '33'");
  options.at = {};
  options.runs = folder.path() + "/nothing";
  EXPECT_EQ(failure(options), "runs: cannot read '" + options.runs + "'");
  options.runs = "";
  options.at = {"n=8"};
  options.least_shapes = {};
  EXPECT_EQ(failure(options), "at and runs say where runs of open shapes are, and no shape is open");
}

TEST(MergedPlan, ARunIsTheTasksOfThePlanThatItTakes) {
  const TempDir folder;
  CompileOptions options = options_of_model();
  options.schedule = PlanSchedule::dynamic;
  const std::string output = folder.path() + "/model.so";
  const Plan plan = compile_model(written_model(folder), output, options).plan;
  LoadedExecutable executable(output);
  std::vector<HostTensor> outputs = executable.allocate_outputs();
  for (size_t round = 0; round < 3; ++round)
    for (const ShapePlan& shape_plan : plan.shape_plans) {
      const Plan part = plan_of(plan, shape_plan);
      const MemoryPlan memory = plan_memory(part);
      const std::optional<TaskGraph> tasks = plan_tasks(part, memory);
      ASSERT_TRUE(tasks);
      EXPECT_EQ(fault_of(*tasks, part, memory), "");
      const int steps = shape_plan.end_step - shape_plan.first_step;
      Pieces wanted, ran;
      for (const Task& task : tasks->tasks)
        if (task.step < steps)
          wanted.insert({shape_plan.first_step + task.step, task.phase, task.begin, task.end});
      for (const korch_slices& s : executable.run_by_slices({rows(shape_plan.bounds[0])}, outputs))
        if (s.step < plan.steps.size()) ran.insert({s.step, s.phase, s.begin, s.end});
      EXPECT_EQ(ran, wanted) << shape_plan.bounds[0];
    }
}

TEST(MergedPlan, EachPlanRunsByEachSchedule) {
  const TempDir folder;
  CompileOptions options = options_of_model();
  options.schedule = PlanSchedule::dynamic;
  const std::string output = folder.path() + "/model.so";
  compile_model(written_model(folder), output, options);
  const Plan plan = plan_from_json(read_executable(output).plan_json);
  ASSERT_GE(plan.shape_plans.size(), 3u);
  for (const ShapePlan& shape_plan : plan.shape_plans)
    EXPECT_EQ(plan_of(plan, shape_plan).schedule, PlanSchedule::dynamic);
  LoadedExecutable phases(output, 0, PlanSchedule::barrier);
  for (const int threads : {1, 2, 3, 5})
    for (const PlanSchedule schedule : kSchedules) {
      LoadedExecutable executable(output, threads, schedule);
      // Each plan behind each other.
      for (const int64_t n : {32, 2, 31, 5, 3, 32, 9, 16, 2, 16, 5, 31}) {
        const std::vector<HostTensor> got = executable.run({rows(n)}), exact = phases.run({rows(n)});
        for (size_t o = 0; o < got.size(); ++o) {
          ASSERT_EQ(got[o].shape(), exact[o].shape());
          EXPECT_EQ(std::memcmp(got[o].raw(), exact[o].raw(), static_cast<size_t>(got[o].bytes())), 0)
              << n << ", " << name(schedule) << ", threads " << threads;
        }
      }
    }
}

TEST(MergedPlan, EachPlanIsScheduledByRunsOfItsOwn) {
  const TempDir folder;
  CompileOptions options = options_of_model();
  options.measure = Measure::prove;
  options.strategy = Strategy::greedy;
  options.shapes = {{"n", {8}}};
  options.least_shapes = {{"n", {4}}};
  options.at = {"n=4"};
  options.database_path = folder.path() + "/k.db";
  const std::string file = written_model(folder), output = folder.path() + "/model.so";
  const CompileResult result = compile_model(file, output, options);
  for (const char* work : {"propose kernels", "compile kernels", "measure kernels", "solve", "verify"})
    EXPECT_GT(result.stage_seconds.at(work), 0) << work;
  const Plan plan = plan_from_json(read_executable(output).plan_json);
  ASSERT_EQ(plan.shape_plans.size(), 2u);
  const std::string text = explain(plan, {}, {});
  for (const ShapePlan& shape_plan : plan.shape_plans) {
    ASSERT_EQ(shape_plan.schedules.size(), std::size(kSchedules));
    for (const ScheduleRun& run : shape_plan.schedules) {
      EXPECT_GT(run.measured_us, 0);
      if (run.schedule != name(shape_plan.schedule)) continue;
      EXPECT_TRUE(shape_plan.schedule == PlanSchedule::dynamic || run.ratio_high < 1);
    }
    EXPECT_NE(text.find(std::string("schedule ") + name(shape_plan.schedule) +
                        ", for up to n=" + std::to_string(shape_plan.bounds[0])),
              std::string::npos)
        << text;
  }
  // Remembered: nothing is run again.
  const std::string first = read_file(output);
  compile_model(file, output, options);
  EXPECT_EQ(read_file(output), first);
}

}  // namespace
}  // namespace korch
