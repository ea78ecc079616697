// Laws one by one; what is no law.
#include <gtest/gtest.h>

#include <limits>

#include "korch/block/prove.h"

namespace korch::block {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Leaves x, y, z over the axes a and b, c over b alone, k over none; c[b], u[a].
class BlockLaws : public testing::Test {
 protected:
  BlockLaws() {
    t.axes = {{"a", 5}, {"b", 7}, {"d", 3}};
    for (AxisSet axes : {A | B, A | B, A | B, B, A, AxisSet{0}, A | D, B | D})
      t.leaves.push_back({.type = DType::f32, .axes = axes});
    x = t.leaf(0), y = t.leaf(1), z = t.leaf(2), of_b = t.leaf(3), of_a = t.leaf(4), scalar = t.leaf(5);
    of_ad = t.leaf(6), of_bd = t.leaf(7);
  }
  int add(int a, int b) { return t.call(Op::Add, {a, b}); }
  int sub(int a, int b) { return t.call(Op::Sub, {a, b}); }
  int mul(int a, int b) { return t.call(Op::Mul, {a, b}); }
  int div(int a, int b) { return t.call(Op::Div, {a, b}); }
  int exp(int a) { return t.call(Op::Exp, {a}); }
  int neg(int a) { return t.call(Op::Neg, {a}); }
  int sum(AxisSet over, int a) { return t.fold(ScalarFn::add, over, a); }
  int max(AxisSet over, int a) { return t.fold(ScalarFn::max, over, a); }
  int min(AxisSet over, int a) { return t.fold(ScalarFn::min, over, a); }
  int num(double v) { return t.number(v); }

  void equal(int a, int b, SaturationLimits limits = {}) {
    const Proof proof = prove(t, {{a, b}}, limits);
    EXPECT_TRUE(proof.proven) << print(t, a) << " = " << print(t, b);
    EXPECT_TRUE(proof.saturation.saturated) << print(t, a) << " = " << print(t, b);
    EXPECT_LT(proof.saturation.nodes, 400) << print(t, a) << " = " << print(t, b);
  }
  void unequal(int a, int b, SaturationLimits limits = {}) {
    const Proof proof = prove(t, {{a, b}}, limits);
    EXPECT_FALSE(proof.proven) << print(t, a) << " = " << print(t, b);
    EXPECT_TRUE(proof.saturation.saturated) << print(t, a) << " = " << print(t, b);
  }

  static constexpr AxisSet A = 1, B = 2, D = 4;
  Terms t;
  int x, y, z, of_b, of_a, scalar, of_ad, of_bd;
};

TEST_F(BlockLaws, SumsAndProducts) {
  equal(add(add(x, y), z), add(z, add(y, x)));
  equal(mul(mul(x, y), z), mul(z, mul(y, x)));
  equal(sub(x, y), neg(sub(y, x)));
  equal(sub(add(x, y), x), y);
  equal(div(mul(x, y), x), y);
  equal(div(x, y), mul(x, t.call(Op::Reciprocal, {y})));
  equal(div(x, div(y, z)), div(mul(x, z), y));
  equal(mul(num(2), mul(num(0.5), x)), x);
  equal(add(x, x), mul(num(2), x));
  equal(t.call(Op::Pow, {x, num(2)}), mul(x, x));
  equal(t.call(Op::Pow, {x, num(-0.5)}), t.call(Op::Reciprocal, {t.call(Op::Sqrt, {x})}));
  equal(mul(num(4), add(x, y)), add(mul(num(4), x), mul(y, num(4))));
  unequal(sub(x, y), sub(y, x));
  unequal(div(x, y), div(y, x));
  unequal(add(x, y), add(x, z));
  unequal(mul(x, x), x);
  unequal(sub(sub(x, y), z), sub(x, sub(y, z)));
}

// 0.1 + 0.2 rounds: neither folded to a number that it is not, nor lost.
TEST_F(BlockLaws, NumbersThatWouldRound) {
  equal(mul(mul(x, num(0.1)), num(0.7)), mul(x, mul(num(0.7), num(0.1))));
  equal(div(mul(x, num(3)), num(3)), x);
  equal(div(div(x, num(3)), num(3)), div(x, num(9)));
  equal(div(mul(x, num(6)), num(3)), add(x, x));
  equal(div(mul(num(0.125), x), num(50)), div(x, num(400)));
  unequal(div(div(x, num(3)), num(3)), mul(x, num(1.0 / 9)));
  unequal(add(add(x, num(1e20)), num(-1e20)), add(x, num(1)));
  unequal(add(num(1e20), num(1)), num(1e20));
  unequal(mul(num(0.1), num(0.2)), num(0.1 * 0.2));
  unequal(num(kInf), num(1));
  unequal(sub(num(kInf), num(kInf)), num(0));
}

TEST_F(BlockLaws, Exponentials) {
  equal(exp(add(x, y)), mul(exp(x), exp(y)));
  equal(exp(sub(x, y)), div(exp(x), exp(y)));
  equal(t.call(Op::Reciprocal, {exp(x)}), exp(neg(x)));
  equal(exp(mul(num(0.3), sub(x, y))), div(exp(mul(x, num(0.3))), exp(mul(num(0.3), y))));
  equal(mul(exp(x), exp(x)), exp(add(x, x)));
  equal(exp(sub(x, x)), num(1));
  unequal(exp(mul(x, y)), mul(exp(x), exp(y)));
  unequal(exp(sub(x, y)), div(exp(y), exp(x)));
  unequal(exp(add(x, y)), add(exp(x), exp(y)));
}

TEST_F(BlockLaws, FactorsLeaveSumsOfAxesThatTheyAreFreeOf) {
  equal(sum(A, mul(of_b, x)), mul(of_b, sum(A, x)));
  equal(sum(A, div(x, of_b)), div(sum(A, x), of_b));
  equal(sum(A, mul(num(3), x)), mul(num(3), sum(A, x)));
  equal(sum(A, add(x, y)), add(sum(A, x), sum(A, y)));
  equal(sum(A, sub(x, y)), sub(sum(A, x), sum(A, y)));
  equal(sum(A, sum(B, x)), sum(B, sum(A, x)));
  equal(sum(A | B, mul(of_a, of_b)), mul(sum(A, of_a), sum(B, of_b)));
  equal(sum(A, add(x, of_b)), add(sum(A, x), mul(of_b, sum(A, num(1)))));
  // The known mistake of Mirage's published graphs.
  unequal(sum(A, mul(y, x)), mul(sum(A, y), x));
  unequal(sum(A, mul(y, x)), mul(sum(A, y), sum(A, x)));
  unequal(sum(D, mul(of_ad, of_bd)), mul(sum(D, of_ad), of_bd));
  unequal(sum(A, mul(of_a, x)), mul(of_a, sum(A, x)));
  unequal(sum(A, of_b), of_b);
  unequal(sum(A, div(of_b, x)), div(of_b, sum(A, x)));
}

// exp(x) exp(c - x) depends on what c depends on, and so does a function of it.
TEST_F(BlockLaws, AClassDependsOnWhatAllItsNodesDependOn) {
  const int of_c = t.call(Op::Tanh, {mul(exp(x), exp(sub(of_b, x)))});
  equal(sum(A, mul(of_c, y)), mul(of_c, sum(A, y)));
  const int of_x = t.call(Op::Tanh, {mul(exp(x), exp(sub(of_b, z)))});
  unequal(sum(A, mul(of_x, y)), mul(of_x, sum(A, y)));
}

// (q k^T) v = q (k^T v).
TEST_F(BlockLaws, ProductsOfMatricesAssociate) {
  t.axes.push_back({"e", 2});
  t.leaves.push_back({.type = DType::f32, .axes = B | 8});
  const int v = t.leaf(8);
  equal(sum(B, mul(sum(D, mul(of_ad, of_bd)), v)), sum(D, mul(of_ad, sum(B, mul(of_bd, v)))));
  unequal(sum(B, mul(sum(D, mul(of_ad, of_bd)), v)), mul(of_ad, sum(B, mul(of_bd, v))));
}

TEST_F(BlockLaws, Extrema) {
  equal(max(A, add(x, of_b)), add(max(A, x), of_b));
  equal(max(A, sub(x, of_b)), sub(max(A, x), of_b));
  equal(max(A, mul(num(0.3), x)), mul(num(0.3), max(A, x)));
  equal(max(A, neg(x)), neg(min(A, x)));
  equal(max(A, max(B, x)), max(B, max(A, x)));
  equal(max(A, of_b), of_b);
  equal(max(A | B, of_b), max(B, of_b));
  equal(max(A, max(A, x)), max(A, x));
  unequal(max(A, mul(num(-1), x)), neg(max(A, x)));
  unequal(max(A, add(x, y)), add(max(A, x), max(A, y)));
  unequal(max(A, mul(of_b, x)), mul(of_b, max(A, x)));
  unequal(max(A, x), max(B, x));
  unequal(max(A, x), sum(A, x));
}

TEST_F(BlockLaws, OtherPrimitivesAreFunctions) {
  equal(t.call(Op::Tanh, {add(x, y)}), t.call(Op::Tanh, {add(y, x)}));
  equal(t.call(Op::Max, {x, y}), t.call(Op::Max, {y, x}));
  equal(t.call(Op::Where, {t.call(Op::Equal, {x, y}), z, z}), z);
  unequal(t.call(Op::Tanh, {neg(x)}), neg(t.call(Op::Tanh, {x})));
  unequal(t.call(Op::Tanh, {x}), t.call(Op::Sigmoid, {x}));
  unequal(t.call(Op::Mod, {x, y}), t.call(Op::Mod, {y, x}));
  unequal(t.call(Op::LeakyRelu, {x}, {.alpha = 0.5}), t.call(Op::LeakyRelu, {x}, {.alpha = 0.25}));
}

TEST_F(BlockLaws, IntegersDivideAndOverflow) {
  t.leaves.push_back({.type = DType::i32, .axes = A});
  t.leaves.push_back({.type = DType::i32, .axes = A});
  const int i = t.leaf(8), j = t.leaf(9);
  unequal(div(mul(i, j), j), i);
  unequal(sum(A, add(i, j)), add(sum(A, i), sum(A, j)));
  equal(t.call(Op::Abs, {add(i, j)}), t.call(Op::Abs, {add(i, j)}));
}

// By no law a sum over an axis depends on its extent: terms serve all.
TEST_F(BlockLaws, SumsOverAxesThatTheirTermsAreFreeOf) {
  equal(sum(A, of_b), mul(sum(A, num(1)), of_b));
  equal(sum(A | B, of_b), mul(sum(A, num(1)), sum(B, of_b)));
  equal(sum(A, add(x, num(3))), add(sum(A, x), mul(num(3), sum(A, num(1)))));
  unequal(sum(A, of_b), mul(num(5), of_b));
  unequal(sum(A, of_b), mul(sum(B, num(1)), of_b));
}

TEST_F(BlockLaws, SoftmaxByAnyOtherShift) {
  const int m = max(A, x);
  const int c = t.call(Op::Where, {t.call(Op::Equal, {m, num(-kInf)}), num(0), m});
  const int shifted = exp(sub(x, c)), group = exp(sub(x, m));
  equal(div(shifted, sum(A, shifted)), div(group, sum(A, group)));
  equal(div(sum(A, mul(shifted, y)), sum(A, shifted)), sum(A, mul(div(group, sum(A, group)), y)));
  equal(div(exp(x), sum(A, exp(x))), div(group, sum(A, group)));
  unequal(div(shifted, sum(A, group)), div(group, sum(A, group)));
  // What is subtracted depends on the axis.
  const int moved = exp(sub(x, y));
  unequal(div(moved, sum(A, moved)), div(group, sum(A, group)));
}

// x/0, and 1 = 2: nothing follows.
TEST_F(BlockLaws, AContradictionProvesNothing) {
  const int zero = sub(x, x);
  EXPECT_FALSE(prove(t, {{div(y, zero), div(z, zero)}}).proven);
  const int one = div(zero, zero);
  EXPECT_FALSE(prove(t, {{one, num(2)}}).proven);
}

TEST_F(BlockLaws, LimitsEndASaturation) {
  int product = num(1);
  for (int i = 0; i < 6; ++i) product = mul(product, add(add(x, of_b), num(i + 1)));
  const int a = sum(A, product);
  const Proof proof = prove(t, {{a, sum(B, product)}}, {.nodes = 200});
  EXPECT_FALSE(proof.proven);
  EXPECT_FALSE(proof.saturation.saturated);
  EXPECT_LT(proof.saturation.nodes, 400);
  EXPECT_FALSE(prove(t, {{a, sum(B, product)}}, {.sweeps = 1}).saturation.saturated);
}

}  // namespace
}  // namespace korch::block
