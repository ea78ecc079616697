// What the CUDA text of hand-written candidates and of random graphs computes, against the interpreter.
#include <gtest/gtest.h>

#include <limits>

#include "cases.h"
#include "emulated_check.h"
#include "emulator.h"
#include "kernel_runner.h"
#include "korch/ir/text.h"
#include "model_candidates.h"

namespace korch::testing {
namespace {

constexpr int kEmulatedGraphs = 20;

// The row-major and the last implementation; how many kernels ran.
int check(const Graph& graph) {
  const Candidate candidate = whole_candidate(graph);
  const Reference reference = reference_of(graph, candidate);
  std::vector<Implementation> ways = loop_implementations(graph, candidate);
  if (ways.empty()) ways = product_implementations(graph, candidate);
  if (ways.empty()) ways = listed(graph, candidate, Device{}, "opaque");
  if (ways.size() > 2) ways.erase(ways.begin() + 1, ways.end() - 1);
  int ran = 0;
  for (const Implementation& way : ways) {
    const Result<CudaKernel> kernel = generate_cuda(graph, candidate, way, "k0");
    if (!kernel.ok()) continue;
    EXPECT_EQ(check_emulated(graph, candidate, reference, kernel.value(), way), "");
    ++ran;
  }
  return ran;
}

class EmulatedCases : public ::testing::TestWithParam<Case> {};

TEST_P(EmulatedCases, AgreeWithInterpreter) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  EXPECT_GT(check(parse_graph(GetParam().text)), 0);
}

INSTANTIATE_TEST_SUITE_P(HandWritten, EmulatedCases, ::testing::ValuesIn(hand_written()),
                         [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(Products, EmulatedCases, ::testing::ValuesIn(products()),
                         [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(Opaque, EmulatedCases, ::testing::ValuesIn(opaque_primitives()),
                         [](const auto& info) { return std::string(info.param.name); });

// Where padding is multiplied, an infinite weight would make NaN of it.
TEST(EmulatedWindows, PaddingHasNoPartInSums) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  constexpr int64_t kChannels = 12, kKernel = 3;
  HostTensor weights(TensorType{DType::f32, {kChannels, 1, kKernel, kKernel}});
  for (int64_t i = 0; i < weights.elements(); ++i)
    weights.mutable_data<float>()[i] = i == 36 ? std::numeric_limits<float>::infinity() : 0.25F;
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {2, kChannels, 31, 33}}, "x");
  const ConvAttrs attrs{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {}, kChannels};
  graph.set_outputs({graph.add(Op::Conv, attrs, {x, graph.add_constant(std::move(weights))}, {"conv"})},
                    {"y"});
  const Candidate candidate = whole_candidate(graph);
  const Reference reference = reference_of(graph, candidate);
  std::vector<Implementation> ways = cuda_implementations(graph, candidate);
  std::erase_if(ways, [](const Implementation& way) { return way.family != "depthwise"; });
  ASSERT_FALSE(ways.empty());
  for (const Implementation& way : ways) {
    const Result<CudaKernel> kernel = generate_cuda(graph, candidate, way, "k0");
    ASSERT_TRUE(kernel.ok());
    EXPECT_EQ(check_emulated(graph, candidate, reference, kernel.value(), way), "") << to_string(way);
  }
}

TEST(EmulatedRandomGraphs, AgreeWithInterpreter) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  int ran = 0;
  for (uint64_t seed = 0; seed < kEmulatedGraphs && !HasFailure(); ++seed) ran += check(random_graph(seed));
  EXPECT_GT(ran, kEmulatedGraphs / 2);
}

}  // namespace
}  // namespace korch::testing
