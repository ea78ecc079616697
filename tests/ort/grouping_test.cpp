#include "grouping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace korch::ort {
namespace {

using Edges = std::vector<std::vector<int>>;
using Groups = std::vector<std::vector<int>>;

// Whether there is no cycle once each group is one node.
bool contracts(const Edges& producers, const Groups& groups) {
  const int count = static_cast<int>(producers.size());
  std::vector<int> place(count);
  for (int node = 0; node < count; ++node) place[node] = node;
  for (const auto& group : groups)
    for (int node : group) place[node] = group[0];
  std::vector<std::set<int>> readers(count);
  std::vector<int> open(count);
  for (int node = 0; node < count; ++node)
    for (int producer : producers[node])
      if (place[producer] != place[node] && readers[place[producer]].insert(place[node]).second)
        ++open[place[node]];
  std::vector<int> ready;
  int left = count;
  for (int node = 0; node < count; ++node)
    if (open[node] == 0) ready.push_back(node);
  while (!ready.empty()) {
    const int node = ready.back();
    ready.pop_back();
    --left;
    for (int reader : readers[node])
      if (--open[reader] == 0) ready.push_back(reader);
  }
  return left == 0;
}

bool are_joined(const Edges& producers, const std::vector<int>& a, const std::vector<int>& b) {
  const auto reads = [&](const std::vector<int>& from, const std::vector<int>& to) {
    return std::any_of(to.begin(), to.end(), [&](int node) {
      return std::any_of(producers[node].begin(), producers[node].end(), [&](int producer) {
        return std::find(from.begin(), from.end(), producer) != from.end();
      });
    });
  };
  return reads(a, b) || reads(b, a);
}

TEST(Grouping, AChainIsOneGroup) {
  EXPECT_EQ(convex_groups({{}, {0}, {1}}, {true, true, true}), (Groups{{0, 1, 2}}));
}

// 0 feeds 1 (not wanted) and 2; 3 reads both: 0 and 3 may not be together, 2 goes with 0.
TEST(Grouping, APathThroughAnotherNodeSeparates) {
  EXPECT_EQ(convex_groups({{}, {0}, {0}, {1, 2}}, {true, false, true, true}), (Groups{{0, 2}, {3}}));
}

// What comes late does not have to stay alone: 1 reads the input, 2 what is not wanted.
TEST(Grouping, BranchesJoinWhereTheyMeet) {
  EXPECT_EQ(convex_groups({{}, {}, {0}, {1, 2}}, {false, true, true, true}), (Groups{{1, 2, 3}}));
}

// Each alone could be one group; both together would each come before the other.
TEST(Grouping, TwoGroupsDoNotWaitForEachOther) {
  const Edges producers = {{}, {}, {0}, {1}, {0, 3}, {1, 2}};
  const Groups groups = convex_groups(producers, {true, true, false, false, true, true});
  EXPECT_TRUE(contracts(producers, groups));
  EXPECT_EQ(groups, (Groups{{0, 4}, {1}, {5}}));
}

TEST(Grouping, UnconnectedNodesAreSeveralGroups) {
  EXPECT_EQ(convex_groups({{}, {}, {0}}, {true, true, true}), (Groups{{0, 2}, {1}}));
}

TEST(Grouping, RandomGraphs) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<uint32_t>(below)); };
    const int count = 2 + draw(24);
    Edges producers(count);
    std::vector<bool> wanted;
    for (int node = 0; node < count; ++node) {
      wanted.push_back(draw(4) != 0);
      for (int i = draw(3); node > 0 && i > 0; --i) producers[node].push_back(draw(node));
    }
    const Groups groups = convex_groups(producers, wanted);
    std::vector<int> seen(count);
    for (const auto& group : groups) {
      ASSERT_TRUE(std::is_sorted(group.begin(), group.end()));
      for (int node : group) ++seen[node];
    }
    for (int node = 0; node < count; ++node) ASSERT_EQ(seen[node], wanted[node] ? 1 : 0) << "seed " << seed;
    ASSERT_TRUE(contracts(producers, groups)) << "seed " << seed;
    for (size_t a = 0; a < groups.size(); ++a) {
      for (size_t b = a + 1; b < groups.size(); ++b) {
        if (!are_joined(producers, groups[a], groups[b])) continue;
        Groups merged = groups;
        merged[a].insert(merged[a].end(), merged[b].begin(), merged[b].end());
        merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(b));
        ASSERT_FALSE(contracts(producers, merged)) << "seed " << seed << ": groups " << a << " and " << b;
      }
    }
  }
}

}  // namespace
}  // namespace korch::ort
