// When enough is known of a Value for a kernel to be judged by it.
#include "korch/inspect/references.h"

#include <gtest/gtest.h>

namespace korch {
namespace {

// However they come, what is exact among them.
TEST(References, AValueIsKnownWithAllItsRuns) {
  for (const int before : {0, 1, References::kRuns}) {
    Graph graph;
    const ValueId x = graph.add_input({DType::f32, {2}}, "x");
    graph.set_outputs({x}, {"x"});
    References references(graph, ProductType::f32);
    const HostTensor value = HostTensor::of<float>(DType::f32, {2}, {1, 2});
    for (int run = 0; run < References::kRuns; ++run) {
      if (run == before) references.take(x, converted(value, DType::f64), true);
      EXPECT_EQ(references.find(x), nullptr) << run << " runs";
      references.take(x, value, false);
    }
    if (before == References::kRuns) {
      EXPECT_EQ(references.find(x), nullptr) << "without what is exact";
      references.take(x, converted(value, DType::f64), true);
    }
    ASSERT_NE(references.find(x), nullptr);
    EXPECT_TRUE(references.find(x)->compare(value).passed());
  }
}

TEST(References, AllOutputsAreKnownInTime) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {2}}, "x");
  const ValueId y = graph.add(Op::Tanh, NoAttrs{}, {x});
  graph.set_outputs({x, y}, {"x", "y"});
  References known(graph, ProductType::f32), late(graph, ProductType::f32);
  const std::vector<HostTensor> inputs = {HostTensor::of<float>(DType::f32, {2}, {1, 2})};
  known.run(inputs, {});
  late.run(inputs, Deadline(-1));
  for (const ValueId value : {x, y}) {
    EXPECT_NE(known.find(value), nullptr);
    EXPECT_EQ(late.find(value), nullptr);
  }
}

}  // namespace
}  // namespace korch
