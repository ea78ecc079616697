// Resize: every mode, coordinate mode and rounding against the interpreter, and the shape of what the
// frequent ones become.
#include <gtest/gtest.h>

#include <cmath>

#include "check.h"
#include "korch/fission/fission.h"
#include "korch/ir/text.h"

namespace korch::test {
namespace {

Graph resize(const Shape& in, const ResizeAttrs& attrs) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f64, in}, "x");
  graph.set_outputs({graph.add(Op::Resize, attrs, {x}, {"node"}, "y")}, {"y"});
  return graph;
}

ResizeAttrs to_sizes(const Shape& in, const Shape& sizes) {
  ResizeAttrs attrs;
  attrs.sizes = sizes;
  for (size_t i = 0; i < in.size(); ++i)
    attrs.scales.push_back(static_cast<double>(sizes[i]) / static_cast<double>(in[i]));
  return attrs;
}

const std::vector<std::string> kCoordinateModes = {"half_pixel", "pytorch_half_pixel", "asymmetric",
                                                   "align_corners"};
const std::vector<Shape> kSizes = {{1, 2, 8, 10}, {1, 2, 2, 5}, {1, 2, 7, 3},
                                   {1, 2, 1, 12}, {1, 2, 4, 5}, {2, 2, 4, 5}};

void expect_equal(ResizeAttrs attrs, const std::vector<std::string>& coordinate_modes) {
  const Shape in = {1, 2, 4, 5};
  for (const Shape& sizes : kSizes) {
    attrs.sizes = sizes;
    attrs.scales = to_sizes(in, sizes).scales;
    for (const std::string& mode : coordinate_modes) {
      attrs.coordinate_mode = mode;
      SCOPED_TRACE(print_attrs(attrs));
      const Graph graph = resize(in, attrs);
      expect_fission_is_equal(graph, random_inputs(graph, 1));
    }
  }
}

TEST(Resize, Nearest) {
  for (const char* rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
    ResizeAttrs attrs;
    attrs.nearest_mode = rounding;
    expect_equal(attrs, kCoordinateModes);
    expect_equal(attrs, {"tf_half_pixel_for_nn"});
  }
}

TEST(Resize, Linear) {
  ResizeAttrs attrs;
  attrs.mode = "linear";
  expect_equal(attrs, kCoordinateModes);
}

TEST(Resize, Cubic) {
  for (bool exclude_outside : {false, true}) {
    ResizeAttrs attrs;
    attrs.mode = "cubic";
    attrs.exclude_outside = exclude_outside;
    attrs.cubic_coeff_a = exclude_outside ? -0.5 : -0.75;
    expect_equal(attrs, kCoordinateModes);
  }
}

TEST(Resize, ScalesThatDoNotDivide) {
  ResizeAttrs attrs;
  attrs.scales = {1, 1, 1.7, 0.6};
  attrs.sizes = {1, 2, 6, 3};
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners"}) {
      attrs.mode = mode;
      attrs.coordinate_mode = coordinates;
      SCOPED_TRACE(print_attrs(attrs));
      const Graph graph = resize({1, 2, 4, 5}, attrs);
      expect_fission_is_equal(graph, random_inputs(graph, 2));
    }
  }
}

TEST(Resize, DoublingNearestIsAnExpandWhateverTheRounding) {
  for (const auto& [coordinates, rounding] :
       std::vector<std::pair<std::string, std::string>>{{"asymmetric", "floor"},
                                                        {"half_pixel", "round_prefer_floor"},
                                                        {"half_pixel", "round_prefer_ceil"}}) {
    ResizeAttrs attrs = to_sizes({1, 2, 4, 5}, {1, 2, 8, 10});
    attrs.coordinate_mode = coordinates;
    attrs.nearest_mode = rounding;
    const Graph result = fission(resize({1, 2, 4, 5}, attrs));
    EXPECT_EQ(result.live_node_count(), 3u) << print(result);
    EXPECT_EQ(count(result, Op::Reshape), 2);
    EXPECT_EQ(count(result, Op::Expand), 1);
  }
}

TEST(Resize, HalvingNearestIsAStridedSlice) {
  ResizeAttrs attrs = to_sizes({1, 2, 4, 6}, {1, 2, 2, 3});
  attrs.coordinate_mode = "asymmetric";
  attrs.nearest_mode = "floor";
  const Graph result = fission(resize({1, 2, 4, 6}, attrs));
  EXPECT_EQ(result.live_node_count(), 1u) << print(result);
  EXPECT_EQ(count(result, Op::Slice), 1);
}

TEST(Resize, SameSizeIsNothing) {
  const Shape shape = {1, 2, 4, 6};
  EXPECT_EQ(fission(resize(shape, to_sizes(shape, shape))).live_node_count(), 0u);
}

}  // namespace
}  // namespace korch::test
