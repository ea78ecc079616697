// Windows without the taps that read padding alone compute the same.
#include "korch/ir/idle_taps.h"

#include <gtest/gtest.h>

#include <random>

#include "korch/interp/interpreter.h"

namespace korch {
namespace {

HostTensor pooled(const PoolAttrs& pool, Op op, const HostTensor& x) {
  Graph graph;
  graph.set_outputs({graph.add(op, pool, {graph.add_input(x.type(), "x")})}, {"y"});
  return interpret(graph, {x}, {Precision::native, {}})[0];
}

TEST(IdleTaps, WindowsStayWhatTheyAre) {
  std::mt19937 random(1);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int fewer = 0;
  for (int i = 0; i < 400; ++i) {
    const Shape spatial = {pick(1, 6), pick(1, 6)};
    PoolAttrs pool;
    for (const int64_t extent : spatial) {
      pool.kernel.push_back(pick(1, 9));
      pool.strides.push_back(pick(1, 3));
      pool.dilations.push_back(pick(1, 3));
      const int64_t span = (pool.kernel.back() - 1) * pool.dilations.back() + 1;
      pool.pads_before.push_back(pick(0, span - 1));
      pool.pads_after.push_back(
          std::max<int64_t>(pick(0, span - 1), span - extent - pool.pads_before.back()));
    }
    HostTensor x(TensorType{DType::f32, {1, 2, spatial[0], spatial[1]}});
    for (int64_t at = 0; at < x.elements(); ++at)
      x.mutable_data<float>()[at] = static_cast<float>(pick(-8, 8));
    const PoolAttrs less = without_idle_taps(pool, spatial);
    fewer += less != pool;
    for (const Op op : {Op::WindowMax, Op::WindowSum}) {
      const HostTensor wanted = pooled(pool, op, x), got = pooled(less, op, x);
      ASSERT_EQ(got.shape(), wanted.shape());
      for (int64_t at = 0; at < got.elements(); ++at)
        ASSERT_EQ(got.data<float>()[at], wanted.data<float>()[at]) << name(op) << " " << i;
    }
  }
  EXPECT_GT(fewer, 100);
}

TEST(IdleTaps, AHugeWindowOverSmallDataIsSmall) {
  PoolAttrs pool;
  pool.kernel = {1 << 20};
  pool.strides = pool.dilations = {1};
  pool.pads_before = pool.pads_after = {1 << 19};
  const PoolAttrs less = without_idle_taps(pool, {5});
  EXPECT_LE(less.kernel[0], 11);
}

}  // namespace
}  // namespace korch
