#include "korch/groups/links.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

#include "korch/groups/group_axes.h"
#include "korch/tensor/element.h"

namespace korch::groups {
namespace {

// Where so many nodes follow from the first ones before the last ones, or lead to those, the ends are far
// apart in a wide network, and it is not looked at what is between them.
constexpr size_t kWidest = 1000;

// Padding times what is no number would be none; a convolution leaves it out.
bool has_finite_weights(const Graph& graph, const Node& node) {
  const HostTensor* weights = graph.constant(node.inputs[1]);
  if (weights == nullptr) return false;
  for (int64_t i = 0; i < weights->elements(); ++i)
    if (!std::isfinite(element_as_double(*weights, i))) return false;
  return true;
}

Part part_of(const Graph& graph, const Node& node) {
  const DType type = graph.value(node.outputs[0]).type.dtype;
  const Category category = info(node.op).category;
  if (category == Category::elementwise && node.op != Op::Cast) return Part::free;
  if (category == Category::layout) return keeps_axes(graph, node) ? Part::free : Part::mixing;
  if (type != DType::f32 || node.inputs.empty() || graph.value(node.inputs[0]).type.dtype != DType::f32)
    return Part::obstacle;
  if (node.op == Op::MatMul || (is_term_convolution(graph, node) && has_finite_weights(graph, node)))
    return Part::linear;
  return category == Category::reduce ? Part::reduction : Part::obstacle;
}

}  // namespace

LinkedGraph::LinkedGraph(const Graph& graph)
    : graph_(graph),
      loops_(graph),
      places_(graph.node_count(), 0),
      parts_(graph.node_count(), Part::obstacle),
      makers_(graph.value_count(), kNoId),
      readers_(graph.value_count()),
      outputs_(graph.value_count(), false) {
  std::vector<NodeId> open;
  std::unordered_set<NodeId> needed;
  const auto need = [&](ValueId value) {
    if (graph.constant(value) != nullptr || makers_[value] != kNoId) return;
    for (NodeId producer : graph.value(value).producers) {
      if (graph.node(producer).dead) continue;
      for (ValueId output : graph.node(producer).outputs)
        if (makers_[output] == kNoId) makers_[output] = producer;
      if (needed.insert(producer).second) open.push_back(producer);
      return;
    }
  };
  for (ValueId output : graph.outputs()) {
    outputs_[output] = true;
    need(output);
  }
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    for (ValueId input : graph.node(id).inputs) need(input);
  }
  for (NodeId id : graph.topological_order()) {
    if (!needed.contains(id)) continue;
    places_[id] = nodes_.size();
    nodes_.push_back(id);
    parts_[id] = part_of(graph, graph.node(id));
    for (ValueId input : graph.node(id).inputs)
      if (readers_[input].empty() || readers_[input].back() != id) readers_[input].push_back(id);
  }
}

std::vector<NodeId> LinkedGraph::reached(const std::vector<NodeId>& nodes, bool forward, size_t limit,
                                         size_t most) const {
  std::set<NodeId> seen(nodes.begin(), nodes.end());
  std::vector<NodeId> open = nodes;
  const auto visit = [&](NodeId next) {
    if (next == kNoId || (forward ? places_[next] > limit : places_[next] < limit)) return;
    if (seen.insert(next).second) open.push_back(next);
  };
  while (!open.empty() && seen.size() <= most) {
    const Node& node = graph_.node(open.back());
    open.pop_back();
    if (forward)
      for (ValueId output : node.outputs)
        for (NodeId reader : readers_[output]) visit(reader);
    else
      for (ValueId input : node.inputs) visit(makers_[input]);
  }
  return {seen.begin(), seen.end()};
}

std::vector<NodeId> LinkedGraph::in_order(std::vector<NodeId> nodes) const {
  std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) { return places_[a] < places_[b]; });
  return nodes;
}

std::vector<NodeId> LinkedGraph::closure(const std::vector<NodeId>& nodes, int most) const {
  const std::vector<NodeId> ordered = in_order(nodes);
  const NodeId first = ordered.front(), last = ordered.back();
  const std::vector<NodeId> after = reached(nodes, true, places_[last], kWidest);
  const std::vector<NodeId> before = reached(nodes, false, places_[first], kWidest);
  if (after.size() > kWidest || before.size() > kWidest) return {};
  std::vector<NodeId> result;
  std::set_intersection(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(result));
  if (static_cast<int>(result.size()) > most) return {};
  return in_order(std::move(result));
}

std::vector<NodeId> LinkedGraph::sources(ValueId operand, int most) const {
  std::vector<NodeId> found, level = {makers_[operand]};
  std::set<NodeId> seen;
  for (int depth = 0; depth <= most && !level.empty(); ++depth) {
    std::vector<NodeId> next;
    for (NodeId maker : level) {
      if (maker == kNoId || !seen.insert(maker).second) continue;
      if (is_core(maker)) found.push_back(maker);
      if (parts_[maker] != Part::free) continue;
      for (ValueId input : graph_.node(maker).inputs) next.push_back(makers_[input]);
    }
    level = std::move(next);
  }
  return found;
}

bool LinkedGraph::leads_to(NodeId from, NodeId to) const {
  const std::vector<NodeId> after = reached({from}, true, places_[to], kWidest);
  return after.size() > kWidest || std::binary_search(after.begin(), after.end(), to);
}

std::vector<Link> LinkedGraph::meetings_at(NodeId id, int most) const {
  std::vector<Link> links;
  const std::vector<ValueId>& inputs = graph_.node(id).inputs;
  const auto bytes_of = [&](NodeId node) { return graph_.value(graph_.node(node).outputs[0]).type.bytes(); };
  const auto is_linear = [&](NodeId node) { return parts_[node] == Part::linear; };
  if (inputs.size() < 2 || parts_[id] != Part::free) return links;
  std::vector<std::vector<NodeId>> all;
  for (ValueId input : inputs) all.push_back(sources(input, most));
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      for (NodeId a : all[j])
        for (NodeId b : all[i]) {
          if (a == b || !(is_linear(a) || is_linear(b)) || leads_to(a, b) || leads_to(b, a)) continue;
          // The kernel of one of them reads what the other's stored.
          const bool first = !is_linear(b) || (is_linear(a) && bytes_of(a) < bytes_of(b));
          links.push_back({a, b, id, graph_.node(first ? a : b).outputs[0]});
        }
  return links;
}

std::vector<Link> LinkedGraph::links_to(NodeId id, int most) const {
  if (!is_core(id)) return meetings_at(id, most);
  std::vector<Link> links;
  for (ValueId input : graph_.node(id).inputs)
    for (NodeId from : sources(input, most)) {
      const bool product = parts_[from] == Part::linear;
      const ValueId stored = product ? graph_.node(from).outputs[0] : input;
      links.push_back({from, id, kNoId, product || parts_[id] == Part::linear ? stored : kNoId});
    }
  return links;
}

}  // namespace korch::groups
