// A remembered solution is untrusted text: what is no plan of the problem is nothing.
#include "korch/search/solve_memo.h"

#include <gtest/gtest.h>

namespace korch {
namespace {

// Tensor 0 is given, column 0 makes 1 of it, column 1 makes 2 of 1, and 2 is wanted.
Problem chain() {
  Problem problem;
  problem.tensor_class = {0, 1, 2};
  problem.available = {0};
  problem.required = {2};
  for (int i = 0; i < 2; ++i) {
    Column column;
    column.inputs = {i};
    column.outputs = {i + 1};
    problem.columns.push_back(column);
  }
  return problem;
}

SolveMemo memo_of(const std::vector<int>& chosen) {
  SolveMemo memo;
  memo.solution.status = SolveStatus::optimal;
  memo.solution.chosen = chosen;
  memo.cost_us = {1, 2};
  memo.is_measured = "11";
  return memo;
}

bool is_taken(const std::string& text) {
  return solve_memo_from_json(text, chain()).has_value();
}

TEST(SolveMemo, ComesBack) {
  const std::optional<SolveMemo> memo = solve_memo_from_json(to_json(memo_of({0, 1})), chain());
  ASSERT_TRUE(memo);
  EXPECT_EQ(memo->solution.chosen, (std::vector<int>{0, 1}));
}

TEST(SolveMemo, ReschedulesColumnsOfTheProgram) {
  SolveMemo good = memo_of({0, 2});
  good.rescheduled = {{1, "6,1", 1.5}};
  const std::optional<SolveMemo> memo = solve_memo_from_json(to_json(good), chain());
  ASSERT_TRUE(memo);
  EXPECT_EQ(memo->solution.chosen, (std::vector<int>{0, 2}));
  ASSERT_EQ(memo->rescheduled.size(), 1u);
  EXPECT_EQ(memo->rescheduled[0].schedule, "6,1");
  EXPECT_EQ(memo->rescheduled[0].cost_us, 1.5);
  for (const int column : {-1, 0, 2, 1 << 30}) {
    good.rescheduled[0].column = column;  // 0 makes tensor 1 again, and nothing makes 2
    EXPECT_FALSE(is_taken(to_json(good))) << column;
  }
}

TEST(SolveMemo, OnlyAsAPlan) {
  for (const std::vector<int>& chosen : {std::vector<int>{}, {0}, {1}, {1, 0}, {0, 2}, {0, -1}, {0, 1 << 30}})
    EXPECT_FALSE(is_taken(to_json(memo_of(chosen)))) << to_json(memo_of(chosen));
}

TEST(SolveMemo, OnlyOfTheRightForm) {
  const std::string good = to_json(memo_of({0, 1}));
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"status\":0", "\"status\":77"},
                                                        {"\"status\":0", "\"status\":\"x\""},
                                                        {"[0,1]", "\"all\""},
                                                        {"\"11\"", "\"1\""},
                                                        {"[1.0,2.0]", "[1.0]"},
                                                        {"{", "[{"}}) {
    std::string text = good;
    ASSERT_NE(text.find(from), std::string::npos) << from << " in " << text;
    text.replace(text.find(from), from.size(), to);
    EXPECT_FALSE(is_taken(text)) << text;
  }
  for (const char* text : {"", "null", "[]", "{}", "\xff"}) EXPECT_FALSE(is_taken(text)) << text;
}

}  // namespace
}  // namespace korch
