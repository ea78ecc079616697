#include <cmath>

#include "check.h"

namespace korch {
namespace {

const double kNaN = NAN, kInf = INFINITY;

struct Unary {
  Op op;
  double x, y;
  ScalarAttrs scalars = {};
};

// The attribute struct the operator's row asks for.
Attrs attrs_of(const Unary& c) {
  if (info(c.op).attrs_index == Attrs(ScalarAttrs{}).index()) return c.scalars;
  return NoAttrs{};
}

TEST(Elementwise, OneOperand) {
  const std::vector<Unary> cases = {{Op::Neg, 2, -2},
                                    {Op::Abs, -3, 3},
                                    {Op::Exp, 1, M_E},
                                    {Op::Log, M_E, 1},
                                    {Op::Sqrt, 9, 3},
                                    {Op::Reciprocal, 4, 0.25},
                                    {Op::Tanh, 0.5, 0.46211715726},
                                    {Op::Sigmoid, 0, 0.5},
                                    {Op::Sigmoid, -200, 0},
                                    {Op::Erf, 1, 0.84270079295},
                                    {Op::Relu, -1, 0},
                                    {Op::Relu, 2, 2},
                                    {Op::Softplus, 0, M_LN2},
                                    {Op::Softplus, 200, 200},
                                    {Op::Softsign, -3, -0.75},
                                    {Op::Sin, 1, std::sin(1)},
                                    {Op::Cos, 1, std::cos(1)},
                                    {Op::Tan, 1, std::tan(1)},
                                    {Op::Asin, 0.5, std::asin(0.5)},
                                    {Op::Acos, 0.5, std::acos(0.5)},
                                    {Op::Atan, 2, std::atan(2)},
                                    {Op::Sinh, 1, std::sinh(1)},
                                    {Op::Cosh, 1, std::cosh(1)},
                                    {Op::Asinh, 1, std::asinh(1)},
                                    {Op::Acosh, 2, std::acosh(2)},
                                    {Op::Atanh, 0.5, std::atanh(0.5)},
                                    {Op::Floor, -1.5, -2},
                                    {Op::Ceil, -1.5, -1},
                                    {Op::Round, 2.5, 2},
                                    {Op::Round, 3.5, 4},
                                    {Op::Sign, -7, -1},
                                    {Op::LeakyRelu, -2, -0.2, {0.1, 0}},
                                    {Op::LeakyRelu, 2, 2, {0.1, 0}},
                                    {Op::Elu, -1, 2 * (1 / M_E - 1), {2, 0}},
                                    {Op::Celu, -2, 2 * (1 / M_E - 1), {2, 0}},
                                    {Op::Selu, 2, 6, {1, 3}},
                                    {Op::Selu, -1, 6 * (1 / M_E - 1), {2, 3}},
                                    {Op::HardSigmoid, 1, 0.7, {0.2, 0.5}},
                                    {Op::HardSigmoid, 9, 1, {0.2, 0.5}},
                                    {Op::HardSwish, 1, 2.0 / 3},
                                    {Op::HardSwish, -4, 0},
                                    {Op::ThresholdedRelu, 1, 0, {1, 0}},
                                    {Op::ThresholdedRelu, 1.5, 1.5, {1, 0}},
                                    {Op::ThresholdedRelu, kNaN, 0, {1, 0}},
                                    {Op::Shrink, -2, -1.5, {1, 0.5}},
                                    {Op::Shrink, 0.5, 0, {1, 0.5}},
                                    {Op::Shrink, 3, 2.5, {1, 0.5}},
                                    {Op::Relu, kNaN, kNaN},
                                    {Op::Exp, kInf, kInf},
                                    {Op::Log, -1, kNaN},
                                    {Op::Abs, kNaN, kNaN}};
  for (const Unary& c : cases) {
    SCOPED_TRACE(name(c.op) + std::string(" of ") + std::to_string(c.x));
    expect_result(c.op, attrs_of(c), {f32({2}, {c.x, c.x})}, {2}, {c.y, c.y}, 2e-6);
  }
}

TEST(Elementwise, Tests) {
  const HostTensor x = f32({4}, {1, -kInf, kInf, kNaN});
  expect_result(Op::IsNaN, NoAttrs{}, {x}, {4}, {0, 0, 0, 1});
  expect_result(Op::IsInf, ScalarAttrs{1, 1}, {x}, {4}, {0, 1, 1, 0});
  expect_result(Op::IsInf, ScalarAttrs{1, 0}, {x}, {4}, {0, 1, 0, 0});
  expect_result(Op::IsInf, ScalarAttrs{0, 1}, {x}, {4}, {0, 0, 1, 0});
}

struct Binary {
  Op op;
  DType dtype;
  double x, y, result;
};

TEST(Elementwise, TwoOperands) {
  const DType f = DType::f32, i = DType::i32, u = DType::u8, b = DType::bool_;
  const std::vector<Binary> cases = {{Op::Add, f, 1, 2, 3},
                                     {Op::Sub, f, 1, 2, -1},
                                     {Op::Mul, f, 3, 2, 6},
                                     {Op::Div, f, 1, 2, 0.5},
                                     {Op::Div, f, 1, 0, kInf},
                                     {Op::Pow, f, 2, 0.5, M_SQRT2},
                                     {Op::Mod, f, -5, 3, 1},
                                     {Op::Fmod, f, -5, 3, -2},
                                     {Op::Max, f, 1, kNaN, kNaN},
                                     {Op::Max, f, kNaN, 1, kNaN},
                                     {Op::Min, f, kNaN, 1, kNaN},
                                     {Op::Min, f, 1, 2, 1},
                                     {Op::PRelu, f, -2, 0.25, -0.5},
                                     {Op::PRelu, f, 2, 0.25, 2},
                                     {Op::Div, i, -7, 2, -3},
                                     {Op::Div, i, 7, 0, 0},
                                     {Op::Mod, i, 7, 0, 0},
                                     {Op::Mod, i, -7, 3, 2},
                                     {Op::Mod, i, 7, -3, -2},
                                     {Op::Fmod, i, -7, 3, -1},
                                     {Op::Pow, i, -3, 3, -27},
                                     {Op::Pow, i, 2, -1, 0},
                                     {Op::Div, i, -2147483648.0, -1, -2147483648.0},
                                     {Op::Add, i, 2147483647, 1, -2147483648.0},
                                     {Op::Sub, u, 3, 5, 254},
                                     {Op::Mul, u, 16, 17, 16},
                                     {Op::Max, i, -1, -2, -1},
                                     {Op::And, b, 1, 0, 0},
                                     {Op::Or, b, 1, 0, 1},
                                     {Op::Xor, b, 1, 1, 0},
                                     {Op::Equal, f, 1, 1, 1},
                                     {Op::Less, f, 1, 1, 0},
                                     {Op::LessOrEqual, f, 1, 1, 1},
                                     {Op::Greater, f, 2, 1, 1},
                                     {Op::GreaterOrEqual, f, 1, 2, 0},
                                     {Op::Greater, f, kNaN, 1, 0},
                                     {Op::LessOrEqual, f, kNaN, 1, 0},
                                     {Op::Equal, b, 0, 1, 0}};
  for (const Binary& c : cases) {
    SCOPED_TRACE(name(c.op) + std::string(" of ") + std::to_string(c.x) + " and " + std::to_string(c.y));
    expect_result(c.op, NoAttrs{}, {tensor(c.dtype, {}, {c.x}), tensor(c.dtype, {}, {c.y})}, {}, {c.result});
  }
}

TEST(Elementwise, WideIntegersAreExact) {
  const double big = 0x1p62;
  expect_result(Op::Add, NoAttrs{}, {i64({}, {big}), i64({}, {big})}, {}, {-0x1p63});
  const HostTensor u = HostTensor::of<uint64_t>(DType::u64, {2}, {~uint64_t{0}, 5});
  const HostTensor quotient = evaluate(Op::Div, NoAttrs{}, {u, tensor(DType::u64, {}, {2})})[0];
  EXPECT_EQ(quotient.data<uint64_t>()[0], ~uint64_t{0} / 2);
  const HostTensor odd = HostTensor::of<int64_t>(DType::i64, {}, {(int64_t{1} << 53) + 1});
  EXPECT_EQ(evaluate(Op::Add, NoAttrs{}, {odd, i64({}, {1})})[0].data<int64_t>()[0], (int64_t{1} << 53) + 2);
}

TEST(Elementwise, Broadcasts) {
  expect_result(Op::Add, NoAttrs{}, {f32({2, 1}, {10, 20}), f32({3}, {1, 2, 3})}, {2, 3},
                {11, 12, 13, 21, 22, 23});
  expect_result(Op::Mul, NoAttrs{}, {f32({2, 1, 2}, {1, 2, 3, 4}), f32({1, 2, 1}, {1, 10})}, {2, 2, 2},
                {1, 2, 10, 20, 3, 4, 30, 40});
  expect_result(Op::Where, NoAttrs{}, {tensor(DType::bool_, {2, 1}, {1, 0}), f32({}, {7}), f32({2}, {1, 2})},
                {2, 2}, {7, 7, 1, 2});
  expect_result(Op::Add, NoAttrs{}, {f32({0, 3}, {}), f32({3}, {1, 2, 3})}, {0, 3}, {});
}

TEST(Elementwise, BlocksJoinSeamlessly) {
  const HostTensor x = counting({7, 401}), row = counting({401});
  std::vector<double> expected;
  for (int i = 0; i < 7 * 401; ++i) expected.push_back(i + i % 401);
  expect_result(Op::Add, NoAttrs{}, {x, row}, {7, 401}, expected);
}

TEST(Elementwise, MixedPower) {
  expect_result(Op::Pow, NoAttrs{}, {f32({2}, {1.5, 2}), i64({2}, {2, 3})}, {2}, {2.25, 8});
  expect_result(Op::Pow, NoAttrs{}, {tensor(DType::i32, {2}, {4, 3}), f32({2}, {0.5, 2})}, {2}, {2, 9});
}

TEST(Elementwise, CastRoundsOnlyInNativePrecision) {
  const HostTensor x = f32({1}, {1.0001});
  EXPECT_NE(element_as_double(evaluate(Op::Cast, CastAttrs{DType::f16}, {x})[0], 0), element_as_double(x, 0));
  const HostTensor exact = evaluate(Op::Cast, CastAttrs{DType::f16}, {x}, Precision::float64)[0];
  EXPECT_EQ(exact.dtype(), DType::f64);
  EXPECT_EQ(element_as_double(exact, 0), element_as_double(x, 0));
  expect_result(Op::Cast, CastAttrs{DType::i32}, {f32({3}, {-1.9, 1.9, 0})}, {3}, {-1, 1, 0});
  expect_result(Op::Cast, CastAttrs{DType::bool_}, {f32({3}, {-0.5, 0, kNaN})}, {3}, {1, 0, 1});
}

TEST(Elementwise, NativeRoundsEveryOperation) {
  const HostTensor big = f32({}, {0x1p24}), one = f32({}, {1});
  EXPECT_EQ(element_as_double(evaluate(Op::Add, NoAttrs{}, {big, one})[0], 0), 0x1p24);
  EXPECT_EQ(element_as_double(evaluate(Op::Add, NoAttrs{}, {big, one}, Precision::float64)[0], 0),
            0x1p24 + 1);
}

}  // namespace
}  // namespace korch
