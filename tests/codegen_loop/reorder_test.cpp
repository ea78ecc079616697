// Layout changes as kernels of their own.
#include <gtest/gtest.h>

#include "generate.h"
#include "kernel_runner.h"

namespace korch::testing {
namespace {

void check_reorder(const TensorType& type, const Layout& from, const Layout& to) {
  Graph graph;
  const ValueId x = graph.add_input(type, "x");
  const ValueId y = graph.add(Op::Reshape, ShapeAttrs{type.shape}, {x});
  graph.set_outputs({y}, {"y"});
  Implementation way;
  way.input_layouts = {from};
  way.output_layouts = {to};
  for (Isa isa : runnable_isas()) {
    const Device target = test_target(isa);
    const Result<Kernel> kernel = generate_reorder(type, from, to, target);
    ASSERT_TRUE(kernel.ok()) << kernel.refusal().detail;
    const HostTensor input = random_tensor(type, 3);
    const RunResult result = run_kernel(graph, whole_graph(graph), kernel.value(), way, target, {input});
    ASSERT_EQ(result.outputs.size(), 1u);
    expect_close(result.outputs[0], input, 0,
                 to_string(type) + " " + to_string(from) + " -> " + to_string(to));
  }
}

TEST(Reorder, BetweenRowMajorAndChannelsLast) {
  for (const Shape& shape :
       {Shape{1, 64, 14, 16}, Shape{2, 33, 7, 9}, Shape{1, 3, 20, 31}, Shape{3, 17, 1, 40}}) {
    const Layout last = Layout::channels_last(4);
    check_reorder({DType::f32, shape}, {}, last);
    check_reorder({DType::f32, shape}, last, {});
  }
}

TEST(Reorder, OtherTypesAndRanks) {
  check_reorder({DType::i64, {2, 33, 7, 9}}, {}, Layout::channels_last(4));
  check_reorder({DType::bool_, {2, 33, 7, 9}}, Layout::channels_last(4), {});
  check_reorder({DType::f32, {2, 5, 3, 4, 17}}, {}, Layout::channels_last(5));
  check_reorder({DType::f32, {2, 35, 18}}, {}, Layout{{0, 2, 1}, -1, 1});
}

TEST(Reorder, CopyKeepsTheLayout) {
  check_reorder({DType::f32, {5, 1001}}, {}, {});
}

}  // namespace
}  // namespace korch::testing
