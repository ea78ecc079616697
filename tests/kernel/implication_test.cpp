// What follows from a condition known to hold.
#include "korch/kernel/implication.h"

#include <gtest/gtest.h>

namespace korch::testing {
namespace {

using tile::Condition;
using tile::Index;

const Index x = Index::variable("x", 100), y = Index::variable("y", 10);

Condition between(const Index& index, int64_t low, int64_t high) {
  return Condition().require(index, low, high);
}

TEST(Implication, SeesTheSameExpressionButForAConstantAndTheSign) {
  const Condition known = between(x * 2 + y, 10, 20);
  const auto range = [&](const Index& index) {
    const tile::IndexRange found = tile::range_where(index, known);
    return std::pair{found.low, found.high};
  };
  EXPECT_EQ(range(x * 2 + y), (std::pair<int64_t, int64_t>{10, 20}));
  EXPECT_EQ(range(x * 2 + y - 3), (std::pair<int64_t, int64_t>{7, 17}));
  EXPECT_EQ(range(Index(5) - x * 2 - y), (std::pair<int64_t, int64_t>{-15, -5}));
  EXPECT_EQ(range(x), (std::pair<int64_t, int64_t>{0, 99}));
}

TEST(Implication, DropsWhatHoldsAndKeepsTheRest) {
  const Condition known = between(x + y, 10, 20);
  EXPECT_TRUE(tile::remaining(between(x + y - 10, 0, 10), known).always_true());
  EXPECT_TRUE(tile::remaining(between(x + y, 21, 30), known).always_false());
  Condition both = between(x + y, 5, 20);
  both.require(x, 3, 5);
  EXPECT_EQ(tile::remaining(both, known), between(x, 3, 5));
  EXPECT_EQ(tile::remaining(between(x + y, 10, 19), known), between(x + y, 10, 19));
}

TEST(Implication, NeedsEveryBound) {
  Condition both = between(x + y, 10, 20);
  both.require(x, 3, 50);
  EXPECT_TRUE(tile::implies(both, between(x + y, 10, 30)));
  EXPECT_TRUE(tile::implies(both, both));
  EXPECT_FALSE(tile::implies(between(x + y, 10, 20), both));
  EXPECT_FALSE(tile::implies(both, between(x + y, 11, 30)));
}

}  // namespace
}  // namespace korch::testing
