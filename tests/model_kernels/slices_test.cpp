// The checks themselves: what is wrong by one element is seen.
#include "slices.h"

#include <gtest/gtest.h>

#include "generate.h"
#include "kernel_runner.h"
#include "korch/ir/text.h"
#include "model_kernels.h"

namespace korch::testing {
namespace {

using tile::Direction;

Slices slices_of(const std::string& text, const std::string& family) {
  const Graph graph = parse_graph(text);
  const Candidate candidate = whole_graph(graph);
  const Implementation way = listed(graph, candidate, model_target(), family).at(0);
  return Slices(tile_graph(graph, candidate, way, model_target()).value(), model_target(), -2, 2);
}

// Every region of its last slice without its last element, each by itself, contradicts the accesses.
void expect_all_noticed(const std::string& text, const std::string& family) {
  Slices slices = slices_of(text, family);
  const int64_t slice = slices.graph().phases[0].slices() - 1;
  slices.run(0, slice);
  EXPECT_EQ(slices.stray_accesses(), "");
  EXPECT_EQ(slices.differences(), "");
  int regions = 0;
  for (int smaller = 0; smaller < std::ssize(slices.graph().buffers); ++smaller)
    for (Direction wrong : {Direction::read, Direction::written}) {
      if (slices.graph().buffers[smaller].role == tile::BufferRole::scratch ||
          slices.region(wrong, smaller).boxes.empty())
        continue;
      ++regions;
      const auto stated = [&](Direction direction, int buffer) {
        tile::Region region = slices.region(direction, buffer);
        if (direction == wrong && buffer == smaller) --region.boxes.back().axes.back().extent;
        return region;
      };
      EXPECT_NE(slices.stray_accesses(stated), "") << slices.graph().name(smaller);
    }
  EXPECT_GE(regions, 2);
}

TEST(Slices, RegionsTooSmallByOneAreNoticed) {
  expect_all_noticed("graph {\ninput %x : f32[40x23] \"x\"\n%y = Exp(%x)\noutput %y \"y\"\n}", "loop");
  // Tails of rows and columns; masked loads and stores.
  expect_all_noticed(
      "graph {\ninput %x : f32[37x19] \"x\"\ninput %w : f32[19x29] \"w\"\n%y = MatMul(%x, %w)\n%z = "
      "Relu(%y)\n"
      "output %z \"z\"\n}",
      "matmul");
}

TEST(Slices, OverlapsAndGapsAreNoticed) {
  const auto fault = [](const std::string& first, const std::string& count) {
    return coverage_by_slices(
               tile::parse_tile_graph(
                   "kernel {\n  in0: f32[40]\n  out0: f32[40]\n  phase t in 4 {\n    map i in " + count +
                   " {\n      %0 = in0[i + t * 10]\n      out0[i + t * " + first +
                   "] <- %0\n    }\n  }\n}\n"))
        .fault;
  };
  EXPECT_EQ(fault("10", "10"), "");
  EXPECT_EQ(fault("9", "10"), "out0 at 9 is written again by slice 1");
  EXPECT_EQ(fault("10", "9"), "out0 at 9 is written by no slice");
}

}  // namespace
}  // namespace korch::testing
