// Index expressions: simplification keeps the value, and reaches the forms that lowering counts on.
#include "korch/kernel/index.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "korch/codegen/loop/index_formula.h"
#include "korch/codegen/loop/index_map.h"

namespace korch::tile {
namespace {

using Values = std::map<std::string, int64_t>;

int64_t floor_quotient(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// An expression built twice: simplified, and as a function.
struct Pair {
  Index index;
  std::function<int64_t(const Values&)> value;
};

class RandomExpression {
 public:
  explicit RandomExpression(uint64_t seed) : random_(seed) {}

  Pair make(int depth) {
    if (depth == 0) return leaf();
    const Pair a = make(depth - 1);
    const int64_t c = 1 + static_cast<int64_t>(random_() % 12);
    switch (random_() % 7) {
      case 0: {
        const Pair b = make(depth - 1);
        return {a.index + b.index, [=](const Values& v) { return a.value(v) + b.value(v); }};
      }
      case 1:
        return {a.index * c, [=](const Values& v) { return a.value(v) * c; }};
      case 2:
        return {a.index - Index(c), [=](const Values& v) { return a.value(v) - c; }};
      case 3:
        return {floor_div(a.index, c), [=](const Values& v) { return floor_quotient(a.value(v), c); }};
      case 4:
        return {floor_mod(a.index, c),
                [=](const Values& v) { return a.value(v) - floor_quotient(a.value(v), c) * c; }};
      case 5:
        return {absolute(a.index), [=](const Values& v) { return std::abs(a.value(v)); }};
      default:
        return {clamp(a.index, -c, 2 * c),
                [=](const Values& v) { return std::clamp(a.value(v), -c, 2 * c); }};
    }
  }

 private:
  Pair leaf() {
    const int which = static_cast<int>(random_() % 3);
    const char* names[] = {"x", "y", "z"};
    const int64_t extents[] = {6, 4, 5};
    const std::string name = names[which];
    return {Index::variable(name, extents[which]), [=](const Values& v) { return v.at(name); }};
  }

  std::mt19937_64 random_;
};

TEST(IndexExpr, SimplificationKeepsEveryValue) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const Pair pair = RandomExpression(seed).make(4);
    const IndexRange range = pair.index.range();
    for (int64_t x = 0; x < 6; ++x)
      for (int64_t y = 0; y < 4; ++y)
        for (int64_t z = 0; z < 5; ++z) {
          const Index at = substitute(pair.index, {{"x", Index(x)}, {"y", Index(y)}, {"z", Index(z)}});
          const int64_t expected = pair.value({{"x", x}, {"y", y}, {"z", z}});
          ASSERT_TRUE(at.is_constant()) << "seed " << seed << ": " << print(pair.index);
          ASSERT_EQ(at.constant(), expected) << "seed " << seed << ": " << print(pair.index);
          ASSERT_TRUE(range.low <= expected && expected <= range.high)
              << "seed " << seed << ": " << print(pair.index);
        }
  }
}

TEST(IndexExpr, ReachesTheFormsOfLowering) {
  const Index g = Index::variable("g", 7), c = Index::variable("c", 4), m = Index::variable("m", 120);
  EXPECT_EQ(print(floor_div(g * 4 + c, 4)), "g");
  EXPECT_EQ(print(floor_mod(g * 4 + c, 4)), "c");
  EXPECT_EQ(print(floor_div(g * 4 + c, 8)), "((g) / 2)");
  EXPECT_EQ(print(floor_div(m, 4) * 4 + floor_mod(m, 4)), "m");
  EXPECT_EQ(print(floor_mod(floor_div(m, 4), 5) * 4 + floor_mod(m, 4)), "((m) % 20)");
  EXPECT_EQ(print(floor_div(floor_div(m, 3), 5)), "((m) / 15)");
  // A reshape and its inverse.
  EXPECT_EQ(print(flatten(unflatten(m, {2, 3, 20}), {2, 3, 20})), "m");
}

TEST(IndexExpr, SplitsWhereADivisionNeedsIt) {
  const Index m = Index::variable("m", 120);
  const auto any = [](const std::string&) { return true; };
  EXPECT_EQ(find_split(floor_div(m, 20), any).inner_extent, 20);
  EXPECT_EQ(find_split(floor_div(m * 2, 20), any).inner_extent, 10);
  EXPECT_EQ(find_split(floor_div(m, 7), any).inner_extent, 0);  // does not divide
  EXPECT_EQ(find_split(floor_div(m, 20), [](const std::string&) { return false; }).inner_extent, 0);
}

TEST(IndexExpr, BreakpointsOfReflection) {
  const Index w = Index::variable("w", 12), at = w - Index(2);  // 8 elements, 2 more at either end
  std::set<int64_t> points;
  collect_breakpoints(Index(7) - absolute(Index(7) - absolute(at)), "w", points);
  EXPECT_EQ(points, (std::set<int64_t>{2}));  // the outer reflection shows once the inner one is decided
  points.clear();
  Condition inside;
  inside.require(at, 0, 7);
  collect_breakpoints(inside, "w", points);
  EXPECT_EQ(points, (std::set<int64_t>{2, 10}));
}

TEST(IndexFormula, FindsResizing) {
  const std::vector<std::vector<int64_t>> tables = {
      {0, 0, 1, 1, 2, 2}, {0, 0, 0, 1, 1, 2, 2, 3}, {5, 4, 3, 2}, {7, 7, 7}, {0, 2, 3, 5, 6, 8}, {4}};
  for (const std::vector<int64_t>& table : tables) {
    const std::optional<IndexFormula> formula = find_formula(table);
    ASSERT_TRUE(formula.has_value());
    for (size_t i = 0; i < table.size(); ++i)
      EXPECT_EQ(formula->at(Index(static_cast<int64_t>(i))).constant(), table[i]);
  }
  EXPECT_FALSE(find_formula({0, 3, 1, 2, 5, 4, 9}).has_value());
}

}  // namespace
}  // namespace korch::tile
