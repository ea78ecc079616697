// Sums of many floats: their last bits do not get lost one by one.
#include <gtest/gtest.h>

#include "generate.h"
#include "kernel_runner.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/graph.h"

namespace korch::testing {
namespace {

// The sum over the axes, of numbers that are nearly one: what it loses then has one sign.
void expect_exact_sum(const Shape& shape, const std::vector<int64_t>& axes) {
  SCOPED_TRACE(to_string(shape));
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, shape}, "x");
  graph.set_outputs({graph.add(Op::ReduceSum, ReduceAttrs{axes, false}, {x})}, {"y"});
  HostTensor numbers = random_tensor({DType::f32, shape}, 1, 1e-3);
  for (int64_t i = 0; i < numbers.elements(); ++i) numbers.mutable_data<float>()[i] += 1.1f;
  const std::vector<HostTensor> expected = interpret(graph, {numbers});
  const Candidate candidate = whole_graph(graph);
  for (Isa isa : runnable_isas()) {
    const Device target = test_target(isa);
    for (const Implementation& way : listed(graph, candidate, target, "loop")) {
      const Kernel kernel = generate(graph, candidate, way, target).value();
      const RunResult result = run_kernel(graph, candidate, kernel, way, target, {numbers});
      expect_close(result.outputs[0], expected[0], 5e-7, name(isa) + (" " + to_string(way)));
    }
  }
}

TEST(Sums, LanesBesideTheSum) {
  expect_exact_sum({1600, 72}, {0});
  expect_exact_sum({4096, 5}, {0});
}

TEST(Sums, LanesAlongTheSum) {
  expect_exact_sum({2, 262147}, {1});
  expect_exact_sum({40, 4, 640}, {0, 2});
}

TEST(Sums, ShortLoopsInsideLongOnes) {
  expect_exact_sum({700, 3, 2, 17}, {0, 1, 2});
  expect_exact_sum({30, 9, 70, 11}, {0, 2});
}

}  // namespace
}  // namespace korch::testing
