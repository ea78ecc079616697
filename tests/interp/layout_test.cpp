#include <random>

#include "check.h"
#include "korch/ir/index_map.h"

namespace korch {
namespace {

TEST(Layout, Transpose) {
  expect_result(Op::Transpose, PermAttrs{{1, 0}}, {counting({2, 3})}, {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_result(Op::Transpose, PermAttrs{{2, 0, 1}}, {counting({2, 1, 3})}, {3, 2, 1}, {0, 3, 1, 4, 2, 5});
  expect_result(Op::Transpose, PermAttrs{{}}, {f32({}, {4})}, {}, {4});
  expect_result(Op::Transpose, PermAttrs{{1, 0}}, {f32({0, 3}, {})}, {3, 0}, {});
}

TEST(Layout, Slice) {
  const HostTensor x = counting({4, 5});
  expect_result(Op::Slice, SliceAttrs{{3, 1}, {2, 2}, {-2, 3}}, {x}, {2, 2}, {16, 19, 6, 9});
  expect_result(Op::Slice, SliceAttrs{{0, 2}, {0, 2}, {1, 1}}, {x}, {0, 2}, {});
}

TEST(Layout, Pad) {
  const HostTensor x = f32({3}, {1, 2, 3});
  expect_result(Op::Pad, PadAttrs{{1}, {2}, PadMode::constant, 9}, {x}, {6}, {9, 1, 2, 3, 9, 9});
  expect_result(Op::Pad, PadAttrs{{2}, {2}, PadMode::reflect}, {x}, {7}, {3, 2, 1, 2, 3, 2, 1});
  expect_result(Op::Pad, PadAttrs{{2}, {1}, PadMode::edge}, {x}, {6}, {1, 1, 1, 2, 3, 3});
  expect_result(Op::Pad, PadAttrs{{1, 0}, {0, 1}, PadMode::constant, 7}, {counting({1, 2})}, {2, 3},
                {7, 7, 7, 0, 1, 7});
  expect_result(Op::Pad, PadAttrs{{1}, {0}, PadMode::constant, -1}, {i64({1}, {5})}, {2}, {-1, 5});
  expect_result(Op::Pad, PadAttrs{{1}, {1}, PadMode::constant, 3}, {f32({0}, {})}, {2}, {3, 3});
}

TEST(Layout, ConcatExpandTile) {
  expect_result(Op::Concat, AxisAttrs{1}, {f32({2, 1}, {1, 2}), f32({2, 0}, {}), f32({2, 2}, {3, 4, 5, 6})},
                {2, 3}, {1, 3, 4, 2, 5, 6});
  expect_result(Op::Expand, ShapeAttrs{{2, 2, 2}}, {f32({2, 1}, {1, 2})}, {2, 2, 2},
                {1, 1, 2, 2, 1, 1, 2, 2});
  expect_result(Op::Tile, ShapeAttrs{{2, 2}}, {counting({1, 2})}, {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  expect_result(Op::Reshape, ShapeAttrs{{3, 2}}, {counting({2, 3})}, {3, 2}, {0, 1, 2, 3, 4, 5});
}

TEST(Layout, Blocks) {
  const HostTensor x = counting({1, 4, 1, 2});
  expect_result(Op::DepthToSpace, AxisAttrs{2}, {x}, {1, 1, 2, 4}, {0, 2, 1, 3, 4, 6, 5, 7});
  // Eight channels tell the two orders apart.
  const HostTensor y = counting({1, 8, 1, 1});
  expect_result(Op::DepthToSpace, AxisAttrs{2}, {y}, {1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7});
  expect_result(Op::DepthToSpaceCRD, AxisAttrs{2}, {y}, {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  expect_result(Op::SpaceToDepth, AxisAttrs{2}, {counting({1, 2, 2, 2})}, {1, 8, 1, 1},
                {0, 4, 1, 5, 2, 6, 3, 7});
}

// A primitive that moves elements of a tensor of this shape, at random.
std::pair<Op, Attrs> random_layout(const Shape& shape, std::mt19937& random) {
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  const size_t rank = shape.size();
  std::vector<int64_t> perm(rank), repeats(rank);
  PadAttrs pad{Shape(rank), Shape(rank), static_cast<PadMode>(below(3)), -1};
  SliceAttrs slice{Shape(rank), Shape(rank), Shape(rank)};
  Shape wide = shape;
  for (size_t i = 0; i < rank; ++i) {
    perm[i] = static_cast<int64_t>(i);
    std::swap(perm[i], perm[static_cast<size_t>(below(static_cast<int64_t>(i) + 1))]);
    repeats[i] = 1 + below(3);
    if (shape[i] == 1) wide[i] = 1 + below(4);
    pad.before[i] = below(std::min<int64_t>(shape[i], 3));
    pad.after[i] = below(std::min<int64_t>(shape[i], 3));
    slice.starts[i] = below(shape[i]);
    slice.steps[i] = below(2) == 0 ? 1 + below(3) : -1 - below(3);
    const int64_t room = slice.steps[i] > 0 ? shape[i] - 1 - slice.starts[i] : slice.starts[i];
    slice.sizes[i] = 1 + below(room / std::abs(slice.steps[i]) + 1);
  }
  switch (below(5)) {
    case 0:
      return {Op::Transpose, PermAttrs{perm}};
    case 1:
      return {Op::Tile, ShapeAttrs{repeats}};
    case 2:
      return {Op::Expand, ShapeAttrs{wide}};
    case 3:
      return {Op::Slice, slice};
    default:
      return {Op::Pad, pad};
  }
}

// Copies take rows together where they are short, and runs at once where they are dense.
TEST(Layout, CopiesAreWhatIndexMapsSay) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Shape shape(1 + random() % 4);
    for (int64_t& extent : shape) extent = 1 + static_cast<int64_t>(random() % 5);
    if (round % 3 == 0) shape.back() += 60;
    const auto [op, attrs] = random_layout(shape, random);
    const HostTensor x = counting(shape), y = evaluate(op, attrs, {x})[0];
    const IndexMaps maps = index_maps(op, attrs, {x.type()}, y.shape());
    ASSERT_EQ(maps.result, y.shape());
    for (int64_t i = 0; i < y.elements(); ++i)
      ASSERT_EQ(element_as_double(y, i), static_cast<double>(element_read(maps.operands[0], i)))
          << name(op) << " of " << to_string(shape) << " at " << i;  // padding is -1
  }
}

TEST(Layout, Trilu) {
  const HostTensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_result(Op::Trilu, ScanAttrs{0, false, true}, {x}, {2, 3}, {1, 2, 3, 0, 5, 6});
  expect_result(Op::Trilu, ScanAttrs{1, false, true}, {x}, {2, 3}, {0, 2, 3, 0, 0, 6});
  expect_result(Op::Trilu, ScanAttrs{-1, false, false}, {x}, {2, 3}, {0, 0, 0, 4, 0, 0});
}

TEST(Indexed, Gather) {
  const HostTensor x = counting({2, 3});
  expect_result(Op::Gather, AxisAttrs{1}, {x, i64({2, 1}, {2, -3})}, {2, 2, 1}, {2, 0, 5, 3});
  expect_result(Op::Gather, AxisAttrs{0}, {x, i64({}, {1})}, {3}, {3, 4, 5});
  EXPECT_EQ(error_of(Op::Gather, AxisAttrs{1}, {x, i64({1}, {3})}),
            "node \"the node\": Gather: index 3 is out of range for an axis of 3");
  EXPECT_EQ(error_of(Op::Gather, AxisAttrs{1}, {x, i64({1}, {-4})}),
            "node \"the node\": Gather: index -4 is out of range for an axis of 3");
}

TEST(Indexed, GatherElementsAndND) {
  expect_result(Op::GatherElements, AxisAttrs{1}, {counting({2, 2}), i64({2, 2}, {0, 0, -1, 0})}, {2, 2},
                {0, 0, 3, 2});
  const HostTensor x = counting({2, 2, 2});
  expect_result(Op::GatherND, AxisAttrs{0}, {x, i64({2, 2}, {0, 1, 1, 0})}, {2, 2}, {2, 3, 4, 5});
  expect_result(Op::GatherND, AxisAttrs{1}, {x, i64({2, 1}, {1, 0})}, {2, 2}, {2, 3, 4, 5});
  EXPECT_NE(error_of(Op::GatherND, AxisAttrs{0}, {x, i64({1, 1}, {2})}).find("out of range"),
            std::string::npos);
}

TEST(Indexed, Scatter) {
  expect_result(Op::ScatterElements, AxisAttrs{1},
                {f32({1, 3}, {1, 2, 3}), i64({1, 2}, {1, -1}), f32({1, 2}, {8, 9})}, {1, 3}, {1, 8, 9});
  expect_result(Op::ScatterND, NoAttrs{}, {counting({2, 2}), i64({1, 1}, {-1}), f32({1, 2}, {8, 9})}, {2, 2},
                {0, 1, 8, 9});
  EXPECT_NE(error_of(Op::ScatterND, NoAttrs{}, {counting({2}), i64({1, 1}, {2}), f32({1}, {0})})
                .find("out of range"),
            std::string::npos);
}

TEST(Indexed, Append) {
  const auto appended_at = [](double place, double length, double count) {
    return std::vector<HostTensor>{counting({2, 2}), f32({2, 1}, {8, 9}), i64({}, {length}), i64({}, {count}),
                                   i64({}, {place})};
  };
  const auto appended = [&](double length, double count) { return appended_at(length, length, count); };
  const AppendAttrs attrs{1, 4};
  expect_result(Op::Append, attrs, appended(2, 1), {2, 4}, {0, 1, 8, 0, 2, 3, 9, 0});
  expect_result(Op::Append, attrs, appended(1, 1), {2, 4}, {0, 8, 0, 0, 2, 9, 0, 0});
  expect_result(Op::Append, attrs, appended(0, 0), {2, 4}, {0, 0, 0, 0, 0, 0, 0, 0});
  expect_result(Op::Append, attrs, appended_at(0, 2, 1), {2, 4}, {8, 1, 0, 0, 9, 3, 0, 0});
  for (const double place : {-1, 3}) EXPECT_NE(error_of(Op::Append, attrs, appended_at(place, 2, 1)), "");
  for (const auto& [length, count] : {std::pair<double, double>{3, 1}, {-1, 1}, {1, 2}, {1, -1}})
    EXPECT_NE(error_of(Op::Append, attrs, appended(length, count)), "");
}

TEST(Indexed, TopKKeepsTheOrderOfEquals) {
  const HostTensor x = f32({2, 4}, {1, 4, 4, 2, 9, 7, 8, 7});
  const auto largest = evaluate(Op::TopK, TopKAttrs{1, 3, true, true}, {x});
  expect_values(largest[0], {4, 4, 2, 9, 8, 7});
  expect_values(largest[1], {1, 2, 3, 0, 2, 1});
  const auto smallest = evaluate(Op::TopK, TopKAttrs{0, 1, false, true}, {x});
  expect_values(smallest[0], {1, 4, 4, 2});
  expect_values(smallest[1], {0, 0, 0, 0});
}

TEST(Indexed, OneHot) {
  const HostTensor values = f32({2}, {-1, 5});
  expect_result(Op::OneHot, OneHotAttrs{1, 3}, {i64({3}, {0, -1, 7}), values}, {3, 3},
                {5, -1, -1, -1, -1, 5, -1, -1, -1});
  expect_result(Op::OneHot, OneHotAttrs{0, 2}, {i64({2}, {1, 0}), values}, {2, 2}, {-1, 5, 5, -1});
}

ResizeAttrs resize(Shape sizes, std::vector<double> scales, const char* mode, const char* coordinates) {
  ResizeAttrs attrs;
  attrs.sizes = std::move(sizes);
  attrs.scales = std::move(scales);
  attrs.mode = mode;
  attrs.coordinate_mode = coordinates;
  return attrs;
}

TEST(Resize, Nearest) {
  ResizeAttrs attrs = resize({1, 4}, {1, 2}, "nearest", "half_pixel");
  expect_result(Op::Resize, attrs, {f32({1, 2}, {1, 2})}, {1, 4}, {1, 1, 2, 2});
  attrs = resize({4}, {4.0 / 3}, "nearest", "asymmetric");  // sources 0, 0.75, 1.5, 2.25
  attrs.nearest_mode = "floor";
  expect_result(Op::Resize, attrs, {f32({3}, {1, 2, 3})}, {4}, {1, 1, 2, 3});
  attrs.nearest_mode = "ceil";
  expect_result(Op::Resize, attrs, {f32({3}, {1, 2, 3})}, {4}, {1, 2, 3, 3});
  attrs.nearest_mode = "round_prefer_floor";
  expect_result(Op::Resize, attrs, {f32({3}, {1, 2, 3})}, {4}, {1, 2, 2, 3});
  attrs.nearest_mode = "round_prefer_ceil";
  expect_result(Op::Resize, attrs, {f32({3}, {1, 2, 3})}, {4}, {1, 2, 3, 3});
}

TEST(Resize, LinearInEveryCoordinateMode) {
  const HostTensor x = f32({2}, {0, 8});
  const auto expect = [&](const char* coordinates, int64_t size, const std::vector<double>& values) {
    SCOPED_TRACE(coordinates);
    expect_result(Op::Resize, resize({size}, {static_cast<double>(size) / 2}, "linear", coordinates), {x},
                  {size}, values);
  };
  expect("half_pixel", 4, {0, 2, 6, 8});
  expect("half_pixel", 1, {4});
  expect("pytorch_half_pixel", 4, {0, 2, 6, 8});
  expect("pytorch_half_pixel", 1, {0});
  expect("align_corners", 5, {0, 2, 4, 6, 8});
  expect("align_corners", 1, {0});
  expect("asymmetric", 4, {0, 4, 8, 8});
  expect("tf_half_pixel_for_nn", 4, {2, 6, 8, 8});
  expect("half_pixel_symmetric", 4, {0, 2, 6, 8});
  EXPECT_NE(error_of(Op::Resize, resize({4}, {2}, "linear", "upside_down"), {x})
                .find("'upside_down' is not supported"),
            std::string::npos);
}

TEST(Resize, LinearInTwoAxes) {
  expect_result(Op::Resize, resize({3, 3}, {1.5, 1.5}, "linear", "align_corners"),
                {f32({2, 2}, {0, 2, 4, 6})}, {3, 3}, {0, 1, 2, 2, 3, 4, 4, 5, 6});
}

TEST(Resize, Cubic) {
  // At half-way points with a = -0.75: weights -0.09375, 0.59375, 0.59375, -0.09375.
  ResizeAttrs attrs = resize({7}, {1.75}, "cubic", "align_corners");
  const HostTensor x = f32({4}, {0, 1, 4, 9});
  expect_result(Op::Resize, attrs, {x}, {7}, {0, 0.21875, 1, 2.125, 4, 6.78125, 9});
  attrs.exclude_outside = true;
  const double edge = (0.59375 * 0 + 0.59375 * 1 - 0.09375 * 4) / (1 + 0.09375);
  const HostTensor out = evaluate(Op::Resize, attrs, {x})[0];
  EXPECT_NEAR(element_as_double(out, 1), edge, 1e-6);
}

}  // namespace
}  // namespace korch
