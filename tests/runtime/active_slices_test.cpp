// Slices that runs leave out: what is numbered is what is needed, in order, each once.
#include "korch/runtime/active_slices.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace korch::rt {
namespace {

TEST(ActiveSlices, AreThoseWithinAllLimits) {
  std::mt19937 random(3);
  const auto below = [&](int64_t most) {
    return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most));
  };
  for (int i = 0; i < 2000; ++i) {
    // Variables of the grid, outermost first.
    std::vector<int64_t> counts, needed;
    for (uint32_t v = 0; v < 1 + random() % 3; ++v) {
      counts.push_back(below(5));
      needed.push_back(random() % 2 == 0 ? counts.back()
                                         : static_cast<int64_t>(random()) % (counts.back() + 1));
    }
    const int64_t inner = below(4);
    int64_t grid = inner;
    for (int64_t count : counts) grid *= count;
    ActiveSlices active(grid);
    int64_t stride = grid;
    for (size_t v = 0; v < counts.size(); ++v) active.limit(stride /= counts[v], counts[v], needed[v]);
    std::vector<int64_t> wanted, got;
    for (int64_t slice = 0; slice < grid; ++slice) {
      bool within = true;
      int64_t rest = slice / inner;
      for (size_t v = counts.size(); v-- > 0; rest /= counts[v])
        within = within && rest % counts[v] < needed[v];
      if (within) wanted.push_back(slice);
    }
    ASSERT_EQ(active.count(), static_cast<int64_t>(wanted.size()));
    for (int64_t begin = 0; begin < active.count();) {
      const int64_t end = std::min(active.count(), begin + below(6));
      EXPECT_EQ(active.visit(begin, end,
                             [&](int64_t first, int64_t last) {
                               EXPECT_LT(first, last);
                               for (int64_t s = first; s < last; ++s) got.push_back(s);
                               return 0;
                             }),
                0);
      begin = end;
    }
    EXPECT_EQ(got, wanted);
    got.clear();
    for (int64_t begin = 0; begin < grid;) {
      const int64_t end = std::min(grid, begin + below(6));
      active.visit_within(begin, end, [&](int64_t first, int64_t last) {
        for (int64_t s = first; s < last; ++s) got.push_back(s);
        return 0;
      });
      begin = end;
    }
    EXPECT_EQ(got, wanted);
  }
}

// An inner limit where an outer one left a part of a group: all of that is visited.
TEST(ActiveSlices, WholeGroupsOnly) {
  ActiveSlices active(24);
  active.limit(1, 12, 5);
  active.limit(1, 4, 2);
  EXPECT_EQ(active.count(), 10);
  ActiveSlices groups(24);
  groups.limit(1, 12, 8);
  groups.limit(1, 4, 2);
  EXPECT_EQ(groups.count(), 8);
}

TEST(ActiveSlices, TheFirstFailureEndsTheVisit) {
  ActiveSlices active(12);
  active.limit(1, 4, 2);
  int calls = 0;
  EXPECT_EQ(active.visit(0, 6, [&](int64_t, int64_t) { return ++calls == 2 ? 7 : 0; }), 7);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace korch::rt
