// What the CUDA text of hand-written candidates and of random graphs computes, against the interpreter.
#include <gtest/gtest.h>

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

TEST(EmulatedRandomGraphs, AgreeWithInterpreter) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  int ran = 0;
  for (uint64_t seed = 0; seed < kEmulatedGraphs && !HasFailure(); ++seed) ran += check(random_graph(seed));
  EXPECT_GT(ran, kEmulatedGraphs / 2);
}

}  // namespace
}  // namespace korch::testing
