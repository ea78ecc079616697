#include <algorithm>
#include <cmath>
#include <limits>

#include "check.h"

namespace korch {
namespace {

TEST(MatMul, Transpositions) {
  const HostTensor a = f32({2, 2}, {1, 2, 3, 4}), b = f32({2, 2}, {5, 6, 7, 8});
  expect_result(Op::MatMul, MatMulAttrs{false, false}, {a, b}, {2, 2}, {19, 22, 43, 50});
  expect_result(Op::MatMul, MatMulAttrs{true, false}, {a, b}, {2, 2}, {26, 30, 38, 44});
  expect_result(Op::MatMul, MatMulAttrs{false, true}, {a, b}, {2, 2}, {17, 23, 39, 53});
  expect_result(Op::MatMul, MatMulAttrs{true, true}, {a, b}, {2, 2}, {23, 31, 34, 46});
}

TEST(MatMul, BatchesBroadcast) {
  const HostTensor a = f32({2, 1, 1, 2}, {1, 2, 3, 4}), b = f32({2, 2, 1}, {1, 1, 2, -1});
  expect_result(Op::MatMul, MatMulAttrs{}, {a, b}, {2, 2, 1, 1}, {3, 0, 7, 2});
  expect_result(Op::MatMul, MatMulAttrs{true, false}, {counting({3, 2}), counting({3, 1})}, {2, 1}, {10, 13});
}

TEST(MatMul, EmptyAndInteger) {
  expect_result(Op::MatMul, MatMulAttrs{}, {f32({2, 0}, {}), f32({0, 2}, {})}, {2, 2}, {0, 0, 0, 0});
  expect_result(Op::MatMul, MatMulAttrs{false, true},
                {tensor(DType::i32, {1, 2}, {65536, 3}), tensor(DType::i32, {1, 2}, {65536, 5})}, {1, 1},
                {15});  // 2^32 wraps away
}

TEST(Gemm, AlphaBetaBias) {
  const HostTensor a = f32({2, 1}, {1, 2}), b = f32({1, 2}, {3, 4});
  expect_result(Op::Gemm, GemmAttrs{2, 0.5, false, false}, {a, b, f32({2}, {10, 20})}, {2, 2},
                {11, 18, 17, 26});
  expect_result(Op::Gemm, GemmAttrs{1, 1, true, true}, {f32({1, 2}, {1, 2}), f32({2, 1}, {3, 4})}, {2, 2},
                {3, 4, 6, 8});
}

TEST(Einsum, Equations) {
  const HostTensor a = counting({2, 3}), b = counting({3, 2});
  expect_result(Op::Einsum, EinsumAttrs{"ij, jk -> ik"}, {a, b}, {2, 2}, {10, 13, 28, 40});
  expect_result(Op::Einsum, EinsumAttrs{"ij,jk"}, {a, b}, {2, 2}, {10, 13, 28, 40});
  expect_result(Op::Einsum, EinsumAttrs{"ij->ji"}, {a}, {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_result(Op::Einsum, EinsumAttrs{"ij->i"}, {a}, {2}, {3, 12});
  expect_result(Op::Einsum, EinsumAttrs{"ij->"}, {a}, {}, {15});
  expect_result(Op::Einsum, EinsumAttrs{"ii->i"}, {counting({3, 3})}, {3}, {0, 4, 8});
  expect_result(Op::Einsum, EinsumAttrs{"i,j->ij"}, {f32({2}, {1, 2}), f32({2}, {3, 4})}, {2, 2},
                {3, 4, 6, 8});
  expect_result(Op::Einsum, EinsumAttrs{"i,i,i->"}, {f32({2}, {1, 2}), f32({2}, {3, 4}), f32({2}, {5, 6})},
                {}, {63});
  expect_result(Op::Einsum, EinsumAttrs{"...ij,...jk->...ik"}, {counting({2, 1, 2}), counting({2, 1})},
                {2, 1, 1}, {1, 3});
  expect_result(Op::Einsum, EinsumAttrs{"b...,b...->b..."}, {counting({2, 2}), counting({2, 2})}, {2, 2},
                {0, 1, 4, 9});
}

struct ConvCase {
  Shape x, w;
  ConvAttrs attrs;
  bool bias;
};

const std::vector<ConvCase>& conv_cases() {
  static const std::vector<ConvCase> cases = {
      {{2, 3, 5, 6}, {4, 3, 1, 1}, {{1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, 1}, true},   // pointwise
      {{1, 3, 7, 6}, {2, 3, 3, 2}, {{1, 1}, {1, 1}, {1, 0}, {1, 1}, {0, 0}, 1}, false},  // asymmetric padding
      {{1, 4, 9, 8},
       {6, 2, 3, 3},
       {{2, 3}, {1, 2}, {1, 2}, {0, 2}, {0, 0}, 2},
       true},  // groups, strides, dilation
      {{2, 3, 6, 6},
       {6, 1, 3, 3},
       {{2, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 3},
       true},                                                      // depthwise with multiplier
      {{1, 2, 7}, {3, 2, 3}, {{2}, {2}, {2}, {1}, {0}, 1}, true},  // one axis
      {{1, 2, 3, 4, 3}, {2, 2, 2, 3, 2}, {{1, 2, 1}, {1, 1, 2}, {1, 0, 1}, {0, 1, 1}, {0, 0, 0}, 1}, false},
      {{1, 2, 2, 2},
       {2, 2, 5, 5},
       {{1, 1}, {1, 1}, {4, 4}, {4, 4}, {0, 0}, 1},
       false},  // taps that only see padding
  };
  return cases;
}

// The definition, one output element at a time.
std::vector<double> convolve(const ConvCase& c, const HostTensor& x, const HostTensor& w, const HostTensor& b,
                             const Shape& out) {
  const size_t spatial = c.x.size() - 2;
  const Shape x_strides = row_major_strides(c.x), out_strides = row_major_strides(out);
  const int64_t taps = element_count(Shape(c.w.begin() + 2, c.w.end()));
  const int64_t in_channels = c.w[1], out_channels = c.w[0] / c.attrs.group;
  std::vector<double> result;
  for (int64_t p = 0; p < element_count(out); ++p) {
    const int64_t image = p / out_strides[0], m = p / out_strides[1] % out[1];
    double sum = c.bias ? element_as_double(b, m) : 0;
    for (int64_t k = 0; k < in_channels * taps; ++k) {
      const int64_t channel = m / out_channels * in_channels + k / taps;
      int64_t at = image * x_strides[0] + channel * x_strides[1], tap = k % taps;
      bool inside = true;
      for (size_t axis = spatial; axis-- > 0; tap /= c.w[axis + 3 - 1]) {
        const int64_t position = p / out_strides[axis + 2] % out[axis + 2] * c.attrs.strides[axis] -
                                 c.attrs.pads_before[axis] + tap % c.w[axis + 2] * c.attrs.dilations[axis];
        inside = inside && position >= 0 && position < c.x[axis + 2];
        at += position * x_strides[axis + 2];
      }
      if (inside) sum += element_as_double(x, at) * element_as_double(w, m * in_channels * taps + k);
    }
    result.push_back(sum);
  }
  return result;
}

TEST(Conv, EqualsItsDefinition) {
  for (const ConvCase& c : conv_cases()) {
    SCOPED_TRACE(to_string(c.x) + " * " + to_string(c.w));
    const HostTensor x = random(c.x, 1), w = random(c.w, 2), b = random({c.w[0]}, 3);
    std::vector<HostTensor> inputs = {x, w};
    if (c.bias) inputs.push_back(b);
    const Shape out = evaluate(Op::Conv, c.attrs, inputs)[0].shape();
    expect_result(Op::Conv, c.attrs, inputs, out, convolve(c, x, w, b, out), 1e-5);
  }
}

// Padding has no part in a sum: no zero is multiplied with a weight that is infinite or no number.
TEST(Conv, PaddingIsNotMultiplied) {
  for (const double special : {std::numeric_limits<double>::infinity(), std::nan("")})
    for (const ConvCase& c : conv_cases()) {
      SCOPED_TRACE(to_string(c.x) + " * " + to_string(c.w));
      const HostTensor x = random(c.x, 1), b = random({c.w[0]}, 3);
      HostTensor w = random(c.w, 2);
      for (int64_t k = 0; k < w.elements(); k += 5) w.mutable_data<float>()[k] = static_cast<float>(special);
      std::vector<HostTensor> inputs = {x, w};
      if (c.bias) inputs.push_back(b);
      const HostTensor y = evaluate(Op::Conv, c.attrs, inputs, Precision::float64)[0];
      const std::vector<double> expected = convolve(c, x, w, b, y.shape());
      for (int64_t i = 0; i < y.elements(); ++i) {
        const double value = element_as_double(y, i), right = expected[static_cast<size_t>(i)];
        if (std::isfinite(right))
          EXPECT_NEAR(value, right, 1e-9) << i;
        else
          EXPECT_TRUE(std::isnan(right) ? std::isnan(value) : value == right) << i;
      }
    }
}

TEST(Conv, LargeOnesAreDoneInBlocks) {
  // 64 * 9 products for each of 96 * 96 outputs need three column blocks.
  const ConvCase c = {{1, 64, 96, 96}, {2, 64, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1}, false};
  const HostTensor x = random(c.x, 1), w = random(c.w, 2);
  expect_result(Op::Conv, c.attrs, {x, w}, {1, 2, 96, 96}, convolve(c, x, w, {}, {1, 2, 96, 96}), 1e-4);
}

double dot(const HostTensor& a, const HostTensor& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.elements(); ++i) sum += element_as_double(a, i) * element_as_double(b, i);
  return sum;
}

// Transposed convolution is the adjoint of convolution: <conv(x), y> = <x, conv_transpose(y)> with the same
// weights.
TEST(ConvTranspose, IsTheAdjointOfConv) {
  for (const ConvCase& c : conv_cases()) {
    SCOPED_TRACE(to_string(c.x) + " * " + to_string(c.w));
    const HostTensor x = random(c.x, 1), w = random(c.w, 2);
    const HostTensor forward = evaluate(Op::Conv, c.attrs, {x, w}, Precision::float64)[0];
    const HostTensor y = random(forward.shape(), 4);
    ConvAttrs attrs = c.attrs;
    for (size_t axis = 0; axis < attrs.strides.size(); ++axis) {
      const int64_t span = (c.w[axis + 2] - 1) * attrs.dilations[axis] + 1;
      const int64_t full = (forward.shape()[axis + 2] - 1) * attrs.strides[axis] + span;
      attrs.output_padding[axis] = c.x[axis + 2] + attrs.pads_before[axis] + attrs.pads_after[axis] - full;
    }
    const HostTensor back = evaluate(Op::ConvTranspose, attrs, {y, w}, Precision::float64)[0];
    ASSERT_EQ(back.shape(), c.x);
    EXPECT_NEAR(dot(forward, y), dot(x, back), 1e-9);
  }
}

TEST(ConvTranspose, SpreadsAndAddsBias) {
  const ConvAttrs attrs{{2}, {1}, {0}, {0}, {1}, 1};
  expect_result(Op::ConvTranspose, attrs,
                {f32({1, 1, 2}, {1, 10}), f32({1, 1, 3}, {1, 2, 3}), f32({1}, {100})}, {1, 1, 6},
                {101, 102, 113, 120, 130, 100});
}

TEST(Window, SumMaxAverage) {
  const HostTensor x = f32({1, 1, 4}, {1, 2, 3, 4});
  PoolAttrs attrs{{3}, {1}, {1}, {1}, {1}, false};
  expect_result(Op::WindowSum, attrs, {x}, {1, 1, 4}, {3, 6, 9, 7});
  expect_result(Op::WindowMax, attrs, {x}, {1, 1, 4}, {2, 3, 4, 4});
  expect_result(Op::WindowMax, attrs, {f32({1, 1, 4}, {-1, -2, -3, -4})}, {1, 1, 4}, {-1, -1, -2, -3});
  expect_result(Op::AveragePool, attrs, {x}, {1, 1, 4}, {1.5, 2, 3, 3.5});
  attrs.count_include_pad = true;
  expect_result(Op::AveragePool, attrs, {x}, {1, 1, 4}, {1, 2, 3, 7.0 / 3});
  attrs = {{2}, {1}, {2}, {0}, {0}, false};
  expect_result(Op::WindowSum, attrs, {x}, {1, 1, 2}, {4, 6});
  expect_result(Op::WindowDot, attrs, {x, f32({2, 1}, {10, -1})}, {1, 1, 2}, {7, 16});
  expect_result(Op::WindowMax, attrs, {tensor(DType::i8, {1, 1, 4}, {-128, 5, -3, 6})}, {1, 1, 2}, {-3, 6});
}

TEST(Winograd, TransformsAndProduct) {
  const WinogradAttrs input{2, 3, {0, 1}, {1, 0}, {}}, product{2, 3, {}, {}, {}},
      output{2, 3, {}, {}, {1, 1, 2, 1}};
  // One element among zeros, at (1, 1) of the padded tile.
  expect_result(Op::WinogradInput, input, {f32({1, 1, 3, 3}, {0, 0, 0, 1, 0, 0, 0, 0, 0})}, {16, 1, 1},
                {0, 0, 0, 0, 0, 1, -1, -1, 0, -1, 1, 1, 0, -1, 1, 1});
  const HostTensor ones = f32({16, 1, 1}, std::vector<double>(16, 1));
  expect_result(Op::WinogradProduct, product, {ones, f32({1, 1, 3, 3}, std::vector<double>(9, 1))},
                {16, 1, 1},
                {1, -1.5, -0.5, -1, -1.5, 2.25, 0.75, 1.5, -0.5, 0.75, 0.25, 0.5, -1, 1.5, 0.5, 1});
  // The last column of the tile is beyond the result.
  expect_result(Op::WinogradOutput, output, {ones}, {1, 1, 2, 1}, {9, 3});
}

TEST(Window, TwoAxesAndPlanes) {
  const PoolAttrs attrs{{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, false};
  expect_result(Op::WindowSum, attrs, {counting({1, 2, 2, 4})}, {1, 2, 1, 2}, {10, 18, 42, 50});
  expect_result(Op::WindowDot, attrs, {counting({1, 2, 2, 4}), f32({2, 2, 2}, {1, 0, 0, 1, 0, 0, 0, 2})},
                {1, 2, 1, 2}, {0, 2, 35, 41});
  expect_result(Op::MaxPoolIndices, attrs, {counting({1, 2, 2, 4})}, {1, 2, 1, 2}, {5, 7, 13, 15});
}

TEST(NonMaxSuppression, TakesTheBestThatOverlapsNoneBefore) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const HostTensor boxes = f32({1, 4, 4}, {0, 0, 2, 2, 0, 1, 2, 3, 0, 3, 2, 5, 9, 9, 10, 10});
  const HostTensor scores = f32({1, 3, 4}, {1, 2, 1, 0, 1, 1, -inf, nan, 3, 2, 3, -1});
  const auto expect = [&](double threshold, const std::vector<double>& indices) {
    expect_result(Op::NonMaxSuppression, SuppressionAttrs{3, threshold}, {boxes, scores}, {1, 3, 3}, indices);
  };
  expect(0.3, {1, 2, 3, 0, -1, -1, 0, 2, 3});  // the first two boxes share a third
  expect(0.34, {1, 0, 2, 0, 1, -1, 0, 2, 1});
}

TEST(Variadic, FoldsWithBroadcasting) {
  const HostTensor a = f32({2, 1}, {1, 2}), b = f32({2}, {10, -20}), c = f32({}, {3});
  expect_result(Op::Sum, NoAttrs{}, {a, b, c}, {2, 2}, {14, -16, 15, -15});
  expect_result(Op::Mean, NoAttrs{}, {a, b}, {2, 2}, {5.5, -9.5, 6, -9});
  expect_result(Op::VariadicMax, NoAttrs{}, {a, b, c}, {2, 2}, {10, 3, 10, 3});
  expect_result(Op::VariadicMin, NoAttrs{}, {a, b, c}, {2, 2}, {1, -20, 2, -20});
  expect_result(Op::VariadicMax, NoAttrs{}, {tensor(DType::u8, {2}, {250, 1})}, {2}, {250, 1});
}

TEST(Variadic, GeluAndMish) {
  expect_result(Op::Gelu, NoAttrs{}, {f32({3}, {-1, 0, 2})}, {3}, {-0.158655253931, 0, 1.954499736104});
  expect_result(Op::Mish, NoAttrs{}, {f32({3}, {-1, 0, 100})}, {3}, {-0.303401461371, 0, 100});
}

TEST(Linear, IntegersAreExact) {
  constexpr int64_t kOdd = (int64_t{1} << 53) + 1;
  const HostTensor a = HostTensor::of<int64_t>(DType::i64, {1, 2}, {kOdd, 3});
  const HostTensor b = HostTensor::of<int64_t>(DType::i64, {2, 1}, {1, 1});
  const HostTensor c = HostTensor::of<int64_t>(DType::i64, {}, {kOdd});
  const auto value = [](const HostTensor& tensor) { return element_as_int(tensor, 0); };
  EXPECT_EQ(value(evaluate(Op::MatMul, MatMulAttrs{}, {a, b})[0]), kOdd + 3);
  EXPECT_EQ(value(evaluate(Op::Einsum, EinsumAttrs{"ij,jk->ik"}, {a, b})[0]), kOdd + 3);
  EXPECT_EQ(value(evaluate(Op::Einsum, EinsumAttrs{"ij->"}, {a})[0]), kOdd + 3);
  EXPECT_EQ(value(evaluate(Op::Gemm, GemmAttrs{1, 1, false, false}, {a, b, c})[0]), 2 * kOdd + 3);
  EXPECT_EQ(value(evaluate(Op::Gemm, GemmAttrs{-2, 3, false, false}, {a, b, c})[0]), kOdd - 6);
  EXPECT_NE(error_of(Op::Gemm, GemmAttrs{0.5, 1, false, false}, {a, b, c}).find("whole alpha"),
            std::string::npos);
}

}  // namespace
}  // namespace korch
