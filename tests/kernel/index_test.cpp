// Indices as values: what is equal, what is shared, and what many threads make at once.
#include "korch/kernel/index.h"

#include <gtest/gtest.h>

#include <thread>

#include "korch/kernel/expr.h"

namespace korch::tile {
namespace {

Index sum_of(const std::vector<std::string>& names) {
  Index sum(3);
  for (size_t i = 0; i < names.size(); ++i)
    sum = sum + Index::variable(names[i], 8) * static_cast<int64_t>(i + 1);
  return sum;
}

TEST(Index, SummandsHaveOneOrderWhateverTheyWereAddedIn) {
  const std::vector<std::string> names = {"f", "b", "a", "d", "c", "e"};  // more than a few
  const Index sum = sum_of(names);
  Index other(3);
  for (size_t i = names.size(); i-- > 0;)
    other = Index::variable(names[i], 8) * static_cast<int64_t>(i + 1) + other;
  EXPECT_EQ(sum, other);
  EXPECT_EQ(sum.hash(), other.hash());
  EXPECT_EQ(print(sum), "a * 3 + b * 2 + c * 5 + d * 4 + e * 6 + f + 3");
  const Index copy = sum;
  EXPECT_EQ(copy - sum, Index(0));
  EXPECT_EQ(sum - Index::variable("d", 8) * 4 + Index::variable("d", 8) * 4, sum);
}

TEST(Index, VariablesAreTheSameByNameWhateverTheirRanges) {
  const Index wide = floor_div(Index::variable("i", 0, 99) + Index(1), 7);
  const Index narrow = floor_div(Index::variable("i", 10, 49) + Index(1), 7);
  EXPECT_EQ(wide, narrow);
  EXPECT_EQ(wide.hash(), narrow.hash());
  EXPECT_EQ(narrow.range().low, 1);
  EXPECT_EQ(narrow.range().high, 7);
  EXPECT_EQ(wide.range().high, 14);
  EXPECT_EQ(wide - narrow, Index(0));
  EXPECT_FALSE(wide == floor_div(Index::variable("j", 0, 99) + Index(1), 7));
}

TEST(Index, EqualAtomsAreOneObject) {
  const Index a = floor_mod(sum_of({"x", "y"}), 5), b = floor_mod(sum_of({"x", "y"}), 5);
  ASSERT_EQ(a.terms().size(), 1u);
  EXPECT_EQ(a.terms()[0].atom, b.terms()[0].atom);
  EXPECT_EQ(a.variables(), (std::set<std::string>{"x", "y"}));
}

TEST(Expressions, DependOnTheVariablesOfAllOperands) {
  ExprPool pool;
  const auto load = [&](const Index& at) {
    Expr e;
    e.kind = ExprKind::load;
    e.buffer = 0;
    e.coords = {at};
    return pool.add(e);
  };
  const int few = load(Index::variable("a", 8)), more = load(sum_of({"b", "c"}));
  EXPECT_EQ(pool.variables(pool.call(ScalarFn::add, DType::f32, {few, more})),
            (std::set<std::string>{"a", "b", "c"}));
  EXPECT_EQ(pool.variables(pool.call(ScalarFn::sub, DType::f32, {more, few})),
            (std::set<std::string>{"a", "b", "c"}));
}

TEST(Index, ThreadsThatMakeTheSameGetTheSame) {
  std::vector<std::vector<Index>> made(4);
  std::vector<std::thread> threads;
  for (std::vector<Index>& mine : made)
    threads.emplace_back([&mine] {
      for (int64_t i = 2; i < 200; ++i)
        mine.push_back(floor_div(Index::variable("t" + std::to_string(i), 1000), i));
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Index>& mine : made) EXPECT_EQ(mine, made[0]);
  for (const Index& index : made[3]) EXPECT_EQ(index.dynamics(), std::set<int>());
}

}  // namespace
}  // namespace korch::tile
