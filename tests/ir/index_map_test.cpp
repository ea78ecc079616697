// The elements that index maps name are numpy's and ONNX's, written out.
#include "korch/ir/index_map.h"

#include <gtest/gtest.h>

#include "korch/base/error.h"

namespace korch {
namespace {

using Elements = std::vector<int64_t>;

IndexMaps maps_of(Op op, const Attrs& attrs, const std::vector<Shape>& inputs) {
  std::vector<TensorType> types;
  for (const Shape& shape : inputs) types.push_back({DType::f32, shape});
  if (looks_up(op)) types[1].dtype = DType::i64;
  return index_maps(op, attrs, types, infer_types(op, attrs, types)[0].shape);
}

// What every element of the result reads of the operand: one element per tap, taps in row-major order.
Elements reads(const IndexMaps& maps, size_t operand = 0, int64_t looked_up = 0) {
  Elements found;
  for (int64_t i = 0; i < element_count(maps.result); ++i)
    for (int64_t t = 0; t < element_count(maps.taps); ++t) {
      Shape taps(maps.taps.size());
      int64_t rest = t;
      for (size_t k = taps.size(); k-- > 0; rest /= maps.taps[k]) taps[k] = rest % maps.taps[k];
      found.push_back(element_read(maps.operands[operand], i, taps, looked_up));
    }
  return found;
}

TEST(IndexMap, LayoutPrimitives) {
  EXPECT_EQ(reads(maps_of(Op::Transpose, PermAttrs{{1, 0}}, {{2, 3}})), (Elements{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(reads(maps_of(Op::Transpose, PermAttrs{{2, 0, 1}}, {{2, 1, 3}})), (Elements{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(reads(maps_of(Op::Reshape, ShapeAttrs{{3, 2}}, {{2, 3}})), (Elements{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(reads(maps_of(Op::Reshape, ShapeAttrs{{1, 1}}, {{}})), (Elements{0}));
  EXPECT_EQ(reads(maps_of(Op::Slice, SliceAttrs{{3, 1}, {2, 2}, {-2, 3}}, {{4, 5}})),
            (Elements{16, 19, 6, 9}));
  EXPECT_EQ(reads(maps_of(Op::Expand, ShapeAttrs{{2, 2, 2}}, {{2, 1}})), (Elements{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(reads(maps_of(Op::Expand, ShapeAttrs{{2}}, {{}})), (Elements{0, 0}));
  EXPECT_EQ(reads(maps_of(Op::Tile, ShapeAttrs{{2, 2}}, {{1, 2}})), (Elements{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(reads(maps_of(Op::Transpose, PermAttrs{{1, 0}}, {{0, 3}})), (Elements{}));
}

TEST(IndexMap, Blocks) {
  EXPECT_EQ(reads(maps_of(Op::DepthToSpace, AxisAttrs{2}, {{1, 4, 1, 2}})),
            (Elements{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(reads(maps_of(Op::DepthToSpace, AxisAttrs{2}, {{1, 8, 1, 1}})),
            (Elements{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(reads(maps_of(Op::DepthToSpaceCRD, AxisAttrs{2}, {{1, 8, 1, 1}})),
            (Elements{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(reads(maps_of(Op::SpaceToDepth, AxisAttrs{2}, {{1, 2, 2, 2}})),
            (Elements{0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(IndexMap, PaddingReadsNothingOrWhatItRepeats) {
  const auto pad = [](PadMode mode, int64_t before, int64_t after) {
    return reads(maps_of(Op::Pad, PadAttrs{{before}, {after}, mode}, {{3}}));
  };
  EXPECT_EQ(pad(PadMode::constant, 1, 2), (Elements{-1, 0, 1, 2, -1, -1}));
  EXPECT_EQ(pad(PadMode::reflect, 2, 2), (Elements{2, 1, 0, 1, 2, 1, 0}));
  EXPECT_EQ(pad(PadMode::edge, 2, 1), (Elements{0, 0, 0, 1, 2, 2}));
}

TEST(IndexMap, EveryElementOfAConcatIsOneOperands) {
  const IndexMaps maps = maps_of(Op::Concat, AxisAttrs{1}, {{2, 1}, {2, 0}, {2, 2}});
  EXPECT_EQ(reads(maps, 0), (Elements{0, -1, -1, 1, -1, -1}));
  EXPECT_EQ(reads(maps, 1), (Elements{-1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(reads(maps, 2), (Elements{-1, 0, 1, -1, 2, 3}));
}

TEST(IndexMap, GatherLooksUpOneCoordinate) {
  const IndexMaps maps = maps_of(Op::Gather, AxisAttrs{1}, {{2, 3, 2}, {1, 2}});
  EXPECT_EQ(reads(maps, 1), (Elements{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(reads(maps, 0, 2), (Elements{4, 5, 4, 5, 10, 11, 10, 11}));
  EXPECT_EQ(reads(maps_of(Op::Gather, AxisAttrs{0}, {{2, 3}, {}}), 0, 1), (Elements{3, 4, 5}));
}

TEST(IndexMap, GatherElementsLooksUpOneCoordinateOfEachElement) {
  const IndexMaps maps = maps_of(Op::GatherElements, AxisAttrs{1}, {{2, 3, 2}, {2, 1, 2}});
  EXPECT_EQ(maps.result, (Shape{2, 1, 2}));
  EXPECT_EQ(reads(maps, 1), (Elements{0, 1, 2, 3}));
  EXPECT_EQ(reads(maps, 0, 2), (Elements{4, 5, 10, 11}));
}

TEST(IndexMap, Windows) {
  // Outputs at -1, 1, 3 of five elements; taps 2 apart.
  const PoolAttrs pool{{2}, {2}, {2}, {1}, {1}, false};
  EXPECT_EQ(reads(maps_of(Op::WindowMax, pool, {{1, 1, 5}})), (Elements{-1, 1, 1, 3, 3, -1}));
  const PoolAttrs square{{2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, false};
  EXPECT_EQ(reads(maps_of(Op::WindowSum, square, {{1, 2, 2, 3}})),
            (Elements{0, 1, 3, 4, 1, 2, 4, 5, 6, 7, 9, 10, 7, 8, 10, 11}));
  const IndexMaps dot = maps_of(Op::WindowDot, square, {{1, 2, 2, 2}, {2, 2, 2}});
  EXPECT_EQ(reads(dot, 1), (Elements{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST(IndexMap, Convolutions) {
  // Two groups of two channels each, two results each, kernel 2, stride 2: taps are channel, then kernel.
  const ConvAttrs conv{{2}, {1}, {1}, {0}, {0}, 2};
  const IndexMaps maps = maps_of(Op::Conv, conv, {{1, 4, 3}, {4, 2, 2}});
  EXPECT_EQ(maps.taps, (Shape{2, 2}));
  EXPECT_EQ(reads(maps, 0), (Elements{-1, 0, -1, 3, 1, 2, 4,  5,  -1, 0, -1, 3, 1, 2, 4,  5,
                                      -1, 6, -1, 9, 7, 8, 10, 11, -1, 6, -1, 9, 7, 8, 10, 11}));
  EXPECT_EQ(reads(maps, 1), (Elements{0, 1, 2,  3,  0, 1, 2,  3,  4,  5,  6,  7,  4,  5,  6,  7,
                                      8, 9, 10, 11, 8, 9, 10, 11, 12, 13, 14, 15, 12, 13, 14, 15}));
  // Of two elements, stride 2 and kernel 3: 0 1 0' 1' ... meet at the third of five.
  const ConvAttrs transposed{{2}, {1}, {0}, {0}, {0}, 1};
  const IndexMaps back = maps_of(Op::ConvTranspose, transposed, {{1, 1, 2}, {1, 2, 3}});
  EXPECT_EQ(reads(back, 0), (Elements{0, -1, -1, -1, 0, -1, 1, -1, 0, -1, 1, -1, -1, -1, 1,
                                      0, -1, -1, -1, 0, -1, 1, -1, 0, -1, 1, -1, -1, -1, 1}));
  EXPECT_EQ(reads(back, 1), (Elements{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2,
                                      3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5}));
}

TEST(IndexMap, ReductionsAndProducts) {
  EXPECT_EQ(reads(maps_of(Op::ReduceSum, ReduceAttrs{{1}, false}, {{2, 2, 2}})),
            (Elements{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(reads(maps_of(Op::ArgMax, ArgReduceAttrs{0, true, false}, {{2, 2}})), (Elements{0, 2, 1, 3}));
  const IndexMaps plain = maps_of(Op::MatMul, MatMulAttrs{}, {{2, 2, 3}, {3, 1}});
  EXPECT_EQ(reads(plain, 0), (Elements{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(reads(plain, 1), (Elements{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
  const IndexMaps transposed = maps_of(Op::MatMul, MatMulAttrs{true, true}, {{3, 2}, {2, 3}});
  EXPECT_EQ(reads(transposed, 0), (Elements{0, 2, 4, 0, 2, 4, 1, 3, 5, 1, 3, 5}));
  EXPECT_EQ(reads(transposed, 1), (Elements{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}));
}

TEST(IndexMap, Broadcasting) {
  const IndexMaps maps = maps_of(Op::Add, NoAttrs{}, {{2, 2}, {2, 1}});
  EXPECT_EQ(reads(maps, 1), (Elements{0, 0, 1, 1}));
  EXPECT_EQ(element_read(broadcast_map({3}, {2, 3}), 4), 1);
}

TEST(IndexMap, RunsOfElements) {
  const auto start = [](Op op, const Attrs& attrs, const Shape& shape) {
    return start_of_run(maps_of(op, attrs, {shape}).operands[0]);
  };
  EXPECT_EQ(start(Op::Reshape, ShapeAttrs{{6}}, {2, 3}), 0);
  EXPECT_EQ(start(Op::Transpose, PermAttrs{{1, 0, 2}}, {1, 4, 3}), 0);
  EXPECT_EQ(start(Op::Transpose, PermAttrs{{1, 0}}, {2, 3}), std::nullopt);
  EXPECT_EQ(start(Op::Slice, SliceAttrs{{1, 0}, {2, 3}, {1, 1}}, {4, 3}), 3);
  EXPECT_EQ(start(Op::Slice, SliceAttrs{{3, 1}, {1, 2}, {-7, 1}}, {4, 3}), 10);
  EXPECT_EQ(start(Op::Slice, SliceAttrs{{0, 0}, {4, 2}, {1, 1}}, {4, 3}), std::nullopt);
  EXPECT_EQ(start(Op::Slice, SliceAttrs{{0, 0}, {2, 3}, {2, 1}}, {4, 3}), std::nullopt);
  EXPECT_EQ(start(Op::Slice, SliceAttrs{{3}, {4}, {-1}}, {4}), std::nullopt);
  EXPECT_EQ(start(Op::Expand, ShapeAttrs{{1, 3}}, {3}), 0);
  EXPECT_EQ(start(Op::Expand, ShapeAttrs{{2, 3}}, {3}), std::nullopt);
  EXPECT_EQ(start(Op::Pad, PadAttrs{{0, 0}, {0, 0}}, {2, 3}), 0);
  EXPECT_EQ(start(Op::Pad, PadAttrs{{0, 0}, {1, 0}}, {2, 3}), std::nullopt);
  EXPECT_EQ(start(Op::ReduceSum, ReduceAttrs{{1}, true}, {2, 1}), std::nullopt);
}

TEST(IndexMap, SlicesThroughPadsAndConcats) {
  const IndexMaps pad = maps_of(Op::Pad, PadAttrs{{2}, {1}}, {{4}});
  EXPECT_EQ(slice_through(pad.operands[0], {{5}, {2}, {-3}}), (SliceAttrs{{3}, {2}, {-3}}));
  EXPECT_EQ(slice_through(pad.operands[0], {{1}, {2}, {1}}), std::nullopt);
  EXPECT_EQ(slice_through(pad.operands[0], {{5}, {2}, {1}}), std::nullopt);
  const IndexMaps concat = maps_of(Op::Concat, AxisAttrs{0}, {{3, 2}, {4, 2}});
  const SliceAttrs cut{{3, 0}, {2, 1}, {2, 1}};
  EXPECT_EQ(slice_through(concat.operands[0], cut), std::nullopt);
  EXPECT_EQ(slice_through(concat.operands[1], cut), (SliceAttrs{{0, 0}, {2, 1}, {2, 1}}));
  const IndexMaps every_other = maps_of(Op::Slice, SliceAttrs{{7}, {4}, {-2}}, {{8}});
  EXPECT_EQ(slice_through(every_other.operands[0], {{1}, {2}, {2}}), (SliceAttrs{{5}, {2}, {-4}}));
}

// Against what the coordinates say one by one.
TEST(IndexMap, RunsOfATap) {
  for (const int64_t scale : {1, 2, 3})
    for (const int64_t step : {1, 2})
      for (const int64_t offset : {-4, -1, 0, 2}) {
        const Coordinate place{
            .axis = 0, .scale = scale, .tap = 0, .step = step, .offset = offset, .outside = Outside::fill};
        constexpr int64_t kOperand = 6, kResult = 5, kTaps = 4;
        std::vector<int64_t> inside(kResult, 0);
        for (int64_t tap = 0; tap < kTaps; ++tap) {
          const TapRun run = tap_run(place, tap, kOperand, kResult);
          for (int64_t i = 0; i < kResult; ++i) {
            const int64_t at = place.at(i, tap, kOperand);
            const bool in_run = i >= run.first && i < run.first + run.count;
            EXPECT_EQ(at >= 0, in_run) << scale << " " << step << " " << offset << " " << tap << " " << i;
            EXPECT_TRUE(!in_run || at == run.from + (i - run.first) * scale);
            inside[i] += at >= 0 ? 1 : 0;
          }
        }
        EXPECT_EQ(taps_inside(place, kTaps, kOperand, kResult), inside);
      }
}

}  // namespace
}  // namespace korch
