// Random candidates of memory-bound primitives with one to three outputs, in every layout.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "cases.h"
#include "kernel_runner.h"

namespace korch::testing {
namespace {

constexpr int kGraphs = 40;

TEST(RandomCandidates, AgreeWithInterpreter) {
  // KORCH_SEED=n runs one graph alone.
  const char* only = std::getenv("KORCH_SEED");
  const int first = only != nullptr ? std::atoi(only) : 0, count = only != nullptr ? 1 : kGraphs;
  int ran = 0;
  for (int seed = first; seed < first + count; ++seed) {
    const Graph graph = random_graph(seed);
    ran += check(graph, {.tolerance = 2e-5, .must_run = false});
    if (HasFailure()) {
      std::cout << "rerun: KORCH_SEED=" << seed << " test_codegen_loop --gtest_filter=RandomCandidates.*\n";
      return;
    }
  }
  EXPECT_GT(ran, count);  // most candidates have a kernel
}

}  // namespace
}  // namespace korch::testing
