// Layers of a recurrent network on top of each other: the upper one begins while the lower one still runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "../plan/task_graph_reader.h"
#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/ir/recurrence.h"
#include "korch/package/loaded.h"
#include "korch/plan/task_schedule.h"

namespace korch {
namespace {

constexpr int64_t kSteps = 200, kHidden = 32;

ValueId weights(Graph& g, const Shape& shape) {
  HostTensor values(TensorType{DType::f32, shape});
  for (int64_t i = 0; i < values.elements(); ++i)
    values.mutable_data<float>()[i] = static_cast<float>(i * 37 % 101) / 500 - 0.1F;
  return g.add_constant(values);
}

Graph layers(int count) {
  Graph g;
  ValueId data = g.add_input({DType::f32, {kSteps, kHidden}}, "x");
  const RecurrenceAttrs lstm{
      .cell = "lstm", .activations = "Sigmoid Tanh Tanh", .alphas = {0, 0, 0}, .betas = {0, 0, 0}};
  for (int layer = 0; layer < count; ++layer) {
    const ValueId product = g.add(Op::MatMul, MatMulAttrs{}, {data, weights(g, {kHidden, 4 * kHidden})});
    const ValueId gates = g.add(Op::Reshape, ShapeAttrs{{kSteps, 1, 4 * kHidden}}, {product});
    const std::vector<ValueId> operands = {gates, weights(g, {4, kHidden, kHidden}),
                                           weights(g, {2, 1, kHidden})};
    const ValueId steps = g.node(g.add_node(Op::Recurrence, lstm, operands)).outputs[0];
    data = g.add(Op::Reshape, ShapeAttrs{{kSteps, kHidden}}, {steps});
  }
  g.set_outputs({data}, {"y"});
  return g;
}

TEST(RecurrentLayers, TheUpperBeginsBeforeTheLowerEnds) {
  const TempDir folder;
  CompileOptions options;
  options.threads = 2;
  options.measure = Measure::none;
  options.dump_dir = folder.path() + "/stages";
  compile_graph(layers(2), "layers", folder.path() + "/layers.so", options);
  const TaskGraph graph = parse_task_graph(read_file(options.dump_dir + "/6-tasks.txt"));
  // One worker, who goes on with the last step that may: products are steps 0 and 2, recurrences 1 and 3.
  const Simulation run = simulate(graph, 1, [&](const std::vector<int>& ready, int) {
    const auto later = [&](int a, int b) {
      return graph.tasks[static_cast<size_t>(a)].step < graph.tasks[static_cast<size_t>(b)].step;
    };
    return static_cast<size_t>(std::max_element(ready.begin(), ready.end(), later) - ready.begin());
  });
  ASSERT_EQ(run.runs.size(), graph.tasks.size());
  int lower = 0, upper = 0, upper_before_the_end = 0;  // rounds; phase 0 copies the state
  for (const TaskRun& at : run.runs) {
    const Task& task = graph.tasks[static_cast<size_t>(at.task)];
    if (task.phase == 0) continue;
    lower += task.step == 1 ? 1 : 0;
    upper += task.step == 3 ? 1 : 0;
    if (task.step == 1) upper_before_the_end = upper;
  }
  EXPECT_EQ(lower, 8);
  EXPECT_EQ(upper, 8);
  EXPECT_GE(upper_before_the_end, 5);
}

TEST(RecurrentLayers, ResultsDependOnNoScheduleAndNumberOfWorkers) {
  const TempDir folder;
  CompileOptions options;
  options.threads = 2;
  options.measure = Measure::none;
  const std::string file = folder.path() + "/layers.so";
  compile_graph(layers(3), "layers", file, options);
  HostTensor x(TensorType{DType::f32, {kSteps, kHidden}});
  for (int64_t i = 0; i < x.elements(); ++i)
    x.mutable_data<float>()[i] = static_cast<float>(i * 13 % 29) / 14 - 1;
  const std::vector<HostTensor> wanted = LoadedExecutable(file, 1).run({x});
  for (const PlanSchedule schedule : kSchedules)
    for (const int threads : {1, 2, 3}) {
      LoadedExecutable layers(file, threads, schedule);
      for (int run = 0; run < 20; ++run) {
        const std::vector<HostTensor> outputs = layers.run({x});
        ASSERT_EQ(std::memcmp(outputs[0].raw(), wanted[0].raw(), wanted[0].bytes()), 0);
      }
    }
}

}  // namespace
}  // namespace korch
