#include <cmath>

#include "check.h"

namespace korch {
namespace {

const HostTensor& two_by_three() {
  static const HostTensor x = f32({2, 3}, {1, -2, 3, 4, 5, -6});
  return x;
}

TEST(Reduce, SumsOverEveryChoiceOfAxes) {
  const HostTensor x = counting({2, 3, 2});
  expect_result(Op::ReduceSum, ReduceAttrs{{0}, true}, {x}, {1, 3, 2}, {6, 8, 10, 12, 14, 16});
  expect_result(Op::ReduceSum, ReduceAttrs{{1}, false}, {x}, {2, 2}, {6, 9, 24, 27});
  expect_result(Op::ReduceSum, ReduceAttrs{{2}, true}, {x}, {2, 3, 1}, {1, 5, 9, 13, 17, 21});
  expect_result(Op::ReduceSum, ReduceAttrs{{0, 2}, false}, {x}, {3}, {14, 22, 30});
  expect_result(Op::ReduceSum, ReduceAttrs{{0, 1, 2}, false}, {x}, {}, {66});
  expect_result(Op::ReduceSum, ReduceAttrs{{}, true}, {f32({}, {3})}, {}, {3});
}

TEST(Reduce, EveryOperator) {
  const HostTensor& x = two_by_three();
  const ReduceAttrs rows{{1}, false};
  expect_result(Op::ReduceMax, rows, {x}, {2}, {3, 5});
  expect_result(Op::ReduceMin, rows, {x}, {2}, {-2, -6});
  expect_result(Op::ReduceProd, rows, {x}, {2}, {-6, -120});
  expect_result(Op::ReduceMean, rows, {x}, {2}, {2.0 / 3, 1});
  expect_result(Op::ReduceL1, rows, {x}, {2}, {6, 15});
  expect_result(Op::ReduceL2, rows, {x}, {2}, {std::sqrt(14), std::sqrt(77)});
  expect_result(Op::ReduceLogSum, rows, {x}, {2}, {std::log(2), std::log(3)});
  expect_result(Op::ReduceSumSquare, rows, {x}, {2}, {14, 77});
  expect_result(Op::ReduceLogSumExp, rows, {x}, {2},
                {std::log(std::exp(1) + std::exp(-2) + std::exp(3)),
                 std::log(std::exp(4) + std::exp(5) + std::exp(-6))});
}

TEST(Reduce, LogSumExpDoesNotOverflow) {
  expect_result(Op::ReduceLogSumExp, ReduceAttrs{{0}, false}, {f32({2}, {1000, 1000})}, {}, {1000 + M_LN2});
  expect_result(Op::ReduceLogSumExp, ReduceAttrs{{0}, false}, {f32({2}, {-INFINITY, -INFINITY})}, {},
                {-INFINITY});
}

TEST(Reduce, EmptyAndIntegerAndNaN) {
  expect_result(Op::ReduceSum, ReduceAttrs{{0}, false}, {f32({0, 2}, {})}, {2}, {0, 0});
  expect_result(Op::ReduceMax, ReduceAttrs{{0}, false}, {f32({0}, {})}, {}, {-INFINITY});
  expect_result(Op::ReduceMax, ReduceAttrs{{0}, false}, {tensor(DType::i8, {0}, {})}, {}, {-128});
  expect_result(Op::ReduceMin, ReduceAttrs{{0}, false}, {tensor(DType::u8, {0}, {})}, {}, {255});
  expect_result(Op::ReduceSum, ReduceAttrs{{0}, false}, {tensor(DType::u8, {2}, {200, 100})}, {}, {44});
  expect_result(Op::ReduceMax, ReduceAttrs{{0}, false}, {f32({3}, {1, NAN, 2})}, {}, {NAN});
}

// 2^53 + 1 has no double.
TEST(Reduce, IntegersAreExact) {
  constexpr int64_t kOdd = (int64_t{1} << 53) + 1;
  const HostTensor x = HostTensor::of<int64_t>(DType::i64, {3}, {kOdd, -kOdd - 1, kOdd + 1});
  const auto first = [&](Op op, const Attrs& attrs, const std::vector<HostTensor>& inputs) {
    const HostTensor in_double = evaluate(op, attrs, inputs, Precision::float64)[0];
    EXPECT_EQ(in_double.dtype(), DType::i64);
    const int64_t value = element_as_int(evaluate(op, attrs, inputs)[0], 0);
    EXPECT_EQ(element_as_int(in_double, 0), value);
    return value;
  };
  const ReduceAttrs all{{0}, false};
  EXPECT_EQ(first(Op::ReduceSum, all, {x}), kOdd);
  EXPECT_EQ(first(Op::ReduceMax, all, {x}), kOdd + 1);
  EXPECT_EQ(first(Op::ReduceMin, all, {x}), -kOdd - 1);
  EXPECT_EQ(first(Op::ReduceL1, all, {x}), 3 * kOdd + 2);
  EXPECT_EQ(first(Op::ReduceProd, all, {HostTensor::of<int64_t>(DType::i64, {2}, {kOdd, 3})}), 3 * kOdd);
  EXPECT_EQ(first(Op::ReduceMean, all, {HostTensor::of<int64_t>(DType::i64, {2}, {kOdd, kOdd})}), kOdd);
  EXPECT_EQ(first(Op::ReduceSumSquare, all, {HostTensor::of<int64_t>(DType::i64, {2}, {94906267, 94906267})}),
            int64_t{2} * 94906267 * 94906267);
  EXPECT_EQ(first(Op::ArgMax, ArgReduceAttrs{0, false, false}, {x}), 2);
  EXPECT_EQ(first(Op::CumSum, ScanAttrs{0, false, true}, {x}), kOdd);
  const HostTensor wide = HostTensor::of<int64_t>(DType::i64, {1, 1, 3}, {kOdd, 1, 0});
  EXPECT_EQ(first(Op::WindowSum, PoolAttrs{{3}, {1}, {1}, {0}, {0}}, {wide}), kOdd + 1);
  EXPECT_EQ(first(Op::WindowMax, PoolAttrs{{3}, {1}, {1}, {0}, {0}}, {wide}), kOdd);
}

TEST(Reduce, ArgMaxAndArgMin) {
  const HostTensor x = f32({2, 3}, {1, 3, 3, 2, 2, 0});
  expect_result(Op::ArgMax, ArgReduceAttrs{1, true, false}, {x}, {2, 1}, {1, 0});
  expect_result(Op::ArgMax, ArgReduceAttrs{1, false, true}, {x}, {2}, {2, 1});
  expect_result(Op::ArgMin, ArgReduceAttrs{0, false, false}, {x}, {3}, {0, 1, 1});
  EXPECT_EQ(evaluate(Op::ArgMax, ArgReduceAttrs{0, true, false}, {x})[0].dtype(), DType::i64);
  EXPECT_EQ(error_of(Op::ArgMax, ArgReduceAttrs{0, false, false}, {f32({0, 2}, {})}),
            "node \"the node\": ArgMax: an empty axis has no extreme element");
}

TEST(Reduce, CumSum) {
  const HostTensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_result(Op::CumSum, ScanAttrs{1, false, false}, {x}, {2, 3}, {1, 3, 6, 4, 9, 15});
  expect_result(Op::CumSum, ScanAttrs{1, true, false}, {x}, {2, 3}, {0, 1, 3, 0, 4, 9});
  expect_result(Op::CumSum, ScanAttrs{1, true, true}, {x}, {2, 3}, {5, 3, 0, 11, 6, 0});
  expect_result(Op::CumSum, ScanAttrs{0, false, true}, {x}, {2, 3}, {5, 7, 9, 4, 5, 6});
}

TEST(Softmax, AlongAnyAxisAndWithoutOverflow) {
  const double a = 1 / (1 + M_E), b = M_E / (1 + M_E);
  expect_result(Op::Softmax, AxisAttrs{1}, {f32({2, 2}, {0, 1, 1000, 1001})}, {2, 2}, {a, b, a, b});
  expect_result(Op::Softmax, AxisAttrs{0}, {f32({2, 2}, {0, 1001, 1, 1000})}, {2, 2}, {a, b, b, a});
  expect_result(Op::LogSoftmax, AxisAttrs{1}, {f32({1, 2}, {1000, 1001})}, {1, 2},
                {std::log(a), std::log(b)});
  expect_result(Op::Softmax, AxisAttrs{0}, {f32({2}, {-INFINITY, 0})}, {2}, {0, 1});
  expect_result(Op::Hardmax, AxisAttrs{1}, {f32({2, 3}, {1, 3, 3, 5, 2, 4})}, {2, 3}, {0, 1, 0, 1, 0, 0});
  expect_result(Op::Hardmax, AxisAttrs{0}, {f32({2, 2}, {1, 3, 2, 2})}, {2, 2}, {0, 1, 1, 0});
  expect_result(Op::Hardmax, AxisAttrs{1}, {f32({2, 3}, {1, NAN, NAN, NAN, 2, 4})}, {2, 3},
                {0, 1, 0, 1, 0, 0});
}

TEST(Normalize, LayerNormalization) {
  const double d = 1 / std::sqrt(1 + 0.25);
  const HostTensor x = f32({2, 2}, {1, 3, 10, 12});
  expect_result(Op::LayerNormalization, NormAttrs{1, 0.25}, {x, f32({2}, {1, 2}), f32({2}, {0, 1})}, {2, 2},
                {-d, 2 * d + 1, -d, 2 * d + 1});
  expect_result(Op::LayerNormalization, NormAttrs{1, 0.25}, {x, f32({2}, {1, 2})}, {2, 2},
                {-d, 2 * d, -d, 2 * d});
  const double e = 1 / std::sqrt(0.25 + 21.25);  // over all four: mean 6.5, variance 21.25
  expect_result(Op::LayerNormalization, NormAttrs{0, 0.25}, {x, f32({2, 2}, {1, 1, 1, 1})}, {2, 2},
                {-5.5 * e, -3.5 * e, 3.5 * e, 5.5 * e});
}

TEST(Normalize, LargeMeanCostsNoAccuracy) {
  expect_result(Op::LayerNormalization, NormAttrs{0, 0}, {f32({2}, {16777214, 16777216}), f32({2}, {1, 1})},
                {2}, {-1, 1});
}

TEST(Normalize, ChannelsAndGroups) {
  const HostTensor x = f32({1, 4, 2}, {1, 3, 2, 6, 0, 0, 1, 1});
  const HostTensor scale = f32({4}, {1, 2, 3, 4}), bias = f32({4}, {0, 1, 2, 3});
  expect_result(Op::InstanceNormalization, NormAttrs{-1, 0},
                {f32({1, 2, 2}, {1, 3, 2, 6}), f32({2}, {1, 2}), f32({2}, {0, 1})}, {1, 2, 2},
                {-1, 1, -1, 3});
  const double s = std::sqrt(3.5),
               t = 0.5;  // groups {1,3,2,6}: mean 3, variance 3.5; {0,0,1,1}: mean 0.5, variance 0.25
  expect_result(Op::GroupNormalization, NormAttrs{-1, 0, 2}, {x, scale, bias}, {1, 4, 2},
                {-2 / s, 0, -2 / s + 1, 6 / s + 1, -0.5 / t * 3 + 2, -0.5 / t * 3 + 2, 4 * 0.5 / t + 3,
                 4 * 0.5 / t + 3});
  expect_result(
      Op::BatchNormalization, NormAttrs{-1, 0},
      {f32({1, 2, 2}, {1, 3, 2, 6}), f32({2}, {1, 2}), f32({2}, {0, 1}), f32({2}, {1, 2}), f32({2}, {4, 16})},
      {1, 2, 2}, {0, 1, 1, 3});
}

TEST(Normalize, Others) {
  expect_result(Op::MeanVarianceNormalization, ReduceAttrs{{0}, true}, {f32({2, 2}, {1, 0, 3, 8})}, {2, 2},
                {-1, -1, 1, 1});
  expect_result(Op::LpNormalization, NormAttrs{1, 0, 2}, {f32({1, 2}, {3, 4})}, {1, 2}, {0.6, 0.8});
  expect_result(Op::LpNormalization, NormAttrs{0, 0, 1}, {f32({2, 1}, {-1, 3})}, {2, 1}, {-0.25, 0.75});
  // size 2 looks at the channel itself and the next; size 3 at both neighbours.
  expect_result(Op::LRN, LrnAttrs{2, 1, 1, 2}, {f32({1, 3, 1}, {1, 2, 3})}, {1, 3, 1},
                {1 / 6.0, 2 / 14.0, 3 / 10.0});
  expect_result(Op::LRN, LrnAttrs{3, 1, 1, 3}, {f32({1, 3, 1}, {1, 2, 3})}, {1, 3, 1},
                {1 / 6.0, 2 / 15.0, 3 / 14.0});
}

}  // namespace
}  // namespace korch
