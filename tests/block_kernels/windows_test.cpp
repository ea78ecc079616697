// Convolutions of single channels beside products, at many shapes: machine code against the primitives in
// float64.
#include <gtest/gtest.h>

#include <cstdlib>

#include "found.h"

namespace korch::testing {
namespace {

// Of n images with c channels, of which the first product makes m and the last one o; $image, $kernel and
// $window are text.
const std::string kImage = "  input %x : f32[$nx$cx$image] \"x\"\n";
const std::string kExpand = R"(
  %u = Constant() {random} : f32[$mx$cx1x1]
  %bu = Constant() {random} : f32[$mx1x1]
  %e = Conv(%x, %u) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], group=1}
  %eb = Add(%e, %bu)
  %r = Sigmoid(%eb)
)";
const std::string kEachChannel = R"(
  %w = Constant() {random} : f32[$mx1x$kernel]
  %bw = Constant() {random} : f32[$mx1x1]
  %d = Conv(%r, %w) {$window, group=$m}
  %db = Add(%d, %bw)
)";
const std::string kProject = R"(
  %s = Sigmoid(%db)
  %v = Constant() {random} : f32[$ox$mx1x1]
  %bv = Constant() {random} : f32[$ox1x1]
  %p = Conv(%s, %v) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], group=1}
  %y = Add(%p, %bv)
  output %y "y"
)";

const std::string kGraphs[] = {
    kImage + kExpand + kEachChannel + kProject,
    kImage + kExpand + kEachChannel + "  %y = Relu(%db)\n  output %y \"y\"\n",
    // Without activation: windows read sums as they are.
    kImage + R"(
  %u = Constant() {random} : f32[$mx$cx1x1]
  %r = Conv(%x, %u) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], group=1}
)" + kEachChannel +
        "  output %db \"y\"\n",
    // What each channel's convolution reads is in memory.
    "  input %r : f32[$nx$mx$image] \"r\"\n" + kEachChannel + kProject,
    // Two of them, one after the other.
    kImage + kExpand + kEachChannel + R"(
  %t = Tanh(%db)
  %w2 = Constant() {random} : f32[$mx1x3x3]
  %d2 = Conv(%t, %w2) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], group=$m}
  %y = Relu(%d2)
  output %y "y"
)",
};

struct Shapes {
  const char *image, *kernel, *window;
  std::map<std::string, int64_t> extents;
};
const Shapes kShapes[] = {
    {"12x11",
     "3x3",
     "strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]",
     {{"n", 1}, {"c", 3}, {"m", 32}, {"o", 8}}},
    {"13x16",
     "3x3",
     "strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]",
     {{"n", 2}, {"c", 5}, {"m", 21}, {"o", 19}}},
    {"9x20",
     "5x3",
     "strides=[1,2], dilations=[1,2], pads_before=[3,0], pads_after=[1,3]",
     {{"n", 1}, {"c", 8}, {"m", 50}, {"o", 3}}},
    {"16x5",
     "2x2",
     "strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]",
     {{"n", 3}, {"c", 4}, {"m", 16}, {"o", 24}}},
    {"3x4",
     "5x5",
     "strides=[1,1], dilations=[1,1], pads_before=[2,2], pads_after=[2,2]",
     {{"n", 1}, {"c", 2}, {"m", 17}, {"o", 33}}},
    {"31x7",
     "3x1",
     "strides=[3,1], dilations=[2,1], pads_before=[0,0], pads_after=[4,0]",
     {{"n", 1}, {"c", 16}, {"m", 8}, {"o", 16}}},
    {"2x2",
     "3x3",
     "strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]",
     {{"n", 1}, {"c", 2}, {"m", 2}, {"o", 2}}},
};

// Of all pairs of a graph and shapes some: KORCH_ALL_SETTINGS=1 takes each.
size_t every() {
  return std::getenv("KORCH_ALL_SETTINGS") != nullptr ? 1 : 3;
}

class Windows : public ::testing::TestWithParam<size_t> {};

TEST_P(Windows, ComputeWhatPrimitivesDo) {
  const size_t number = GetParam();
  const Shapes& shapes = kShapes[number % std::size(kShapes)];
  std::string text = "graph {\n" + kGraphs[number / std::size(kShapes)] + "}\n";
  for (const auto& [name, with] : {std::pair{"$image", shapes.image}, std::pair{"$kernel", shapes.kernel},
                                   std::pair{"$window", shapes.window}})
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name))
      text.replace(at, std::string(name).size(), with);
  const Graph graph = graph_with(text, shapes.extents);
  CheckOptions options{.structures = structures_of(graph)};
  const std::vector<Isa> isas = vector_isas();
  int ran = 0;
  for (const int64_t l2_bytes : {int64_t{4} << 10, int64_t{1} << 20}) {
    options.isa = isas[(number + static_cast<size_t>(l2_bytes >> 20)) % isas.size()];
    options.l2_bytes = l2_bytes;
    options.threads = l2_bytes > 8192 ? 2 : 1;
    ran += check_family(graph, "blocks", options);
  }
  EXPECT_GT(ran, 0) << text;
}

INSTANTIATE_TEST_SUITE_P(Convolutions, Windows,
                         ::testing::Range(size_t{0}, std::size(kGraphs) * std::size(kShapes), every()));

}  // namespace
}  // namespace korch::testing
