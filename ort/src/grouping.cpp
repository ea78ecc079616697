#include "grouping.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace korch::ort {
namespace {

class Grouping {
 public:
  Grouping(const std::vector<std::vector<int>>& producers, const std::vector<bool>& wanted)
      : consumers_(producers.size()), group_(producers.size()) {
    for (size_t node = 0; node < producers.size(); ++node)
      for (int producer : producers[node]) consumers_[producer].push_back(static_cast<int>(node));
    std::iota(group_.begin(), group_.end(), 0);
    for (size_t node = 0; node < producers.size(); ++node) members_.push_back({static_cast<int>(node)});
    for (size_t node = 0; node < producers.size(); ++node)
      for (int producer : producers[node])
        if (wanted[node] && wanted[producer]) join(group_[producer], group_[node]);
  }

  std::vector<std::vector<int>> groups(const std::vector<bool>& wanted) const {
    std::vector<std::vector<int>> result;
    for (const std::vector<int>& members : members_)
      if (!members.empty() && wanted[members[0]]) result.push_back(members);
    for (std::vector<int>& members : result) std::sort(members.begin(), members.end());
    std::sort(result.begin(), result.end());
    return result;
  }

 private:
  // `b` reads `a`. Not where another group or node lies on a path between them: it would come before and
  // after both. (No path leads from `b` to `a`.)
  void join(int a, int b) {
    if (a == b || leads_around(a, b)) return;
    if (members_[a].size() < members_[b].size()) std::swap(a, b);
    for (int node : members_[b]) {
      group_[node] = a;
      members_[a].push_back(node);
    }
    members_[b].clear();
  }

  // Is there a path from group `from` to group `to` through others?
  bool leads_around(int from, int to) const {
    const int last = *std::max_element(members_[to].begin(), members_[to].end());
    std::vector<bool> seen(members_.size());
    std::vector<int> waiting;
    const auto visit = [&](int group) {
      if (seen[group] || *std::min_element(members_[group].begin(), members_[group].end()) > last) return;
      seen[group] = true;
      waiting.push_back(group);
    };
    for (int node : members_[from])
      for (int consumer : consumers_[node])
        if (group_[consumer] != from && group_[consumer] != to) visit(group_[consumer]);
    while (!waiting.empty()) {
      const int group = waiting.back();
      waiting.pop_back();
      for (int node : members_[group]) {
        for (int consumer : consumers_[node]) {
          if (group_[consumer] == to) return true;
          visit(group_[consumer]);
        }
      }
    }
    return false;
  }

  std::vector<std::vector<int>> consumers_;
  std::vector<int> group_;                 // per node, a number of members_
  std::vector<std::vector<int>> members_;  // empty where it was joined to another
};

}  // namespace

std::vector<std::vector<int>> convex_groups(const std::vector<std::vector<int>>& producers,
                                            const std::vector<bool>& wanted) {
  return Grouping(producers, wanted).groups(wanted);
}

}  // namespace korch::ort
