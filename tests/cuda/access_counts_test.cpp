// Sectors of global memory and wavefronts of shared memory that printed kernels move, over the least that
// their bytes need. KORCH_CUDA_COUNTS=1: printed for all kernels.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "cases.h"
#include "emulated_check.h"
#include "korch/ir/text.h"
#include "linear_cases.h"
#include "model_candidates.h"

namespace korch::testing {
namespace {

// Of one run of the kernel.
AccessCounts counts_of(const Graph& graph, const Implementation& way) {
  const Candidate candidate = whole_candidate(graph);
  const CudaKernel kernel = generate_cuda(graph, candidate, way, "k0").value();
  Emulator emulator(Checks::memory);
  emulator.checker().count_accesses(true);
  Launch launch = launch_of(kernel, way);
  for (const CudaPhase& phase : kernel.phases)
    launch.functions.push_back(emulator.load(kernel.source, phase.symbol).value());
  EXPECT_EQ(run_checked(emulator, graph, candidate, reference_of(graph, candidate), launch, 1).wrong, "");
  return emulator.checker().counts();
}

double ratio(int64_t a, int64_t b) {
  return b == 0 ? 1 : static_cast<double>(a) / static_cast<double>(b);
}

TEST(KernelAccesses, Few) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  const Graph map = parse_graph(R"(graph {
  input %x : f32[64x1024] "x"
  input %b : f32[1024] "b"
  %a = Add(%x, %b)
  %y = Relu(%a)
  output %y "y"
})");
  const AccessCounts of_map = counts_of(map, cuda_implementations(map, whole_candidate(map))[0]);
  EXPECT_EQ(of_map.sectors, of_map.least_sectors);
  const Graph product = case_graph(R"(graph {
  input %x : f32[128x64] "x"
  input %w : f32[64x128] "w"
  %y = MatMul(%x, %w)
  output %y "y"
})")
                            .graph;
  const AccessCounts of_product =
      counts_of(product, cuda_implementations(product, whole_candidate(product)).back());
  EXPECT_LE(ratio(of_product.wavefronts, of_product.least_wavefronts), 1.05);
}

TEST(KernelAccesses, Print) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  if (std::getenv("KORCH_CUDA_COUNTS") == nullptr) GTEST_SKIP() << "KORCH_CUDA_COUNTS is not set";
  const auto print_all = [](const char* name, const Graph& graph) {
    const Candidate candidate = whole_candidate(graph);
    const std::vector<Implementation> ways = cuda_implementations(graph, candidate);
    for (size_t i = 0; i < ways.size(); ++i) {
      if (i + 1 < ways.size() && ways[i + 1].family == ways[i].family) continue;
      if (!generate_cuda(graph, candidate, ways[i], "k0").ok()) continue;
      const AccessCounts counts = counts_of(graph, ways[i]);
      std::cout << name << ", " << to_string(ways[i]) << ": sectors "
                << ratio(counts.sectors, counts.least_sectors) << ", wavefronts "
                << ratio(counts.wavefronts, counts.least_wavefronts) << " times the least\n";
    }
  };
  for (const Case& c : hand_written()) print_all(c.name, parse_graph(c.text));
  for (const LinearCase& c : linear_cases()) print_all(c.name, case_graph(c.text).graph);
}

}  // namespace
}  // namespace korch::testing
