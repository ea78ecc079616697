#include "korch/solve/separate.h"

#include <algorithm>
#include <tuple>

namespace korch {
namespace {

constexpr double kNone = 1e-7;       // flows below are rounding
constexpr double kViolation = 1e-3;  // worth a row

// Maximum flow (Dinic) between nodes; capacities are reset between targets.
class Flow {
 public:
  explicit Flow(int nodes) : edges_of_(nodes), level_(nodes), next_(nodes) {}

  void add_edge(int from, int to, double capacity) {
    edges_of_[from].push_back(static_cast<int>(edges_.size()));
    edges_.push_back({to, capacity, capacity, 0});
    edges_of_[to].push_back(static_cast<int>(edges_.size()));
    edges_.push_back({from, 0, 0, 0});
  }

  void reset() {
    for (Edge& edge : edges_) edge.allowed = edge.capacity;
  }

  // Edges into the set no longer limit, until the next reset: the next cut is another one. False when there
  // was none left to open.
  bool open_entries(const std::vector<bool>& inside) {
    bool opened = false;
    for (size_t e = 0; e < edges_.size(); e += 2) {
      if (!inside[edges_[e].to] || inside[edges_[e + 1].to] || edges_[e].allowed == 1) continue;
      edges_[e].allowed = 1;
      opened = true;
    }
    return opened;
  }

  // At most `limit`.
  double run(int source, int sink, double limit) {
    for (Edge& edge : edges_) edge.left = edge.allowed;
    double total = 0;
    while (total < limit - kNone && find_levels(source, sink)) {
      std::fill(next_.begin(), next_.end(), 0);
      while (total < limit - kNone) {
        const double more = push(source, sink, limit - total);
        if (more <= kNone) break;
        total += more;
      }
    }
    return total;
  }

  // After run: from where the sink can still be reached, or what the source can still reach.
  std::vector<bool> reaching(int sink) const { return spread(sink, true); }
  std::vector<bool> reached(int source) const { return spread(source, false); }

 private:
  struct Edge {
    int to;
    double capacity, allowed, left;
  };

  bool find_levels(int source, int sink) {
    std::fill(level_.begin(), level_.end(), -1);
    std::vector<int> queue = {source};
    level_[source] = 0;
    for (size_t at = 0; at < queue.size() && level_[sink] < 0; ++at)
      for (const int e : edges_of_[queue[at]])
        if (edges_[e].left > kNone && level_[edges_[e].to] < 0) {
          level_[edges_[e].to] = level_[queue[at]] + 1;
          queue.push_back(edges_[e].to);
        }
    return level_[sink] >= 0;
  }

  double push(int node, int sink, double amount) {
    if (node == sink) return amount;
    for (int& i = next_[node]; i < static_cast<int>(edges_of_[node].size()); ++i) {
      const int e = edges_of_[node][i];
      if (edges_[e].left <= kNone || level_[edges_[e].to] != level_[node] + 1) continue;
      const double sent = push(edges_[e].to, sink, std::min(amount, edges_[e].left));
      if (sent <= kNone) continue;
      edges_[e].left -= sent;
      edges_[e ^ 1].left += sent;
      return sent;
    }
    return 0;
  }

  std::vector<bool> spread(int from, bool backwards) const {
    std::vector<bool> marked(edges_of_.size());
    std::vector<int> queue = {from};
    marked[from] = true;
    for (size_t at = 0; at < queue.size(); ++at)
      for (const int e : edges_of_[queue[at]]) {
        if (marked[edges_[e].to] || edges_[backwards ? e ^ 1 : e].left <= kNone) continue;
        marked[edges_[e].to] = true;
        queue.push_back(edges_[e].to);
      }
    return marked;
  }

  std::vector<Edge> edges_;  // each followed by its reverse
  std::vector<std::vector<int>> edges_of_;
  std::vector<int> level_, next_;
};

std::vector<int> members(const std::vector<bool>& inside, int count) {
  std::vector<int> nodes;
  for (int node = 0; node < count; ++node)
    if (inside[node]) nodes.push_back(node);
  return nodes;
}

std::vector<bool> invert(std::vector<bool> marked) {
  marked.flip();
  return marked;
}

}  // namespace

std::vector<EntrySet> violated_entries(const Network& network,
                                       const std::vector<std::vector<double>>& first_maker,
                                       std::span<const double> made, const std::vector<int>& targets,
                                       TieRule ties) {
  const int source = network.node_count;
  Flow flow(network.node_count + 1);
  for (size_t a = 0; a < network.arcs.size(); ++a) {
    const Arc& arc = network.arcs[a];
    int from = source;
    for (const int input : arc.inputs)
      if (from == source || made[input] < made[from] || (ties == TieRule::last && made[input] == made[from]))
        from = input;
    for (size_t i = 0; i < arc.outputs.size(); ++i)
      if (first_maker[a][i] > kNone) flow.add_edge(from, arc.outputs[i], first_maker[a][i]);
  }
  std::vector<EntrySet> sets;
  for (const int target : targets) {
    flow.reset();
    bool opened = true;
    while (opened && flow.run(source, target, made[target]) < made[target] - kViolation) {
      opened = false;
      for (const std::vector<bool>& inside : {flow.reaching(target), invert(flow.reached(source))}) {
        sets.push_back({target, members(inside, network.node_count)});
        opened = flow.open_entries(inside) || opened;
      }
    }
  }
  std::sort(sets.begin(), sets.end(), [](const EntrySet& a, const EntrySet& b) {
    return std::tie(a.inside, a.target) < std::tie(b.inside, b.target);
  });
  sets.erase(std::unique(sets.begin(), sets.end(),
                         [](const EntrySet& a, const EntrySet& b) { return a.inside == b.inside; }),
             sets.end());
  return sets;
}

}  // namespace korch
