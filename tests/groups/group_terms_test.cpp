#include "korch/groups/group_terms.h"

#include <gtest/gtest.h>

#include "korch/ir/text.h"
#include "term_values.h"

namespace korch::groups {
namespace {

GroupTerms terms_in(const std::string& text) {
  const Graph graph = parse_graph(text);
  const Candidate candidate = all_of(graph);
  const Result<GroupTerms> group = terms_of(graph, candidate);
  EXPECT_TRUE(group.ok()) << (group.ok() ? "" : group.refusal().detail);
  if (!group.ok()) return {};
  expect_equal_values(graph, candidate, group.value(), 7);
  return group.value();
}

std::string refusal_in(const std::string& text) {
  const Graph graph = parse_graph(text);
  const Result<GroupTerms> group = terms_of(graph, all_of(graph));
  EXPECT_FALSE(group.ok()) << text;
  return group.ok() ? "" : group.refusal().detail;
}

constexpr const char* kAttention = R"(graph {
  input %q : f32[2x5x4] "q"
  input %k : f32[2x7x4] "k"
  input %v : f32[2x7x3] "v"
  %scale = Constant() {value=[0.5]} : f32[]
  %qs = Mul(%q, %scale)
  %kt = Transpose(%k) {perm=[0,2,1]}
  %s = MatMul(%qs, %kt)
  %m = ReduceMax(%s) {axes=[2]}
  %d = Sub(%s, %m)
  %e = Exp(%d)
  %l = ReduceSum(%e) {axes=[2]}
  %p = Div(%e, %l)
  %y = MatMul(%p, %v)
  output %y "y"
})";

TEST(GroupTerms, Attention) {
  const GroupTerms group = terms_in(kAttention);
  EXPECT_EQ(block::structure_text(group.terms), R"(leaf f32 [a,b,d]
leaf f32 [a,d,e]
leaf f32 [a,c,e]
%0 = leaf 0
%1 = 0.5
%2 = Mul(%0, %1)
%3 = leaf 1
%4 = Mul(%2, %3)
%5 = sum d (%4)
%6 = max e (%5)
%7 = Sub(%5, %6)
%8 = Exp(%7)
%9 = sum e (%8)
%10 = Div(%8, %9)
%11 = leaf 2
%12 = Mul(%10, %11)
%13 = sum e (%12)
result %13
)");
}

// Heads are digits of a column's number; the keys are as the projection left them.
TEST(GroupTerms, DimensionsAreSplit) {
  const GroupTerms group = terms_in(R"(graph {
  input %x : f32[5x6] "x"
  input %k : f32[3x7x4] "k"
  %w = Constant() {splat=0.5} : f32[6x12]
  %q = MatMul(%x, %w)
  %qh = Reshape(%q) {shape=[5,3,4]}
  %qt = Transpose(%qh) {perm=[1,0,2]}
  %kt = Transpose(%k) {perm=[0,2,1]}
  %s = MatMul(%qt, %kt)
  %st = Transpose(%s) {perm=[1,0,2]}
  %y = Reshape(%st) {shape=[5,21]}
  output %y "y"
})");
  ASSERT_EQ(group.results.size(), 1u);
  EXPECT_EQ(group.results[0].at, (Coordinates{{0}, {1, 2}}));
  EXPECT_EQ(group.leaves[1].at, (Coordinates{{3}, {1, 4}}));  // w: columns are heads and their features
}

// Three heads share keys: these depend on which of the two groups a head is in.
TEST(GroupTerms, HeadsThatShareKeys) {
  const GroupTerms group = terms_in(R"(graph {
  input %q : f32[6x5x4] "q"
  input %k : f32[2x7x4] "k"
  %k1 = Reshape(%k) {shape=[2,1,7,4]}
  %k3 = Expand(%k1) {shape=[2,3,7,4]}
  %kh = Reshape(%k3) {shape=[6,7,4]}
  %s = MatMul(%q, %kh) {transpose_b=true}
  output %s "s"
})");
  ASSERT_EQ(group.leaves.size(), 2u);
  EXPECT_EQ(group.leaves[0].at[0].size(), 2u);
  EXPECT_EQ(group.leaves[1].at[0].size(), 1u);
  EXPECT_EQ(group.leaves[1].at[0][0], group.leaves[0].at[0][0]);
}

TEST(GroupTerms, RowsAreReadOnce) {
  const GroupTerms group = terms_in(R"(graph {
  input %x : f32[5x6] "x"
  input %w : f32[6x4] "w"
  %n = Constant() {value=[0.25]} : f32[]
  %sq = Mul(%x, %x)
  %s = ReduceSum(%sq) {axes=[1]}
  %mean = Mul(%s, %n)
  %r = Sqrt(%mean)
  %xn = Div(%x, %r)
  %y = MatMul(%xn, %w)
  output %y "y"
})");
  EXPECT_EQ(group.leaves.size(), 2u);
  EXPECT_EQ(group.terms.axes.size(), 3u);
}

// Its features are summed up on the way in, and are the columns of the result on the way out.
TEST(GroupTerms, AResidualKeepsItsOwnAxes) {
  const GroupTerms group = terms_in(R"(graph {
  input %x : f32[5x6] "x"
  input %w : f32[6x4] "w"
  input %u : f32[4x6] "u"
  %h = MatMul(%x, %w)
  %r = Relu(%h)
  %o = MatMul(%r, %u)
  %y = Add(%o, %x)
  output %y "y"
})");
  EXPECT_EQ(group.leaves.size(), 4u);
  EXPECT_EQ(group.terms.axes.size(), 4u);
}

// An inverted residual: a convolution of each channel reads windows of what the first one makes.
TEST(GroupTerms, Windows) {
  const GroupTerms group = terms_in(R"(graph {
  input %x : f32[2x3x7x9] "x"
  input %u : f32[4x3x1x1] "u"
  input %w : f32[4x1x3x3] "w"
  input %v : f32[5x4x1x1] "v"
  %e = Conv(%x, %u) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], group=1}
  %r = Relu(%e)
  %d = Conv(%r, %w) {strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], group=4}
  %s = Relu(%d)
  %y = Conv(%s, %v) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], group=1}
  output %y "y"
})");
  EXPECT_EQ(block::structure_text(group.terms), R"(leaf f32 [a,e,f,g]
leaf f32 [e,h]
leaf f32 [h,i,j]
leaf f32 [b,h]
%0 = leaf 0
%1 = leaf 1
%2 = Mul(%0, %1)
%3 = sum e (%2)
%4 = Relu(%3)
%5 = at f = 2 c + 1 i + -1 (%4)
%6 = at g = 2 d + 1 j + -1 (%5)
%7 = leaf 2
%8 = Mul(%6, %7)
%9 = sum i,j (%8)
%10 = Relu(%9)
%11 = leaf 3
%12 = Mul(%10, %11)
%13 = sum h (%12)
result %13
)");
}

// Strides, dilations, padding of one side, kernels that an image is smaller than, rows of one pixel.
TEST(GroupTerms, WindowsOfManyShapes) {
  const struct {
    const char *image, *kernel, *window;
  } kCases[] = {
      {"7x9", "3x3", "strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]"},
      {"7x9", "5x3", "strides=[2,1], dilations=[1,2], pads_before=[2,0], pads_after=[1,3]"},
      {"6x6", "2x2", "strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]"},
      {"4x5", "1x3", "strides=[1,1], dilations=[1,1], pads_before=[0,1], pads_after=[0,1]"},
      {"4x5", "1x1", "strides=[2,3], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]"},
      {"5x1", "3x1", "strides=[1,1], dilations=[1,1], pads_before=[1,0], pads_after=[1,0]"},
      {"2x2", "5x5", "strides=[1,1], dilations=[1,1], pads_before=[2,2], pads_after=[2,2]"},
      {"9x4", "3x2", "strides=[4,2], dilations=[2,1], pads_before=[0,0], pads_after=[0,0]"},
  };
  for (const auto& c : kCases) {
    const std::string image = c.image, kernel = c.kernel, window = c.window;
    SCOPED_TRACE(image + " " + kernel + " " + window);
    // What is read from memory, and what a reduction made.
    terms_in("graph {\n  input %x : f32[2x3x" + image + "] \"x\"\n  input %w : f32[3x1x" + kernel +
             "] \"w\"\n  %a = Tanh(%x)\n  %d = Conv(%a, %w) {" + window +
             ", group=3}\n  %y = Relu(%d)\n  output %y \"y\"\n}");
    terms_in("graph {\n  input %z : f32[2x3x" + image + "x2] \"z\"\n  input %w : f32[3x1x" + kernel +
             "] \"w\"\n  %x = ReduceMax(%z) {axes=[4], keepdims=false}\n  %d = Conv(%x, %w) {" + window +
             ", group=3}\n  %y = Relu(%d)\n  output %y \"y\"\n}");
  }
}

TEST(GroupTerms, RefusesWindowsOverChannels) {
  EXPECT_NE(refusal_in(R"(graph {
  input %x : f32[1x3x7x7] "x"
  input %w : f32[4x3x3x3] "w"
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], group=1}
  output %y "y"
})")
                .find("a window over several channels"),
            std::string::npos);
  EXPECT_NE(refusal_in(R"(graph {
  input %x : f32[1x3x1x7] "x"
  input %w : f32[3x1x3x3] "w"
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], group=3}
  output %y "y"
})")
                .find("a window of one row or column"),
            std::string::npos);
  // The rows of the image are two axes.
  EXPECT_NE(refusal_in(R"(graph {
  input %x : f32[1x4x6x7] "x"
  input %w : f32[4x1x3x3] "w"
  %e = Exp(%x)
  %m = ReduceSum(%e) {axes=[0], keepdims=true}
  %y = Conv(%m, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], group=4}
  %z = Reshape(%m) {shape=[1,4,2,3,7]}
  %l = ReduceMax(%z) {axes=[2]}
  output %y "y"
  output %l "l"
})")
                .find("a window over a part of an axis"),
            std::string::npos);
}

TEST(GroupTerms, RefusesWhatMixesAxes) {
  EXPECT_NE(refusal_in(R"(graph {
  input %x : f32[4x5] "x"
  input %w : f32[5x6] "w"
  %y = MatMul(%x, %w)
  %z = Reshape(%y) {shape=[6,4]}
  %m = ReduceMax(%z) {axes=[1]}
  output %m "m"
})")
                .find("Reshape that makes %z: it mixes the axes of %y"),
            std::string::npos);
  EXPECT_NE(refusal_in(R"(graph {
  input %x : f32[4x5] "x"
  input %w : f32[5x6] "w"
  %y = MatMul(%x, %w)
  %z = Slice(%y) {starts=[0,2], sizes=[4,3], steps=[1,1]}
  %m = ReduceMax(%z) {axes=[1]}
  output %m "m"
})")
                .find("Slice that makes %z"),
            std::string::npos);
  // Rows by rows: one element of the result reads two of the same Value.
  EXPECT_NE(refusal_in(R"(graph {
  input %x : f32[4x5] "x"
  input %w : f32[5x6] "w"
  %y = MatMul(%x, %w)
  %z = MatMul(%y, %y) {transpose_b=true}
  output %z "z"
})")
                .find("two of its axes are one"),
            std::string::npos);
}

TEST(GroupTerms, StructureKnowsNoExtents) {
  std::string other = kAttention;
  for (size_t at = 0; (at = other.find('7', at)) != std::string::npos;) other[at] = '9';
  EXPECT_EQ(block::structure_text(terms_in(kAttention).terms), block::structure_text(terms_in(other).terms));
}

}  // namespace
}  // namespace korch::groups
