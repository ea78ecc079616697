#include "korch/driver/strategy.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace korch {
namespace {

bool is_constant_node(const Graph& graph, NodeId id) {
  return info(graph.node(id).op).category == Category::constant;
}

// The candidate made of these nodes with every output that is needed outside.
Candidate closed_candidate(const Graph& graph, const std::vector<NodeId>& nodes) {
  const std::set<NodeId> inside(nodes.begin(), nodes.end());
  std::vector<ValueId> outputs;
  for (NodeId id : nodes) {
    for (ValueId output : graph.node(id).outputs) {
      const auto& users = graph.value(output).users;
      const bool outside = std::count(graph.outputs().begin(), graph.outputs().end(), output) != 0 ||
                           std::any_of(users.begin(), users.end(), [&](NodeId user) {
                             return !graph.node(user).dead && inside.count(user) == 0;
                           });
      if (outside) outputs.push_back(output);
    }
  }
  return make_candidate(graph, nodes, outputs);
}

// Groups of nodes by union, with the checks that a merged group is one legal kernel.
class Grouping {
 public:
  explicit Grouping(const Graph& graph)
      : graph_(graph), order_(graph.topological_order()), group_of_(graph.node_count(), kNoId) {
    for (NodeId id : order_)
      if (!is_constant_node(graph, id)) {
        group_of_[id] = id;
        members_[id] = {id};
      }
  }

  // Tries to merge `producer`'s group with `consumer`'s; false when the result is not legal.
  bool merge(NodeId producer, NodeId consumer, const std::function<bool(const Candidate&)>& has_kernel) {
    const NodeId a = group_of_[producer], b = group_of_[consumer];
    if (a == b || linear_count(a) + linear_count(b) > 1 || has_opaque(a) || has_opaque(b)) return false;
    std::vector<NodeId> nodes = members_[a];
    nodes.insert(nodes.end(), members_[b].begin(), members_[b].end());
    if (!is_convex(nodes) || !has_kernel(closed_candidate(graph_, nodes))) return false;
    for (NodeId node : members_[a]) group_of_[node] = b;
    members_.erase(a);
    members_[b] = std::move(nodes);
    return true;
  }

  std::vector<Candidate> candidates() const {
    std::vector<Candidate> result;
    for (const auto& [group, nodes] : members_) result.push_back(closed_candidate(graph_, nodes));
    return result;
  }

  int linear_count(NodeId group) const { return count(group, Category::linear); }
  bool has_opaque(NodeId group) const { return count(group, Category::opaque) > 0; }
  NodeId group_of(NodeId node) const { return group_of_[node]; }

 private:
  int count(NodeId group, Category category) const {
    const auto& nodes = members_.at(group);
    return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) {
      return info(graph_.node(id).op).category == category;
    }));
  }

  // No path leaves the set and comes back; at the level of groups, so that the partition stays schedulable.
  bool is_convex(const std::vector<NodeId>& nodes) const {
    const std::set<NodeId> inside(nodes.begin(), nodes.end());
    std::set<NodeId> seen_groups;
    std::vector<NodeId> stack;
    auto visit_users = [&](NodeId id) {
      for (ValueId output : graph_.node(id).outputs)
        for (NodeId user : graph_.value(output).users)
          if (!graph_.node(user).dead && inside.count(user) == 0 &&
              seen_groups.insert(group_of_[user]).second)
            stack.push_back(group_of_[user]);
    };
    for (NodeId id : nodes) visit_users(id);
    while (!stack.empty()) {
      const NodeId group = stack.back();
      stack.pop_back();
      for (NodeId id : members_.at(group)) {
        for (ValueId output : graph_.node(id).outputs)
          for (NodeId user : graph_.value(output).users)
            if (!graph_.node(user).dead && inside.count(user) != 0) return false;
        visit_users(id);
      }
    }
    return true;
  }

  const Graph& graph_;
  std::vector<NodeId> order_;
  std::vector<NodeId> group_of_;
  std::map<NodeId, std::vector<NodeId>> members_;
};

// The only group, other than its own, that uses the node's results; kNoId when there are none or several.
NodeId only_consumer(const Graph& graph, const Grouping& groups, NodeId id) {
  NodeId consumer = kNoId;
  for (ValueId output : graph.node(id).outputs) {
    if (std::count(graph.outputs().begin(), graph.outputs().end(), output) != 0) return kNoId;
    for (NodeId user : graph.value(output).users) {
      if (graph.node(user).dead || groups.group_of(user) == groups.group_of(id)) continue;
      if (consumer != kNoId && groups.group_of(consumer) != groups.group_of(user)) return kNoId;
      consumer = user;
    }
  }
  return consumer;
}

}  // namespace

const char* name(Strategy strategy) {
  switch (strategy) {
    case Strategy::optimal:
      return "optimal";
    case Strategy::published:
      return "published";
    case Strategy::greedy:
      return "greedy";
    case Strategy::unfused:
      return "unfused";
    case Strategy::random:
      return "random";
  }
  __builtin_unreachable();
}

EnumerateOptions published_kernels() {
  EnumerateOptions options;
  options.max_outputs = 1;
  options.max_linear = 0;  // of a set of several
  return options;
}

std::vector<Candidate> unfused_candidates(const Graph& graph) {
  std::vector<Candidate> result;
  for (NodeId id : graph.topological_order())
    if (!is_constant_node(graph, id)) result.push_back(closed_candidate(graph, {id}));
  return result;
}

std::vector<Candidate> greedy_candidates(const Graph& graph,
                                         const std::function<bool(const Candidate&)>& has_kernel) {
  Grouping groups(graph);
  const std::vector<NodeId> order = graph.topological_order();
  auto is_memory_bound = [&](NodeId id) {
    const Category category = info(graph.node(id).op).category;
    return category != Category::linear && category != Category::opaque && category != Category::constant;
  };
  // Epilogues first: a linear primitive takes the chain of its only consumers.
  for (NodeId id : order) {
    if (info(graph.node(id).op).category != Category::linear) continue;
    for (NodeId last = id;;) {
      const NodeId consumer = only_consumer(graph, groups, last);
      if (consumer == kNoId || !is_memory_bound(consumer) || !groups.merge(last, consumer, has_kernel)) break;
      last = consumer;
    }
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!is_memory_bound(*it)) continue;
    const NodeId consumer = only_consumer(graph, groups, *it);
    if (consumer != kNoId && is_memory_bound(consumer)) groups.merge(*it, consumer, has_kernel);
  }
  return groups.candidates();
}

}  // namespace korch
