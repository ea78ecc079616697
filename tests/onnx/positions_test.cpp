// Positions and extents that the data say, where they are bounded by what computes them: slices, sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expect_error.h"
#include "korch/onnx/ranges.h"
#include "own_extents.h"

namespace korch {
namespace {

constexpr int kPositionType = 7;

TEST(Ranges, OfWhatIsClipped) {
  Graph g;
  const auto number = [&](double x) {
    return g.add_constant(HostTensor::of<float>(DType::f32, {}, {static_cast<float>(x)}));
  };
  const ValueId boxes = g.add_input({DType::f32, {5, 4}}, "boxes");
  const ValueId clipped =
      g.add(Op::Min, NoAttrs{}, {g.add(Op::Max, NoAttrs{}, {boxes, number(0)}), number(96)});
  const ValueId row = g.add(Op::Gather, AxisAttrs{0}, {clipped, g.add_input({DType::i64, {}}, "i")});
  const auto column = [&](int64_t k) { return g.add(Op::Slice, SliceAttrs{{k}, {1}, {1}}, {row}); };
  const ValueId width = g.add(Op::Sub, NoAttrs{}, {column(2), column(0)});
  const ValueId wide =
      g.add(Op::Add, NoAttrs{}, {g.add(Op::Mul, NoAttrs{}, {width, number(-1.5)}), number(1)});
  const ValueId whole = g.add(Op::Cast, CastAttrs{DType::i64}, {wide});
  onnx::Ranges ranges(g);
  const auto expect_range = [&](ValueId value, int64_t index, double low, double high) {
    EXPECT_EQ(ranges.of({value, index}).low, low);
    EXPECT_EQ(ranges.of({value, index}).high, high);
  };
  expect_range(boxes, onnx::kAny, -INFINITY, INFINITY);
  expect_range(row, 1, 0, 96);
  expect_range(width, 0, -96, 96);
  expect_range(whole, 0, -143, 145);
  const ValueId pair = g.add(Op::Concat, AxisAttrs{0}, {whole, g.add_constant(i64({1}, {7}))});
  expect_range(pair, 1, 7, 7);
  expect_range(pair, onnx::kAny, -143, 145);
  expect_range(g.add(Op::ReduceMax, ReduceAttrs{{0}, false}, {pair}), 0, 7, 145);
  expect_range(g.add(Op::Div, NoAttrs{}, {pair, g.add_constant(i64({1}, {-10}))}), onnx::kAny, -14, 14);
  expect_range(g.add(Op::Div, NoAttrs{}, {width, width}), 0, -INFINITY, INFINITY);
  // Small integers wrap around.
  const ValueId byte = g.add_input({DType::u8, {1}}, "byte");
  expect_range(g.add(Op::Add, NoAttrs{}, {byte, byte}), 0, 0, 255);
}

TEST(Ranges, WhereAnElementComesFromAndHowItGrows) {
  Graph g;
  const ValueId x = g.add_input({DType::i64, {2, 3}}, "x"), other = g.add_input({DType::bool_, {}}, "c");
  const ValueId turned = g.add(Op::Transpose, PermAttrs{{1, 0}}, {x});
  const ValueId more = g.add(Op::Add, NoAttrs{}, {turned, g.add_constant(i64({2}, {5, 6}))});
  const ValueId flat = g.add(Op::Reshape, ShapeAttrs{{6}}, {more});
  const ValueId less = g.add(Op::Sub, NoAttrs{}, {flat, g.add_constant(i64({}, {1}))});
  onnx::Ranges ranges(g);
  EXPECT_EQ(ranges.origin({less, 3}), std::pair(onnx::Element(x, 4), int64_t{5}));
  const ValueId extent = g.add_input({DType::i64, {}}, "extent");
  const ValueId one = g.add(Op::Cast, CastAttrs{DType::i64}, {other});
  const ValueId longer = g.add(Op::Add, NoAttrs{}, {one, extent});
  EXPECT_EQ(ranges.growth({longer, 0}, {extent, 0}), 1);
  EXPECT_EQ(
      ranges.growth({g.add(Op::Max, NoAttrs{}, {longer, g.add_constant(i64({}, {4}))}), 0}, {extent, 0}), 4);
  EXPECT_EQ(ranges.growth({g.add(Op::Min, NoAttrs{}, {longer, extent}), 0}, {extent, 0}), 0);
  EXPECT_EQ(ranges.growth({g.add(Op::Add, NoAttrs{}, {extent, extent}), 0}, {extent, 0}), INFINITY);
}

// x[from : to], x of ten elements.
ModelBuilder between() {
  ModelBuilder b(21);
  b.input("x", {10}).input("from", {1}, kPositionType).input("to", {1}, kPositionType).output("z");
  b.node("Slice", {"x", "from", "to"}, {"z"}, "it");
  return b;
}
const HostTensor kTen = f32({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});

TEST(Positions, SlicesAsNumpyTakesThem) {
  const ModelBuilder b = between();
  for (int64_t from : {-20, -10, -3, 0, 2, 9, 10, 30})
    for (int64_t to : {-20, -10, -3, 0, 2, 9, 10, 30}) {
      Values expected;
      const auto place = [](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + 10 : at, 0, 10); };
      for (int64_t i = place(from); i < place(to); ++i) expected.push_back(static_cast<double>(i));
      const HostTensor result = run_cropped(b, {kTen, i64({1}, {from}), i64({1}, {to})})[0];
      expect(result, {static_cast<int64_t>(expected.size())}, expected);
    }
}

// Three elements wherever they begin, if that is within.
TEST(Positions, SlicesOfAKnownLength) {
  ModelBuilder b(21);
  b.input("x", {10, 2}).input("at", {1}, kPositionType).output("z");
  b.ints("none", {0});
  b.ints("last", {7});
  b.ints("three", {3});
  b.node("Max", {"at", "none"}, {"above"});
  b.node("Min", {"above", "last"}, {"from"});
  b.node("Add", {"from", "three"}, {"to"});
  b.node("Slice", {"x", "from", "to"}, {"z"});
  HostTensor x(TensorType{DType::f32, {10, 2}});
  for (int i = 0; i < 20; ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
  const Graph graph = import_onnx_bytes(b.bytes());
  EXPECT_TRUE(graph.extents().empty());
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{3, 2}));
  expect(run_cropped(b, {x, i64({1}, {4})})[0], {3, 2}, {8, 9, 10, 11, 12, 13});
  expect(run_cropped(b, {x, i64({1}, {99})})[0], {3, 2}, {14, 15, 16, 17, 18, 19});
  ModelBuilder open = between();
  open.model.mutable_graph()->mutable_node(0)->set_input(2, "to_three");
  open.ints("three", {3});
  open.node("Add", {"from", "three"}, {"to_three"});
  EXPECT_EQ(import_onnx_bytes(open.bytes()).extents().size(), 1U);  // may run into the end
  expect(run_cropped(open, {kTen, i64({1}, {8}), i64({1}, {0})})[0], {2}, {8, 9});
}

TEST(Positions, SlicesOfWhatWasFound) {
  ModelBuilder b(21);
  b.input("x", {6}).input("c", {6}, 9).output("but_the_last").output("last");
  b.node("Compress", {"x", "c"}, {"y"});
  b.node("Shape", {"y"}, {"count"});
  b.ints("none", {0});
  b.ints("one", {1});
  b.ints("minus", {-1});
  b.ints("far", {INT64_MAX});
  b.node("Sub", {"count", "one"}, {"rest"});
  b.node("Slice", {"y", "none", "rest"}, {"but_the_last"});
  b.node("Slice", {"y", "minus", "far"}, {"last"});
  const auto flags = [](const std::vector<bool>& values) {
    HostTensor result(TensorType{DType::bool_, {6}});
    for (size_t i = 0; i < 6; ++i) result.mutable_data<uint8_t>()[i] = values[i] ? 1 : 0;
    return result;
  };
  const HostTensor x = f32({6}, {5, -7, 6, 8, -9, 4});
  const std::vector<HostTensor> four = run_cropped(b, {x, flags({true, false, true, true, false, true})});
  expect(four[0], {3}, {5, 6, 8});
  expect(four[1], {1}, {4});
  const std::vector<HostTensor> none = run_cropped(b, {x, flags({false, false, false, false, false, false})});
  expect(none[0], {0}, {});
  expect(none[1], {0}, {});
}

TEST(Positions, ARangeHasOneLimit) {
  ModelBuilder b(21);
  b.input("n", {0}, kPositionType).output("z");
  b.initializer("zero", i64({}, {0}));
  b.initializer("one", i64({}, {1}));
  b.node("Range", {"zero", "n", "one"}, {"z"}, "it");
  expect_error([&] { import_onnx_bytes(b.bytes()); }, ErrorKind::invalid, {"it", "Range", "scalars"});
}

// One end beside another that is known, and larger than double holds exactly.
TEST(Positions, SlicesOfWhichOneEndIsKnown) {
  ModelBuilder b(21);
  b.input("x", {3, 2}).input("to", {1}, kPositionType).output("z");
  b.ints("begin", {0, 1});
  b.ints("far", {INT64_MAX});
  set_attribute(b.node("Concat", {"to", "far"}, {"ends"}), "axis", 0);
  b.node("Slice", {"x", "begin", "ends"}, {"z"});
  expect(run_cropped(b, {f32({3, 2}, {1, 2, 3, 4, 5, 6}), i64({1}, {2})})[0], {2, 1}, {2, 4});
}

// 0, 1, ... and the best k, as far as a bound allows.
TEST(Positions, CountsThatTheDataSay) {
  ModelBuilder b(21);
  b.input("x", {4}).input("n", {1}, kPositionType).output("places").output("best");
  b.ints("none", {0});
  b.ints("six", {6});
  b.initializer("zero", i64({}, {0}));
  b.initializer("one", i64({}, {1}));
  b.node("Max", {"n", "none"}, {"some"});
  b.node("Min", {"some", "six"}, {"k"});
  b.node("Squeeze", {"k"}, {"limit"});
  b.node("Range", {"zero", "limit", "one"}, {"places"});
  b.node("TopK", {"x", "k"}, {"best", "at"});
  const HostTensor x = f32({4}, {3, 1, 4, 2});
  std::vector<HostTensor> results = run_cropped(b, {x, i64({1}, {3})});
  expect(results[0], {3}, {0, 1, 2});
  expect(results[1], {3}, {4, 3, 2});
  results = run_cropped(b, {x, i64({1}, {-5})});
  expect(results[0], {0}, {});
  expect(results[1], {0}, {});
  expect_error(
      [&] {
        run_cropped(b, {x, i64({1}, {5})});
      },
      ErrorKind::invalid, {"TopK", "more elements than there are"});
}

// As long as what the data choose, by an extent that was a float on the way: a reshape of both together.
TEST(Positions, FloatsUpToAnExtent) {
  ModelBuilder b(21);
  b.input("x", {6}).input("n", {1}, kPositionType).output("z");
  b.ints("none", {0});
  b.ints("six", {6});
  b.node("Max", {"n", "none"}, {"some"});
  b.node("Min", {"some", "six"}, {"end"});
  b.node("Slice", {"x", "none", "end"}, {"front"});
  b.node("Shape", {"front"}, {"size"});
  b.initializer("zero", i64({}, {0}));
  b.node("Gather", {"size", "zero"}, {"count"});
  set_attribute(b.node("Cast", {"count"}, {"limit"}), "to", 1);
  b.initializer("from", f32({}, {0}));
  b.initializer("step", f32({}, {1}));
  b.node("Range", {"from", "limit", "step"}, {"places"});
  b.floats("rows", {4, 1}, {0, 10, 20, 30});
  b.node("Add", {"places", "rows"}, {"table"});
  b.ints("two", {2, 2});
  set_attribute(b.node("Concat", {"two", "size"}, {"shape"}), "axis", 0);
  b.node("Reshape", {"table", "shape"}, {"z"});
  expect(run_cropped(b, {f32({6}, {1, 2, 3, 4, 5, 6}), i64({1}, {3})})[0], {2, 2, 3},
         {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32});
}

// An extent is one number, whichever tensors of extents it was read from.
TEST(Positions, OneCountInTwoShapes) {
  ModelBuilder b(21);
  b.input("c", {6}, 9).output("z");
  set_attribute(b.node("Cast", {"c"}, {"flags"}), "to", 7);
  b.ints("front", {0});
  set_attribute(b.node("ReduceSum", {"flags", "front"}, {"count"}), "keepdims", 0);
  b.ints("four", {4});
  b.ints("two", {2, 2});
  for (const std::string name : {"first", "second"}) b.node("Unsqueeze", {"count", "front"}, {name});
  set_attribute(b.node("Concat", {"first", "four"}, {"flat"}), "axis", 0);
  set_attribute(b.node("Concat", {"second", "two"}, {"square"}), "axis", 0);
  b.node("ConstantOfShape", {"flat"}, {"zeros"});
  b.floats("row", {4}, {1, 2, 3, 4});
  b.node("Add", {"zeros", "row"}, {"rows"});
  b.node("Reshape", {"rows", "square"}, {"z"});
  HostTensor chosen(TensorType{DType::bool_, {6}});
  for (const int64_t i : {0, 3}) chosen.mutable_data<uint8_t>()[i] = 1;
  expect(run_cropped(b, {chosen})[0], {2, 2, 2}, {1, 2, 3, 4, 1, 2, 3, 4});
}

// [1, 1, 2, 3] resized to the height that the input says, within 1 and 5, and a width that is known.
ModelBuilder resize(const std::string& mode, const std::string& coordinates) {
  ModelBuilder b(21);
  b.input("x", {1, 1, 2, 3}).input("height", {1}, kPositionType).output("z");
  b.ints("one", {1});
  b.ints("five", {5});
  b.ints("lead", {1, 1});
  b.ints("width", {3});
  b.node("Max", {"height", "one"}, {"some"});
  b.node("Min", {"some", "five"}, {"few"});
  set_attribute(b.node("Concat", {"lead", "few", "width"}, {"sizes"}), "axis", 0);
  auto& node = b.node("Resize", {"x", "", "", "sizes"}, {"z"});
  set_attribute(node, "mode", mode);
  set_attribute(node, "coordinate_transformation_mode", coordinates);
  return b;
}

// As with the same sizes known.
TEST(Positions, ResizedToWhatTheDataSay) {
  const HostTensor x = f32({1, 1, 2, 3}, {1, 2, 4, -3, 7, 5});
  for (const std::string mode : {"nearest", "linear", "cubic"})
    for (const std::string coordinates :
         {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"})
      for (const std::string rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
        for (const bool excludes : {false, true}) {
          if (mode != "nearest" && rounding != "floor") continue;
          if (mode != "cubic" && excludes) continue;
          if (coordinates == "tf_half_pixel_for_nn" && mode != "nearest") continue;
          const auto with_modes = [&](ModelBuilder b) {
            auto& node = *b.model.mutable_graph()->mutable_node(b.model.graph().node_size() - 1);
            set_attribute(node, "nearest_mode", rounding);
            if (excludes) set_attribute(node, "exclude_outside", 1);
            return b;
          };
          const ModelBuilder open = with_modes(resize(mode, coordinates));
          for (int64_t height = 1; height <= 5; ++height) {
            ModelBuilder known(21);
            known.input("x", {1, 1, 2, 3}).output("z");
            known.ints("sizes", {1, 1, height, 3});
            auto& node = known.node("Resize", {"x", "", "", "sizes"}, {"z"});
            set_attribute(node, "mode", mode);
            set_attribute(node, "coordinate_transformation_mode", coordinates);
            const HostTensor expected = run_cropped(with_modes(known), {x})[0];
            const HostTensor result = run_cropped(open, {x, i64({1}, {height})})[0];
            ASSERT_EQ(result.shape(), (Shape{1, 1, height, 3}));
            for (int64_t i = 0; i < 3 * height; ++i)
              EXPECT_NEAR(element_as_double(result, i), element_as_double(expected, i), 1e-5)
                  << mode << " " << coordinates << " " << rounding << " to " << height << ", element " << i;
          }
        }
}

TEST(Positions, SizesWithoutABoundAreRefused) {
  ModelBuilder b = resize("linear", "half_pixel");
  b.model.mutable_graph()->mutable_node(2)->set_input(1, "some");  // instead of few
  expect_error([&] { import_onnx_bytes(b.bytes()); }, ErrorKind::unsupported,
               {"Resize", "its sizes", "depend on the data"});
  ModelBuilder narrow = resize("linear", "half_pixel");
  set_attribute(*narrow.model.mutable_graph()->mutable_node(3), "antialias", 1);
  expect_error([&] { import_onnx_bytes(narrow.bytes()); }, ErrorKind::unsupported, {"Resize", "this mode"});
}

// Zeros [a, b] with both from the data, put in a row, and as rows of b.
TEST(Positions, AxesThatBecomeOne) {
  ModelBuilder b(21);
  b.input("x", {2, 3, 4}).input("n", {2}, kPositionType).output("flat").output("count");
  b.ints("none", {0});
  b.ints("list", {2, -1});
  b.ints("axes", {1, 2});
  b.ints("begin", {0, 0});
  b.node("Max", {"n", "none"}, {"to"});
  b.node("Slice", {"x", "begin", "to", "axes"}, {"part"});
  b.node("Reshape", {"part", "list"}, {"flat"});
  b.node("Size", {"flat"}, {"count"});
  HostTensor x(TensorType{DType::f32, {2, 3, 4}});
  for (int i = 0; i < 24; ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
  std::vector<HostTensor> results = run_cropped(b, {x, i64({2}, {2, 3})});
  expect(results[0], {2, 6}, {0, 1, 2, 4, 5, 6, 12, 13, 14, 16, 17, 18});
  expect(results[1], {}, {12});
  results = run_cropped(b, {x, i64({2}, {3, 1})});
  expect(results[0], {2, 3}, {0, 4, 8, 12, 16, 20});
  expect(run_cropped(b, {x, i64({2}, {0, 4})})[0], {2, 0}, {});
}

// Zeros of a length that the data say, behind them a part of what there is: together always six.
TEST(Positions, WhatIsPutTogether) {
  ModelBuilder b(21);
  b.input("x", {6}).input("n", {1}, kPositionType).output("z").output("beside");
  b.ints("none", {0});
  b.ints("six", {6});
  b.node("Max", {"n", "none"}, {"some"});
  b.node("Min", {"some", "six"}, {"k"});
  b.node("ConstantOfShape", {"k"}, {"zeros"});
  b.node("Slice", {"x", "k", "six"}, {"rest"});
  set_attribute(b.node("Concat", {"zeros", "rest"}, {"z"}), "axis", 0);
  // Off the axis, one operand says how long all are.
  b.ints("row", {1, -1});
  b.ints("both", {1, 6});
  b.node("Slice", {"z", "none", "six"}, {"cut"});
  b.node("Unsqueeze", {"cut", "none"}, {"below"});
  b.node("Reshape", {"x", "both"}, {"above"});
  set_attribute(b.node("Concat", {"above", "below"}, {"beside"}), "axis", 0);
  const HostTensor x = f32({6}, {1, 2, 3, 4, 5, 6});
  for (int64_t k : {0, 2, 6}) {
    Values expected, both = {1, 2, 3, 4, 5, 6};
    for (int64_t i = 0; i < 6; ++i) expected.push_back(i < k ? 0 : static_cast<double>(i + 1));
    both.insert(both.end(), expected.begin(), expected.end());
    const std::vector<HostTensor> results = run_cropped(b, {x, i64({1}, {k})});
    expect(results[0], {6}, expected);
    expect(results[1], {2, 6}, both);
  }
  EXPECT_EQ(import_onnx_bytes(b.bytes()).extents(), (std::vector<OutputExtent>{{0, 0}}));
}

}  // namespace
}  // namespace korch
