#include "korch/search/strategy.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "korch/ir/loops.h"

namespace korch {
namespace {

bool is_constant_node(const Graph& graph, NodeId id) {
  return info(graph.node(id).op).category == Category::constant;
}

bool is_memory_bound(const Graph& graph, NodeId id) {
  const Category category = info(graph.node(id).op).category;
  return category != Category::linear && category != Category::opaque && category != Category::constant;
}

std::vector<bool> graph_outputs(const Graph& graph) {
  std::vector<bool> is_output(graph.value_count(), false);
  for (ValueId output : graph.outputs()) is_output[output] = true;
  return is_output;
}

// The candidate made of these nodes with every output that is needed outside; of a loop's end with all.
Candidate closed_candidate(const Graph& graph, const std::vector<bool>& is_graph_output,
                           const std::vector<NodeId>& nodes) {
  const std::unordered_set<NodeId> inside(nodes.begin(), nodes.end());
  std::vector<ValueId> outputs;
  for (NodeId id : nodes) {
    for (ValueId output : graph.node(id).outputs) {
      const auto& users = graph.value(output).users;
      const bool outside = is_loop_end(graph.node(id).op) || is_graph_output[output] ||
                           std::any_of(users.begin(), users.end(), [&](NodeId user) {
                             return !graph.node(user).dead && inside.count(user) == 0;
                           });
      if (outside) outputs.push_back(output);
    }
  }
  return make_candidate(graph, nodes, outputs);
}

// Nodes that become one kernel.
struct Group {
  std::vector<NodeId> nodes;
  bool linear = false, opaque = false;  // some node is
  bool pointwise = false;               // every node is elementwise over one shape
  std::set<Shape> reads;                // where pointwise: the other shapes that are read, one element aside
  bool is_asked = true;                 // of all its nodes whether they have a kernel
};

// Groups of nodes by union. Only the last node of a group is read by other groups: a group joins another one
// only where that is the only one to read it. So groups are convex and can be scheduled, whatever is joined.
class Grouping {
 public:
  // Whether a merge with a doubtful node has a kernel is always asked.
  Grouping(const Graph& graph, const HasKernel& has_kernel, const GreedyOptions& options,
           const std::vector<bool>& is_doubtful)
      : graph_(graph),
        loops_(graph),
        has_kernel_(has_kernel),
        is_doubtful_(is_doubtful),
        max_primitives_(static_cast<size_t>(options.max_primitives)),
        is_graph_output_(graph_outputs(graph)),
        group_of_(graph.node_count(), kNoId),
        groups_(graph.node_count()) {
    for (NodeId id = 0; id < graph.node_count(); ++id) {
      if (graph.node(id).dead || is_constant_node(graph, id)) continue;
      group_of_[id] = id;
      groups_[id] = single(id);
    }
  }

  // Tries to merge `producer`'s group with the one of its only consumer; false when the result is not legal.
  bool merge(NodeId producer, NodeId consumer) {
    const NodeId a = group_of_[producer], b = group_of_[consumer];
    Group& from = groups_[a];
    Group& to = groups_[b];
    if (loops_.of_node(producer) != loops_.of_node(consumer)) return false;
    if (a == b || (from.linear && to.linear) || from.opaque || to.opaque) return false;
    if (from.nodes.size() + to.nodes.size() > max_primitives_) {
      ++refused_for_size_;
      return false;
    }
    const bool pointwise = from.pointwise && to.pointwise && shape(producer) == shape(consumer);
    const bool is_sure = pointwise && !is_doubtful_[producer] && !is_doubtful_[consumer] &&
                         (adds_nothing_new(from, to) || adds_nothing_new(to, from));
    std::vector<NodeId> nodes = to.nodes;
    nodes.insert(nodes.end(), from.nodes.begin(), from.nodes.end());
    if (!is_sure && !has_kernel_(closed_candidate(graph_, is_graph_output_, nodes))) return false;
    for (NodeId node : from.nodes) group_of_[node] = b;
    to.nodes = std::move(nodes);
    to.linear = to.linear || from.linear;
    to.pointwise = pointwise;
    to.is_asked = !is_sure;
    to.reads.merge(from.reads);
    from = {};
    return true;
  }

  // The only group, other than its own, that uses the node's results, as one of its nodes; kNoId when there
  // are none or several.
  NodeId only_consumer(NodeId id) const {
    NodeId consumer = kNoId;
    for (ValueId output : graph_.node(id).outputs) {
      if (is_graph_output_[output]) return kNoId;
      for (NodeId user : graph_.value(output).users) {
        if (graph_.node(user).dead || group_of_[user] == group_of_[id]) continue;
        if (consumer != kNoId && group_of_[consumer] != group_of_[user]) return kNoId;
        consumer = user;
      }
    }
    return consumer;
  }

  // Of the groups that nobody asked about, those without a kernel after all (one that was struck).
  std::vector<NodeId> nodes_without_kernel() const {
    std::vector<NodeId> nodes;
    for (const Group& group : groups_)
      if (!group.is_asked && !has_kernel_(closed_candidate(graph_, is_graph_output_, group.nodes)))
        nodes.insert(nodes.end(), group.nodes.begin(), group.nodes.end());
    return nodes;
  }

  Enumeration finish() const {
    Enumeration result;
    for (const Group& group : groups_)
      if (!group.nodes.empty())
        result.candidates.push_back(closed_candidate(graph_, is_graph_output_, group.nodes));
    if (refused_for_size_ > 0) result.pruned["greedy_group_size"] = refused_for_size_;
    return result;
  }

 private:
  const Shape& shape(NodeId id) const { return graph_.value(graph_.node(id).outputs[0]).type.shape; }

  Group single(NodeId id) const {
    const Node& node = graph_.node(id);
    const Category category = info(node.op).category;
    Group group{{id}, category == Category::linear, category == Category::opaque, false, {}, true};
    const auto small = [&](ValueId value) { return is_small_float(graph_.value(value).type.dtype); };
    group.pointwise = category == Category::elementwise && !small(node.outputs[0]) &&
                      std::none_of(node.inputs.begin(), node.inputs.end(), small);
    for (ValueId input : node.inputs) {
      const TensorType& type = graph_.value(input).type;
      if (group.pointwise && type.shape != shape(id) && type.elements() != 1) group.reads.insert(type.shape);
    }
    return group;
  }

  // Whether a loop nest that exists for `known`, of several nodes, exists with `more` as well: another
  // operation per element changes nothing about its loops where it reads memory in no other way.
  static bool adds_nothing_new(const Group& more, const Group& known) {
    return known.nodes.size() > 1 &&
           std::includes(known.reads.begin(), known.reads.end(), more.reads.begin(), more.reads.end());
  }

  const Graph& graph_;
  const Loops loops_;
  const HasKernel& has_kernel_;
  const std::vector<bool>& is_doubtful_;
  const size_t max_primitives_;
  const std::vector<bool> is_graph_output_;
  std::vector<NodeId> group_of_;  // of each node: the last node of its group
  std::vector<Group> groups_;     // by last node
  int refused_for_size_ = 0;
};

}  // namespace

std::vector<Candidate> unfused_candidates(const Graph& graph) {
  std::vector<Candidate> result;
  const std::vector<bool> is_graph_output = graph_outputs(graph);
  for (NodeId id : graph.topological_order())
    if (!is_constant_node(graph, id)) result.push_back(closed_candidate(graph, is_graph_output, {id}));
  return result;
}

namespace {

void merge_greedily(const Graph& graph, const std::vector<NodeId>& order, Grouping& groups) {
  // Epilogues first: a linear primitive takes the chain of its only consumers.
  for (NodeId id : order) {
    if (info(graph.node(id).op).category != Category::linear) continue;
    for (NodeId last = id;;) {
      const NodeId consumer = groups.only_consumer(last);
      if (consumer == kNoId || !is_memory_bound(graph, consumer) || !groups.merge(last, consumer)) break;
      last = consumer;
    }
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!is_memory_bound(graph, *it)) continue;
    const NodeId consumer = groups.only_consumer(*it);
    if (consumer != kNoId && is_memory_bound(graph, consumer)) groups.merge(*it, consumer);
  }
}

}  // namespace

Enumeration greedy_candidates(const Graph& graph, const HasKernel& has_kernel, const GreedyOptions& options) {
  const std::vector<NodeId> order = graph.topological_order();
  std::vector<bool> is_doubtful(graph.node_count(), false);
  for (;;) {
    Grouping groups(graph, has_kernel, options, is_doubtful);
    merge_greedily(graph, order, groups);
    const std::vector<NodeId> without_kernel = groups.nodes_without_kernel();
    if (without_kernel.empty()) return groups.finish();
    for (NodeId node : without_kernel) is_doubtful[node] = true;
  }
}

}  // namespace korch
