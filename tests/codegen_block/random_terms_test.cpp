// What the search finds for terms without a purpose, lowered: each kernel is one, and computes the terms.
#include "../block/random_terms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "korch/block/enumerate.h"
#include "korch/codegen/block/lower.h"
#include "korch/codegen/block/reference.h"
#include "korch/kernel/interpret.h"
#include "korch/kernel/region.h"

namespace korch::blocks {
namespace {

std::vector<HostTensor> numbers_for(const tile::TileGraph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<HostTensor> arguments;
  for (const tile::Buffer& buffer : graph.buffers) {
    if (buffer.role != tile::BufferRole::input) continue;
    HostTensor tensor(TensorType{buffer.type, {buffer.elements}});
    for (int64_t i = 0; i < buffer.elements; ++i)
      tensor.mutable_data<float>()[i] = static_cast<float>(random() % 2001) / 1000 - 1;
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

bool is_tame(double x) {
  return std::isfinite(x) && std::fabs(x) < 1e6;
}

// Kernels of the terms' structures, for several schedules. How many there were.
int check_kernels(uint64_t seed) {
  const Device target = cpu_device(Isa::x86_64_v3, 2);
  block::Terms group = block::RandomTerms(seed).terms;
  const block::AxisSet all = group.terms[static_cast<size_t>(group.results[0])].axes;
  constexpr int64_t kExtents[] = {3, 5, 11};
  for (size_t i = 0; i < group.axes.size(); ++i) group.axes[i].extent = kExtents[(i + seed) % 3];
  block::SearchLog log;
  block::SearchLimits limits;
  limits.structures = 12;
  limits.saturation.nodes = 1000;
  const tile::TileGraph reference = reference_kernel(group);
  const std::vector<HostTensor> arguments = numbers_for(reference, seed);
  const auto expected = tile::interpret(reference, arguments, tile::Arithmetic::float64);
  int kernels = 0;
  for (block::BlockGraph& graph : block::structures(group, limits, log)) {
    if (graph.steps[static_cast<size_t>(graph.results[0])].axes != all) continue;  // y - y
    for (size_t i = 0; i < graph.axes.size(); ++i) graph.axes[i].extent = group.axes[i].extent;
    for (const BlockSchedule& schedule : {BlockSchedule{.rows = 2, .block = 4}, {.rows = 7, .block = 8}}) {
      const auto places = plain_arguments(graph);
      const Result<tile::ScheduledGraph> kernel = lower(graph, schedule, target, *places);
      if (!kernel.ok()) continue;
      ++kernels;
      const auto what = [&] {
        return "seed " + std::to_string(seed) + ": " + block::print(group, group.results[0]) + "\n" +
               block::print(graph) + tile::print(kernel.value());
      };
      std::string fault = tile::structural_fault(kernel.value());
      if (fault.empty()) fault = tile::coverage_fault(kernel.value());
      EXPECT_EQ(fault, "") << what();
      if (!fault.empty()) return kernels;
      const auto is = tile::interpret(kernel.value(), arguments, tile::Arithmetic::float64);
      for (int64_t i = 0; i < expected[0].elements(); ++i) {
        const double value = element_as_double(is[0], i), wanted = element_as_double(expected[0], i);
        if (!is_tame(value) || !is_tame(wanted)) continue;
        EXPECT_NEAR(value, wanted, 1e-6 * std::max(1.0, std::fabs(wanted))) << what();
        if (::testing::Test::HasFailure()) return kernels;
      }
    }
  }
  return kernels;
}

TEST(RandomTerms, AreComputed) {
  const char* wanted = std::getenv("KORCH_GRAPHS");
  const uint64_t graphs = wanted != nullptr ? std::stoull(wanted) : 300;
  const char* begin = std::getenv("KORCH_SEED");
  const uint64_t first = begin != nullptr ? std::stoull(begin) : 0;
  int kernels = 0;
  for (uint64_t seed = first; seed < first + graphs && !HasFailure(); ++seed) kernels += check_kernels(seed);
  EXPECT_GT(kernels, 500);
}

}  // namespace
}  // namespace korch::blocks
