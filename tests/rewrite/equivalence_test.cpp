#include "korch/rewrite/equivalence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "korch/ir/text.h"
#include "random_floats.h"

namespace korch {
namespace {

Graph graph_of(const std::string& body) {
  return parse_graph("graph {\n" + body + "\n}\n");
}

Equivalence check(const std::string& a, const std::string& b) {
  EquivalenceOptions options;
  options.inputs = random_floats;
  return check_equivalence(graph_of(a), graph_of(b), options);
}

struct Pair {
  const char* name;
  const char *a, *b;
};

void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.name;
}

class EqualPair : public testing::TestWithParam<Pair> {};

TEST_P(EqualPair, IsAccepted) {
  const Equivalence result = check(GetParam().a, GetParam().b);
  EXPECT_EQ(result.verdict, Verdict::equal) << result.field.why << ", float64 " << result.float64_difference;
  EXPECT_EQ(result.field.tests, 16);
}

constexpr const char* kSafeSoftmax = R"(
  input %x : f32[2x3] "x"
  %m = ReduceMax(%x) {axes=[1]} : f32[2x1]
  %d = Sub(%x, %m) : f32[2x3]
  %e = Exp(%d) : f32[2x3]
  %s = ReduceSum(%e) {axes=[1]} : f32[2x1]
  %y = Div(%e, %s) : f32[2x3]
  output %y "y")";

const Pair kEqual[] = {
    {"softmax_without_its_maximum", kSafeSoftmax, R"(
  input %x : f32[2x3] "x"
  %e = Exp(%x) : f32[2x3]
  %s = ReduceSum(%e) {axes=[1]} : f32[2x1]
  %y = Div(%e, %s) : f32[2x3]
  output %y "y")"},
    {"sum_as_product_with_ones", R"(
  input %x : f32[5x7] "x"
  %y = ReduceSum(%x) {axes=[1]} : f32[5x1]
  output %y "y")",
     R"(
  input %x : f32[5x7] "x"
  %one = Constant() {splat=1} : f32[7x1]
  %y = MatMul(%x, %one) : f32[5x1]
  output %y "y")"},
    {"transposed_product", R"(
  input %a : f32[2x3x4] "a"
  input %b : f32[4x5] "b"
  %c = MatMul(%a, %b) : f32[2x3x5]
  %y = Transpose(%c) {perm=[0,2,1]} : f32[2x5x3]
  output %y "y")",
     R"(
  input %b : f32[4x5] "b"
  input %a : f32[2x3x4] "a"
  %y = MatMul(%b, %a) {transpose_a=true, transpose_b=true} : f32[2x5x3]
  output %y "y")"},
    {"variance_in_one_pass", R"(
  input %x : f32[3x4] "x"
  %q = Constant() {splat=0.25} : f32[]
  %s = ReduceSum(%x) {axes=[1]} : f32[3x1]
  %m = Mul(%s, %q) : f32[3x1]
  %d = Sub(%x, %m) : f32[3x4]
  %dd = Mul(%d, %d) : f32[3x4]
  %v = ReduceSum(%dd) {axes=[1]} : f32[3x1]
  %y = Mul(%v, %q) : f32[3x1]
  output %y "y")",
     R"(
  input %x : f32[3x4] "x"
  %q = Constant() {splat=0.25} : f32[]
  %two = Constant() {splat=2} : f32[]
  %s = ReduceSum(%x) {axes=[1]} : f32[3x1]
  %m = Mul(%s, %q) : f32[3x1]
  %xx = Pow(%x, %two) : f32[3x4]
  %ss = ReduceSum(%xx) {axes=[1]} : f32[3x1]
  %mm = Mul(%ss, %q) : f32[3x1]
  %m2 = Mul(%m, %m) : f32[3x1]
  %y = Sub(%mm, %m2) : f32[3x1]
  output %y "y")"},
    {"pointwise_convolution_as_product", R"(
  input %x : f32[1x3x4x5] "x"
  input %w : f32[2x3x1x1] "w"
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x2x4x5]
  output %y "y")",
     R"(
  input %x : f32[1x3x4x5] "x"
  input %w : f32[2x3x1x1] "w"
  %xm = Reshape(%x) {shape=[1,3,20]} : f32[1x3x20]
  %wm = Reshape(%w) {shape=[2,3]} : f32[2x3]
  %p = MatMul(%wm, %xm) : f32[1x2x20]
  %y = Reshape(%p) {shape=[1,2,4,5]} : f32[1x2x4x5]
  output %y "y")"},
    {"padding_inside_the_convolution", R"(
  input %x : f32[1x2x4x4] "x"
  input %w : f32[2x1x3x3] "w"
  %y = Conv(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], group=2} : f32[1x2x2x2]
  output %y "y")",
     R"(
  input %x : f32[1x2x4x4] "x"
  input %w : f32[2x1x3x3] "w"
  %p = Pad(%x) {before=[0,0,1,1], after=[0,0,1,1]} : f32[1x2x6x6]
  %y = Conv(%p, %w) {strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], group=2} : f32[1x2x2x2]
  output %y "y")"},
    {"maxima_in_another_order", R"(
  input %x : f32[4x6] "x"
  %y = ReduceMax(%x) {axes=[0,1]} : f32[1x1]
  output %y "y")",
     R"(
  input %x : f32[4x6] "x"
  %t = Transpose(%x) {perm=[1,0]} : f32[6x4]
  %r = ReduceMax(%t) {axes=[0]} : f32[1x4]
  %y = ReduceMax(%r) {axes=[1]} : f32[1x1]
  output %y "y")"},
    {"unknown_functions_of_equal_arguments", R"(
  input %a : f32[6] "a"
  input %b : f32[6] "b"
  %s = Add(%a, %b) : f32[6]
  %y = Tanh(%s) : f32[6]
  output %y "y")",
     R"(
  input %a : f32[6] "a"
  input %b : f32[6] "b"
  %n = Neg(%b) : f32[6]
  %s = Sub(%a, %n) : f32[6]
  %y = Tanh(%s) : f32[6]
  output %y "y")"},
};

INSTANTIATE_TEST_SUITE_P(All, EqualPair, testing::ValuesIn(kEqual),
                         [](const auto& info) { return info.param.name; });

TEST(Equivalence, ADifferenceIsSeenByBoth) {
  const Equivalence result = check(kSafeSoftmax, R"(
  input %x : f32[2x3] "x"
  %e = Exp(%x) : f32[2x3]
  %s = ReduceSum(%e) {axes=[0]} : f32[1x3]
  %y = Div(%e, %s) : f32[2x3]
  output %y "y")");
  EXPECT_EQ(result.verdict, Verdict::different);
  EXPECT_EQ(result.field.says, FieldResult::Says::different);
  EXPECT_EQ(result.field.why, "output 'y' differs at element 0");
  EXPECT_EQ(result.worst_output, "y");
}

// The field orders its elements at random, so adding a constant does not keep their order.
TEST(Equivalence, WhatTheFieldCannotFollowIsUndecided) {
  const Equivalence result = check(R"(
  input %x : f32[4] "x"
  %c = Constant() {splat=2} : f32[]
  %m = ReduceMax(%x) {axes=[0]} : f32[1]
  %y = Add(%m, %c) : f32[1]
  output %y "y")",
                                   R"(
  input %x : f32[4] "x"
  %c = Constant() {splat=2} : f32[]
  %s = Add(%x, %c) : f32[4]
  %y = ReduceMax(%s) {axes=[0]} : f32[1]
  output %y "y")");
  EXPECT_EQ(result.verdict, Verdict::undecided);
  EXPECT_EQ(result.field.says, FieldResult::Says::different);
  EXPECT_LE(result.float64_difference, 1e-12);
}

std::string exponentials_of_a_convolution(const std::string& convolution) {
  return R"(
  input %x : f32[1x4x6x6] "x"
  input %w : f32[2x4x3x3] "w"
)" + convolution +
         R"(
  %e = Exp(%y) : f32[1x2x4x4]
  output %e "e")";
}

constexpr const char* kDirect =
    "%y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x2x4x4]";

// Where its transforms need a root of 2, the field of exponentials has none.
TEST(Equivalence, WinogradBesideExponentials) {
  const Equivalence small = check(exponentials_of_a_convolution(kDirect), exponentials_of_a_convolution(R"(
  %d = WinogradInput(%x) {tile=2, taps=3, pads_before=[0,0], pads_after=[0,0]} : f32[16x4x4]
  %p = WinogradProduct(%d, %w) {tile=2, taps=3} : f32[16x4x2]
  %y = WinogradOutput(%p) {tile=2, taps=3, shape=[1,2,4,4]} : f32[1x2x4x4])"));
  EXPECT_EQ(small.verdict, Verdict::equal) << small.field.why << ", float64 " << small.float64_difference;
  const Equivalence large = check(exponentials_of_a_convolution(kDirect), exponentials_of_a_convolution(R"(
  %d = WinogradInput(%x) {tile=4, taps=3, pads_before=[0,0], pads_after=[0,0]} : f32[36x1x4]
  %p = WinogradProduct(%d, %w) {tile=4, taps=3} : f32[36x1x2]
  %y = WinogradOutput(%p) {tile=4, taps=3, shape=[1,2,4,4]} : f32[1x2x4x4])"));
  EXPECT_EQ(large.verdict, Verdict::undecided);
  EXPECT_EQ(large.field.says, FieldResult::Says::nothing);
}

TEST(Equivalence, AnInfiniteConstantHasNoCounterpart) {
  constexpr const char* kMasked = R"(
  input %x : f32[4] "x"
  %c = Constant() {splat=-inf} : f32[]
  %y = Max(%x, %c) : f32[4]
  output %y "y")";
  const Equivalence result = check(kMasked, kMasked);
  EXPECT_EQ(result.verdict, Verdict::undecided);
  EXPECT_EQ(result.field.says, FieldResult::Says::nothing);
  EXPECT_EQ(result.field.why, "no counterpart in a finite field: a constant that is not finite");
}

// A tenth that was rounded is not a tenth: the field knows, and float64 tells how much it is.
TEST(Equivalence, RoundedConstantsAreUndecided) {
  const Equivalence result = check(R"(
  input %x : f32[64] "x"
  %c = Constant() {splat=10} : f32[]
  %y = Div(%x, %c) : f32[64]
  output %y "y")",
                                   R"(
  input %x : f32[64] "x"
  %c = Constant() {splat=0.1} : f32[]
  %y = Mul(%x, %c) : f32[64]
  output %y "y")");
  EXPECT_EQ(result.verdict, Verdict::undecided);
  EXPECT_EQ(result.field.says, FieldResult::Says::different);
  EXPECT_GT(result.float64_difference, 1e-9);
  EXPECT_LT(result.float64_difference, 1e-6);
}

TEST(Equivalence, BoundOfARationalFunctionIsItsDegreeOverTheModulus) {
  constexpr const char* kSquare = R"(
  input %x : f32[4] "x"
  %y = Mul(%x, %x) : f32[4]
  output %y "y")";
  EquivalenceOptions options;
  options.inputs = random_floats;
  options.tests = 1;
  const FieldResult once = compare_over_field(graph_of(kSquare), graph_of(kSquare), options);
  EXPECT_NEAR(once.error_bound * 0x1p61, 2, 1e-6);
  options.tests = 2;
  const FieldResult twice = compare_over_field(graph_of(kSquare), graph_of(kSquare), options);
  EXPECT_NEAR(twice.error_bound, once.error_bound * once.error_bound, 1e-12 * twice.error_bound);
}

// The largest of all or of all but one: hardly any order tells.
TEST(Equivalence, ThereIsNoBoundWhereSomethingIsCompared) {
  constexpr const char* kMax = R"(
  input %x : f32[4] "x"
  %y = ReduceMax(%x) {axes=[0]} : f32[1]
  output %y "y")";
  EquivalenceOptions options;
  options.inputs = random_floats;
  EXPECT_EQ(compare_over_field(graph_of(kMax), graph_of(kMax), options).error_bound, 1);
}

TEST(Equivalence, BoundCountsTheTermsOfARunningSum) {
  EquivalenceOptions options;
  options.inputs = random_floats;
  options.tests = 1;
  const auto bound = [&](int64_t terms) {
    const Graph sums = graph_of(fmt::format(R"(
  input %x : f32[{0}] "x"
  %e = Exp(%x) : f32[{0}]
  %y = CumSum(%e) {{axis=0, exclusive=false, reverse=false}} : f32[{0}]
  output %y "y")",
                                            terms));
    return compare_over_field(sums, sums, options).error_bound;
  };
  EXPECT_LT(bound(1), 1e-6);
  EXPECT_GT(bound(4), 1e-2);
}

TEST(Equivalence, OtherInputsOrOutputsAreNamed) {
  constexpr const char* kOther = R"(
  input %x : f32[2x4] "x"
  output %x "y")";
  try {
    check(kSafeSoftmax, kOther);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    EXPECT_STREQ(error.what(), "the outputs differ: 'y' f32[2x3]; and 'y' f32[2x4]");
  }
}

}  // namespace
}  // namespace korch
