#include "korch/profile/packed_constants.h"

#include <gtest/gtest.h>

#include "korch/codegen/packing.h"

namespace korch {
namespace {

HostTensor counting(int64_t elements) {
  HostTensor tensor(TensorType{DType::f32, {elements}});
  for (int64_t i = 0; i < elements; ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i);
  return tensor;
}

TEST(PackedConstants, AreMadeOnceWhileThereIsRoom) {
  Graph graph;
  const ValueId first = graph.add_constant(counting(64)), second = graph.add_constant(counting(32)),
                third = graph.add_constant(counting(48));
  PackedConstants constants(graph, /*most_bytes=*/4 * 100);
  const auto kept = constants.get(first, {});
  EXPECT_EQ(*kept, pack(*graph.constant(first), {}));
  constants.get(second, {});
  EXPECT_EQ(constants.get(first, {}), kept);
  const auto other = constants.get(second, {});
  constants.get(third, {});  // no room for the first one, which nobody asked for since
  EXPECT_EQ(constants.get(second, {}), other);
  const auto again = constants.get(first, {});
  EXPECT_NE(again, kept);
  EXPECT_EQ(*again, *kept);
}

TEST(PackedConstants, PackingsAreKeptApart) {
  Graph graph;
  const ValueId weights = graph.add_constant(HostTensor(TensorType{DType::f32, {8, 8}}));
  PackedConstants constants(graph);
  const Packing columns{"columns", {1, 1, 16, 8}};
  EXPECT_EQ(*constants.get(weights, columns), pack(*graph.constant(weights), columns));
  EXPECT_EQ(*constants.get(weights, {}), pack(*graph.constant(weights), {}));
  const auto kept = constants.get(weights, {});
  constants.release();
  EXPECT_NE(constants.get(weights, {}), kept);
}

// What alone is more than there is room for is not kept, but given.
TEST(PackedConstants, WhatIsTooLargeIsGivenAllTheSame) {
  Graph graph;
  const ValueId large = graph.add_constant(counting(64));
  PackedConstants constants(graph, /*most_bytes=*/16);
  EXPECT_EQ(constants.get(large, {})->size(), 64 * sizeof(float));
}

}  // namespace
}  // namespace korch
