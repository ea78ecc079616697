#include "korch/block/block_graph.h"

#include <gtest/gtest.h>

#include "korch/base/error.h"

namespace korch::block {
namespace {

constexpr const char* kOnline = R"(block {
  axes b grid, m grid, n, d, e
  leaf q f32 [b, m, d]
  leaf k f32 [b, n, d]
  leaf v f32 [b, n, e]
  %0 = load q
  loop n {
    %1 = load k
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = max n %3
    %5 = before %4
    %6 = Sub(%5, %4)
    %7 = Exp(%6)
    %8 = Sub(%3, %4)
    %9 = Exp(%8)
    %10 = sum n %9 rescaled %7
    %11 = load v
    %12 = Mul(%9, %11)
    %13 = sum n %12 rescaled %7
  }
  %14 = Div(%13, %10)
  result %14
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
  try {
    parse_block_graph(text);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(BlockGraph, PrintsWhatItParses) {
  EXPECT_EQ(print(parse_block_graph(kOnline)), kOnline);
  const std::string with_more = R"(block {
  axes m 64 grid, d 3
  leaf x f32 [m, d]
  leaf w f32 constant [d]
  %0 = load x
  %1 = LeakyRelu(%0) alpha 0.1 beta 0
  %2 = number 0.3333333333333333
  %3 = Mul(%1, %2)
  %4 = sum d %3
  result %4
}
)";
  EXPECT_EQ(print(parse_block_graph(with_more)), with_more);
}

TEST(BlockGraph, RefusesByName) {
  const std::pair<std::string, std::string> cases[] = {
      {replaced(kOnline, "Div(%13, %10)", "Div(%13, %9)"),
       "%14: %9 is a value of a loop, and no accumulator"},
      {replaced(kOnline, "sum d %2", "sum m %2"), "%3: a fold over an axis of the grid"},
      {replaced(kOnline, "sum d %2", "sum e %2"), "%3: a fold over axes that its operand does not depend on"},
      {replaced(kOnline, "%12 rescaled %7", "%12 rescaled %9"),
       "%13: its rescaling depends on axes that it does not depend on"},
      {replaced(kOnline, "max n %3", "max n %3 rescaled %3"),
       "%4: only an accumulator that adds is rescaled"},
      {replaced(kOnline, "before %4", "before %3"), "%5: 'before' of what is no accumulator of the loop"},
      {replaced(kOnline, "result %14", "result %9"),
       "the result %9 is a value of a loop, and no accumulator"},
      {replaced(kOnline, "loop n {", "%1 = load k\n loop d {"), "%2 comes next"},
      {replaced(kOnline, "before %4", "before %7"), "there is no %7 yet"},
      {replaced(kOnline, "Exp(%6)", "Exp(%6, %5)"), "Exp has 1 operands"},
      {replaced(kOnline, "Exp(%6)", "ReduceSum(%6)"), "'ReduceSum' is no step"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_NE(complaint(text).find(expected), std::string::npos) << complaint(text) << "\nfor " << expected;
  }
}

TEST(BlockGraph, MeansWhatItsAccumulatorsHoldInTheEnd) {
  const Meaning meaning = meaning_of(parse_block_graph(kOnline));
  const std::string s = "sum d (Mul(leaf0[b,m,d], leaf1[b,n,d]))";
  const std::string w = "Exp(Sub(" + s + ", max n (" + s + ")))";
  EXPECT_EQ(print(meaning.terms, meaning.terms.results[0]),
            "Div(sum n (Mul(" + w + ", leaf2[b,n,e])), sum n (" + w + "))");
  ASSERT_EQ(meaning.equations.size(), 2);
  const std::string then = "Exp(Sub(" + s + ", leaf3[b,m]))",
                    factor = "Exp(Sub(leaf3[b,m], max n (" + s + ")))";
  EXPECT_EQ(print(meaning.of_accumulators, meaning.equations[0].first), "Mul(" + then + ", " + factor + ")");
  EXPECT_EQ(print(meaning.of_accumulators, meaning.equations[0].second), w);
  EXPECT_EQ(print(meaning.of_accumulators, meaning.equations[1].first),
            "Mul(Mul(" + then + ", leaf2[b,n,e]), " + factor + ")");
}

// A sum that is not rescaled leaves an equation that does not hold.
TEST(BlockGraph, AsksForWhatAMissingRescalingWouldDo) {
  const Meaning meaning = meaning_of(parse_block_graph(replaced(kOnline, "%9 rescaled %7", "%9")));
  ASSERT_EQ(meaning.equations.size(), 2);
  EXPECT_EQ(print(meaning.of_accumulators, meaning.equations[0].first).find("Mul(Exp"), std::string::npos);
}

}  // namespace
}  // namespace korch::block
