#include "korch/structures/check_structure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "groups.h"
#include "korch/block/enumerate.h"

namespace korch::structures {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

const block::Terms& attention() {
  static const block::Terms terms = block::groups().at("attention");
  return terms;
}

// With what the search calls attention's leaves: q [b,m,d], k [b,n,d], v [b,n,e].
constexpr const char* kOnline = R"(block {
  axes b 12 grid, m 1024 grid, n 1024, d 64, e 64
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

Checked checked(const std::string& text) {
  return check_structure(attention(), block::parse_block_graph(text), 16);
}

TEST(CheckStructure, AcceptsAnOnlineSoftmaxWithABound) {
  const Checked online = checked(kOnline);
  EXPECT_TRUE(online.accepted) << online.why;
  EXPECT_EQ(online.field.tests, 16);
  EXPECT_LT(online.field.error_bound, std::pow(2.0, -60));
}

// Of graphs that others publish: a product whose sum was pulled out of its axis; exp without a maximum. And
// of online softmax: one sum, or both, not rescaled; rescaled by the wrong factor.
TEST(CheckStructure, RefusesKnownMistakes) {
  const std::string pulled = R"(block {
  axes b 12 grid, m 1024 grid, n 1024, d 64, e 64
  leaf q f32 [b, m, d]
  leaf k f32 [b, n, d]
  leaf v f32 [b, n, e]
  %0 = load q
  %1 = sum d %0
  %2 = load k
  %3 = sum d %2
  %4 = Mul(%1, %3)
  %5 = max n %4
  %6 = Sub(%4, %5)
  %7 = Exp(%6)
  %8 = sum n %7
  %9 = load v
  %10 = Mul(%7, %9)
  %11 = sum n %10
  %12 = Div(%11, %8)
  result %12
}
)";
  const std::string without_maximum = R"(block {
  axes b 12 grid, m 1024 grid, n 1024, d 64, e 64
  leaf q f32 [b, m, d]
  leaf k f32 [b, n, d]
  leaf v f32 [b, n, e]
  %0 = load q
  loop n {
    %1 = load k
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = Exp(%3)
    %5 = sum n %4
    %6 = load v
    %7 = Mul(%4, %6)
    %8 = sum n %7
  }
  %9 = Div(%8, %5)
  result %9
}
)";
  for (const std::string& text :
       {pulled, without_maximum, replaced(kOnline, "%9 rescaled %7", "%9"),
        replaced(kOnline, "%12 rescaled %7", "%12"),
        replaced(replaced(kOnline, "%12 rescaled %7", "%12"), "%9 rescaled %7", "%9"),
        replaced(kOnline, "Sub(%5, %4)", "Sub(%4, %5)"),
        replaced(kOnline, "Div(%13, %10)", "Mul(%13, %10)")}) {
    const Checked mistaken = checked(text);
    EXPECT_FALSE(mistaken.accepted) << text;
    EXPECT_NE(mistaken.why, "");
  }
}

TEST(CheckStructure, RefusesAnotherGroupsLeaves) {
  EXPECT_EQ(checked(replaced(kOnline, "leaf v f32", "leaf v f32 constant")).why, "leaves of another group");
}

// Whatever the search finds passes, so that no time is lost; and has a bound where nothing is compared.
class CheckFound : public testing::TestWithParam<std::string> {};

TEST_P(CheckFound, IsAccepted) {
  const block::Terms terms = block::groups().at(GetParam());
  block::SearchLog log;
  const std::vector<block::BlockGraph> found = block::structures(terms, {}, log);
  ASSERT_FALSE(found.empty());
  const Checked best = check_structure(terms, found.front(), 4);
  EXPECT_TRUE(best.accepted) << best.why << "\n" << block::print(found.front());
}

INSTANTIATE_TEST_SUITE_P(Groups, CheckFound,
                         testing::Values("attention", "attention_bias", "attention_scaled",
                                         "attention_soft_cap", "attention_two_terms", "attention_where",
                                         "gated_mlp", "inverted_residual", "linear_attention", "log_sum_exp",
                                         "lora", "ntrans", "rms_norm_matmul", "rms_swiglu"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace korch::structures
