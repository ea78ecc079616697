#include <gtest/gtest.h>

#include <limits>

#include "korch/ir/op.h"

namespace korch {
namespace {

struct Case {
  Op op;
  Attrs attrs;
  std::vector<Shape> inputs;
  std::string expected;  // the output types, or the error text after "error: "
  DType dtype = DType::f32;
};

std::string result_of(const Case& c) {
  std::vector<TensorType> types;
  for (const Shape& shape : c.inputs) types.push_back({c.dtype, shape});
  std::string text;
  try {
    for (const TensorType& type : infer_types(c.op, c.attrs, types)) {
      if (!text.empty()) text += ' ';
      text += to_string(type);
    }
  } catch (const Error& error) {
    return "error: " + std::string(error.what());
  }
  return text;
}

ConvAttrs conv(int64_t stride, int64_t dilation, int64_t pad, int64_t group = 1) {
  return {{stride, stride}, {dilation, dilation}, {pad, pad}, {pad, pad}, {0, 0}, group};
}

TEST(Infer, ShapeRules) {
  const PoolAttrs pool = {{3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}, false};
  ResizeAttrs resize;
  resize.sizes = {1, 3, 5, 5};
  resize.scales = {1, 1, 2, 2};
  const std::vector<Case> cases = {
      {Op::Add, NoAttrs{}, {{2, 1, 4}, {3, 1}}, "f32[2x3x4]"},
      {Op::Less, NoAttrs{}, {{2}, {1}}, "bool[2]"},
      {Op::Cast, CastAttrs{DType::i64}, {{2, 3}}, "i64[2x3]"},
      {Op::IsNaN, NoAttrs{}, {{}}, "bool[]"},
      {Op::ReduceSum, ReduceAttrs{{0, 2}, true}, {{2, 3, 4}}, "f32[1x3x1]"},
      {Op::ReduceMean, ReduceAttrs{{0, 2}, false}, {{2, 3, 4}}, "f32[3]"},
      {Op::ArgMax, ArgReduceAttrs{1, false, false}, {{2, 3, 4}}, "i64[2x4]"},
      {Op::WindowMax, pool, {{1, 8, 10, 11}}, "f32[1x8x5x5]"},
      {Op::WindowDot, pool, {{1, 8, 10, 11}, {pool.kernel[0], pool.kernel[1], 8}}, "f32[1x8x5x5]"},
      {Op::WinogradInput, WinogradAttrs{4, 3, {1, 0}, {1, 0}, {}}, {{2, 5, 9, 8}}, "f32[36x12x5]"},
      {Op::WinogradProduct, WinogradAttrs{4, 3, {}, {}, {}}, {{36, 12, 5}, {7, 5, 3, 3}}, "f32[36x12x7]"},
      {Op::WinogradInput, WinogradAttrs{2, 1, {0, 0}, {0, 0}, {}}, {{3, 6, 3, 5}}, "f32[7x23x3]"},
      {Op::WinogradProduct, WinogradAttrs{2, 1, {}, {}, {}}, {{7, 23, 3}, {8, 6, 1, 1}}, "f32[7x23x4]"},
      {Op::WinogradOutput, WinogradAttrs{2, 1, {}, {}, {3, 8, 3, 5}}, {{7, 23, 4}}, "f32[3x8x3x5]"},
      {Op::WinogradOutput, WinogradAttrs{4, 3, {}, {}, {2, 7, 9, 6}}, {{36, 12, 7}}, "f32[2x7x9x6]"},
      {Op::MaxPoolIndices, pool, {{1, 8, 10, 11}}, "i64[1x8x5x5]"},
      {Op::Transpose, PermAttrs{{2, 0, 1}}, {{2, 3, 4}}, "f32[4x2x3]"},
      {Op::Reshape, ShapeAttrs{{6, -0}}, {{0, 6}}, "f32[6x0]"},
      {Op::Slice, SliceAttrs{{3, 0}, {2, 2}, {-2, 1}}, {{4, 5}}, "f32[2x2]"},
      {Op::Pad, PadAttrs{{1, 0}, {2, 0}, PadMode::edge, 0}, {{4, 5}}, "f32[7x5]"},
      {Op::Concat, AxisAttrs{1}, {{2, 3}, {2, 4}, {2, 1}}, "f32[2x8]"},
      {Op::Expand, ShapeAttrs{{5, 3, 4}}, {{3, 1}}, "f32[5x3x4]"},
      {Op::MatMul, MatMulAttrs{false, true}, {{8, 1, 4, 16}, {3, 5, 16}}, "f32[8x3x4x5]"},
      {Op::Conv, conv(2, 1, 1), {{1, 3, 224, 224}, {64, 3, 3, 3}}, "f32[1x64x112x112]"},
      {Op::Conv, conv(1, 2, 2, 4), {{1, 8, 9, 9}, {12, 2, 3, 3}}, "f32[1x12x9x9]"},
      {Op::ConvTranspose, conv(2, 1, 1, 2), {{1, 8, 5, 5}, {8, 3, 4, 4}}, "f32[1x6x10x10]"},
      {Op::TopK, TopKAttrs{1, 2, true, true}, {{3, 5}}, "f32[3x2] i64[3x2]"},
      {Op::NonMaxSuppression, SuppressionAttrs{3, 0.5}, {{2, 7, 4}, {2, 5, 7}}, "i64[2x5x3]"},
      {Op::Gemm, GemmAttrs{1, 1, true, false}, {{4, 2}, {4, 3}, {3}}, "f32[2x3]"},
      {Op::Einsum, EinsumAttrs{"b i ... , b j ... -> ... i j"}, {{2, 3, 7}, {2, 5, 7}}, "f32[7x3x5]"},
      {Op::Einsum, EinsumAttrs{"ij,jk"}, {{2, 3}, {3, 4}}, "f32[2x4]"},
      {Op::Tile, ShapeAttrs{{2, 3}}, {{1, 4}}, "f32[2x12]"},
      {Op::DepthToSpace, AxisAttrs{2}, {{1, 8, 3, 3}}, "f32[1x2x6x6]"},
      {Op::SpaceToDepth, AxisAttrs{2}, {{1, 2, 6, 6}}, "f32[1x8x3x3]"},
      {Op::Resize, resize, {{1, 3, 2, 2}}, "f32[1x3x5x5]"},
  };
  for (const Case& c : cases) EXPECT_EQ(result_of(c), c.expected) << name(c.op);
}

TEST(Infer, IndexedOperators) {
  const TensorType data{DType::f32, {4, 5, 6}};
  const auto types = [&](Op op, int64_t axis, Shape indices) {
    return to_string(infer_types(op, AxisAttrs{axis}, {data, {DType::i64, std::move(indices)}})[0]);
  };
  EXPECT_EQ(types(Op::Gather, 1, {2, 3}), "f32[4x2x3x6]");
  EXPECT_EQ(types(Op::Gather, 0, {}), "f32[5x6]");
  EXPECT_EQ(types(Op::GatherND, 1, {4, 7, 1}), "f32[4x7x6]");
  EXPECT_EQ(types(Op::GatherElements, 2, {1, 2, 3}), "f32[1x2x3]");
  const HostTensor far = HostTensor::of<int64_t>(DType::i64, {2}, {0, -6});
  EXPECT_THROW(infer_types(Op::Gather, AxisAttrs{1}, {data, far.type()}, {nullptr, &far}), Error);
  const HostTensor near = HostTensor::of<int64_t>(DType::i64, {2}, {0, -5});
  EXPECT_NO_THROW(infer_types(Op::Gather, AxisAttrs{1}, {data, near.type()}, {nullptr, &near}));
}

TEST(Infer, ErrorsNameOperatorAndShapes) {
  const std::vector<Case> cases = {
      {Op::Add,
       NoAttrs{},
       {{2, 3}, {4}},
       "error: Add(f32[2x3], f32[4]): shapes [2x3] and [4] cannot be broadcast together"},
      {Op::Add, NoAttrs{}, {{2}}, "error: Add(f32[2]): 1 inputs, expected 2"},
      {Op::MatMul,
       MatMulAttrs{},
       {{2, 3}, {4, 5}},
       "error: MatMul(f32[2x3], f32[4x5]): inner extents 3 and 4 differ"},
      {Op::MatMul,
       MatMulAttrs{},
       {{2, 3}, {3, 5}},
       "error: MatMul(bool[2x3], bool[3x5]): operands must be numbers",
       DType::bool_},
      {Op::WinogradInput,
       WinogradAttrs{3, 3, {1, 1}, {1, 1}, {}},
       {{1, 5, 9, 8}},
       "error: WinogradInput(f32[1x5x9x8]): tiles must have 4 or 6 inputs, at least two outputs, and 2 to 5 "
       "taps; or two outputs and one tap"},
      {Op::WinogradInput,
       WinogradAttrs{2, 1, {0, 0}, {0, 0}, {}},
       {{1, 5, 9, 8}},
       "error: WinogradInput(f32[1x5x9x8]): channels must have halves"},
      {Op::WinogradInput,
       WinogradAttrs{2, 1, {0, 1}, {0, 0}, {}},
       {{1, 6, 9, 8}},
       "error: WinogradInput(f32[1x6x9x8]): one tap takes no padding"},
      {Op::WinogradInput,
       WinogradAttrs{4, 3, {1, 1}, {INT64_MAX, 1}, {}},
       {{1, 5, 9, 8}},
       "error: WinogradInput(f32[1x5x9x8]): 10 + 9223372036854775807 is too large"},
      {Op::WinogradOutput,
       WinogradAttrs{4, 3, {}, {}, {int64_t{1} << 40, 7, 1 << 20, 1 << 20}},
       {{36, 10, 7}},
       "error: WinogradOutput(f32[36x10x7]): 1099511627776 * 1099520016400 is too large"},
      {Op::WinogradOutput,
       WinogradAttrs{4, 3, {}, {}, {2, 7, 9, 6}},
       {{36, 10, 7}},
       "error: WinogradOutput(f32[36x10x7]): there must be one row per tile of the result"},
      {Op::Conv,
       conv(1, 1, 0),
       {{1, 3, 8, 8}, {4, 2, 3, 3}},
       "error: Conv(f32[1x3x8x8], f32[4x2x3x3]): 3 channels, but weights for 2 in 1 groups"},
      {Op::Conv,
       conv(1, 1, 0),
       {{1, 3, 2, 8}, {4, 3, 3, 3}},
       "error: Conv(f32[1x3x2x8], f32[4x3x3x3]): a window of 3 does not fit an axis of 2 with padding 0+0"},
      {Op::WindowMax,
       PoolAttrs{},
       {{2, 3}},
       "error: WindowMax(f32[2x3]): rank must be the kernel's rank + 2, and 3 or more"},
      {Op::Reshape,
       ShapeAttrs{{5}},
       {{2, 3}},
       "error: Reshape(f32[2x3]): cannot reshape to [5]: the element counts differ"},
      {Op::Concat, AxisAttrs{2}, {{2, 3}}, "error: Concat(f32[2x3]): axis 2 is not in [0, 2)"},
      {Op::Transpose, PermAttrs{{0, 0}}, {{2, 3}}, "error: Transpose(f32[2x3]): perm repeats an axis"},
      {Op::Slice, SliceAttrs{{1}, {2}, {2}}, {{3}}, "error: Slice(f32[3]): slice from 1 to 3 leaves axis 0"},
      {Op::Pad,
       PadAttrs{{3}, {0}, PadMode::reflect, 0},
       {{3}},
       "error: Pad(f32[3]): reflection needs pads smaller than the axis"},
      {Op::Exp, NoAttrs{}, {{2}}, "error: Exp(i32[2]): needs a float operand", DType::i32},
      {Op::ReduceSum,
       ReduceAttrs{{1, 1}, true},
       {{2, 3}},
       "error: ReduceSum(f32[2x3]): axis 1 is reduced twice"},
  };
  for (const Case& c : cases) EXPECT_EQ(result_of(c), c.expected);
  const Shape huge = {int64_t{1} << 40, int64_t{1} << 30};
  EXPECT_NE(result_of({Op::Relu, NoAttrs{}, {huge}, ""}).find("too many elements"), std::string::npos);
}

// Off the axis an index keeps its own coordinate: the data must have it.
TEST(Infer, IndicesStayInsideTheDataOffTheAxis) {
  const TensorType data{DType::f32, {4, 5, 6}};
  const auto result = [&](Op op, Shape extents) -> std::string {
    std::vector<TensorType> types = {data, {DType::i64, extents}};
    if (op == Op::ScatterElements) types.push_back({DType::f32, extents});
    try {
      return to_string(infer_types(op, AxisAttrs{1}, types)[0]);
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(result(Op::GatherElements, {4, 9, 6}), "f32[4x9x6]");
  EXPECT_EQ(result(Op::ScatterElements, {4, 9, 6}), "f32[4x5x6]");
  for (Op op : {Op::GatherElements, Op::ScatterElements}) {
    EXPECT_NE(result(op, {5, 1, 6}).find("extent 5 on axis 0 exceeds the data's 4"), std::string::npos);
    EXPECT_NE(result(op, {4, 1, 7}).find("extent 7 on axis 2 exceeds the data's 6"), std::string::npos);
  }
}

// A text may hold any numbers.
TEST(Infer, HugeAttributesAreRefused) {
  const int64_t huge = int64_t{1} << 40, most = std::numeric_limits<int64_t>::max();
  const std::vector<Case> cases = {
      {Op::Tile, ShapeAttrs{{huge}}, {{huge}}, ""},
      {Op::Pad, PadAttrs{{most}, {most}, PadMode::constant, 0}, {{1}}, ""},
      {Op::Slice, SliceAttrs{{0}, {3}, {most}}, {{3}}, ""},
      {Op::DepthToSpace, AxisAttrs{int64_t{1} << 32}, {{1, 4, 2, 2}}, ""},
      {Op::WindowMax, PoolAttrs{{huge}, {1}, {huge}, {0}, {0}}, {{1, 1, 4}}, ""},
      {Op::ConvTranspose, ConvAttrs{{most}, {1}, {0}, {0}, {0}, 1}, {{1, 1, 4}, {1, 1, 1}}, ""},
      {Op::ConvTranspose, ConvAttrs{{1}, {1}, {-most}, {-most}, {0}, 1}, {{1, 1, 4}, {1, 1, 1}}, ""},
  };
  for (const Case& c : cases) EXPECT_NE(result_of(c).find("is too large"), std::string::npos) << result_of(c);
  EXPECT_NE(result_of({Op::TopK, TopKAttrs{2, 1, true, true}, {{2, 3}}, ""}).find("axis 2"),
            std::string::npos);
}

TEST(Infer, EquationsOfLettersAndOneEllipsisPerOperand) {
  const auto result = [](const std::string& equation) {
    return result_of({Op::Einsum, EinsumAttrs{equation}, {{2, 3}, {3, 4}}, ""});
  };
  EXPECT_EQ(result("ij,j...->...i"), "f32[4x2]");
  for (const char* equation : {"i.,.j->ij", "......,ij->ij", "i1,1j->ij", "ij,jk->ii", "ij,jk->i-k"})
    EXPECT_EQ(result(equation).substr(0, 6), "error:") << equation << " " << result(equation);
}

TEST(OpTable, NamesRoundTripAndEveryElementwiseOpHasSemantics) {
  int elementwise = 0;
#define X(op_name, ...)                                                      \
  EXPECT_EQ(parse_op(#op_name), Op::op_name);                                \
  if (info(Op::op_name).category == Category::elementwise) {                 \
    ++elementwise;                                                           \
    const ScalarExpr& expr = scalar_semantics(Op::op_name);                  \
    for (size_t i = 0; i < expr.terms.size(); ++i) {                         \
      const ScalarExpr::Term& t = expr.terms[i];                             \
      const int used = (t.a >= 0) + (t.b >= 0) + (t.c >= 0);                 \
      EXPECT_EQ(used, arity(t.fn)) << #op_name << " " << name(t.fn);         \
      EXPECT_LT(std::max({t.a, t.b, t.c}), static_cast<int>(i)) << #op_name; \
    }                                                                        \
  }
  KORCH_OPS(X)
#undef X
  EXPECT_GT(elementwise, 50);
  EXPECT_EQ(parse_op("NoSuch"), std::nullopt);
  EXPECT_FALSE(is_primitive(Op::Softmax));
}

}  // namespace
}  // namespace korch
