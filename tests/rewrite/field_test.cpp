#include "korch/ir/field.h"

#include <gtest/gtest.h>

#include <set>

namespace korch::field {
namespace {

template <typename Field>
class FieldTest : public testing::Test {};
using Fields = testing::Types<Plain, WithExp>;
TYPED_TEST_SUITE(FieldTest, Fields);

TYPED_TEST(FieldTest, Laws) {
  using F = TypeParam;
  const F field(1);
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const uint64_t a = F::random(3 * seed), b = F::random(3 * seed + 1), c = F::random(3 * seed + 2);
    EXPECT_EQ(F::add(a, b), F::add(b, a));
    EXPECT_EQ(F::mul(a, F::mul(b, c)), F::mul(F::mul(a, b), c));
    EXPECT_EQ(F::mul(a, F::add(b, c)), F::add(F::mul(a, b), F::mul(a, c)));
    EXPECT_EQ(F::add(a, F::neg(a)), F::of(0.0));
    EXPECT_EQ(F::mul(a, field.inverse(a)), F::of(1.0));
    typename F::Sum sum;
    uint64_t one_by_one = F::of(0.0);
    for (int i = 0; i < 100; ++i) {
      sum.add_product(a, b);
      one_by_one = F::add(one_by_one, F::mul(a, b));
    }
    EXPECT_EQ(sum.value(), one_by_one);
  }
}

TYPED_TEST(FieldTest, FloatsAreExactRationals) {
  using F = TypeParam;
  const F field(1);
  EXPECT_EQ(F::of(0.75), F::mul(F::of(int64_t{3}), field.inverse(F::of(int64_t{4}))));
  EXPECT_EQ(F::of(-2.5e-3), F::neg(F::of(2.5e-3)));
  EXPECT_EQ(F::of(1e300), F::mul(F::of(0x1p500), F::of(1e300 / 0x1p500)));
  EXPECT_EQ(F::of(5e-324), field.inverse(F::mul(F::of(0x1p537), F::of(0x1p537))));
  EXPECT_NE(F::of(0.1), F::mul(F::of(1.0), field.inverse(F::of(10.0))));  // 0.1 is not a tenth
  EXPECT_EQ(F::of(int64_t{-7}), F::of(-7.0));
}

TYPED_TEST(FieldTest, AQuotientByZeroIsUnknown) {
  using F = TypeParam;
  const uint64_t zero = F::of(0.0);
  EXPECT_EQ(F(1).inverse(zero), F(1).inverse(zero));
  EXPECT_NE(F(1).inverse(zero), F(2).inverse(zero));
  EXPECT_NE(F(1).inverse(zero), zero);
}

TYPED_TEST(FieldTest, FunctionsAndOrderAreDrawnByTheKey) {
  using F = TypeParam;
  const F one(1), other(2);
  const uint64_t a = F::random(1), b = F::random(2);
  EXPECT_EQ(one.function(ScalarFn::tanh, a), one.function(ScalarFn::tanh, a));
  EXPECT_NE(one.function(ScalarFn::tanh, a), one.function(ScalarFn::erf, a));
  EXPECT_NE(one.function(ScalarFn::tanh, a), one.function(ScalarFn::tanh, b));
  EXPECT_NE(one.function(ScalarFn::tanh, a), other.function(ScalarFn::tanh, a));
  EXPECT_NE(one.function(ScalarFn::pow, a, b), one.function(ScalarFn::pow, b, a));
  std::set<bool> orders;
  for (uint64_t key = 0; key < 64; ++key) orders.insert(F(key).order(a) < F(key).order(b));
  EXPECT_EQ(orders.size(), 2u);
}

TEST(WithExp, ExpOfASumIsAProduct) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const WithExp field(seed);
    const uint64_t a = WithExp::random(2 * seed), b = WithExp::random(2 * seed + 1);
    EXPECT_TRUE(WithExp::equal(field.exp(WithExp::add(a, b)), WithExp::mul(field.exp(a), field.exp(b))));
    EXPECT_TRUE(WithExp::equal(field.exp(WithExp::neg(a)), field.inverse(field.exp(a))));
    EXPECT_FALSE(WithExp::equal(field.exp(a), field.exp(b)));
    EXPECT_FALSE(WithExp::equal(field.exp(a), WithExp::of(1.0)));
  }
}

// An exponential is known modulo one prime alone; what is raised to it is a function all the same.
TEST(WithExp, ExpOfAnExponential) {
  const WithExp field(1);
  const uint64_t a = field.exp(WithExp::random(1)), b = field.exp(WithExp::random(2));
  EXPECT_EQ(field.exp(a), field.exp(a));
  EXPECT_FALSE(WithExp::equal(field.exp(a), field.exp(b)));
}

}  // namespace
}  // namespace korch::field
