#include "korch/groups/savings.h"

#include <algorithm>
#include <set>

#include "korch/ir/index_map.h"

namespace korch::groups {

double Savings::move_us(ValueId value) const {
  const auto bytes = static_cast<double>(graph_.value(value).type.bytes());
  for (const MemoryLevel& level : device_.memory)
    // What a thread block has for itself is gone with it.
    if ((level.is_shared || !device_.is_gpu()) &&
        (level.bytes == 0 ||
         static_cast<double>(level.bytes) * (level.is_shared ? 1 : device_.workers) >= bytes))
      return bytes / level.bytes_per_us;
  return bytes / device_.memory.back().bytes_per_us;
}

double Savings::fused_us(const NodeSet& set) const {
  double flops = 0, memory_us = move_us(sets_.result(set));
  std::set<ValueId> read;
  for (NodeId id : set) {
    const Node& node = graph_.node(id);
    for (ValueId input : node.inputs)
      if (!NodeSets::contains(set, linked_.maker(input))) read.insert(input);
    if (linked_.part(id) != Part::linear) continue;
    const IndexMaps maps = index_maps(graph_, node);
    flops += 2.0 * static_cast<double>(element_count(maps.result) * element_count(maps.taps));
  }
  for (ValueId value : read) memory_us += move_us(value);
  return std::max(memory_us, flops / device_.flops_per_us);
}

std::set<ValueId> Savings::stored_in(const NodeSet& set, const std::vector<Link>& links) const {
  std::set<ValueId> stored;
  for (const Link& link : links)
    if (NodeSets::contains(set, link.from) && NodeSets::contains(set, link.to) &&
        (link.meet == kNoId || NodeSets::contains(set, link.meet)))
      stored.insert(link.stored);
  std::set<NodeId> combined;
  for (NodeId id : linked_.in_order(set)) {
    const Node& node = graph_.node(id);
    bool follows = linked_.is_core(id);
    for (ValueId input : node.inputs) follows = follows || combined.contains(linked_.maker(input));
    if (follows)
      combined.insert(id);
    else if (info(node.op).category == Category::elementwise && linked_.readers(node.outputs[0]).size() > 1)
      stored.insert(node.outputs[0]);
  }
  return stored;
}

int Savings::kernels_that_read(ValueId input, const NodeSet& set, const std::set<ValueId>& stored) const {
  int products = 0, reductions = 0;
  std::set<NodeId> seen;
  std::vector<ValueId> open = {input};
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    for (NodeId reader : linked_.readers(value)) {
      if (!NodeSets::contains(set, reader) || !seen.insert(reader).second) continue;
      const ValueId made = graph_.node(reader).outputs[0];
      if (linked_.part(reader) == Part::linear)
        ++products;
      else if (linked_.part(reader) == Part::reduction)
        reductions = 1;
      else if (!stored.contains(made))
        open.push_back(made);
    }
  }
  return products + reductions;
}

double Savings::saved_us(const NodeSet& set, const std::vector<Link>& links) const {
  const std::set<ValueId> stored = stored_in(set, links);
  double us = 0;
  for (ValueId value : stored) {
    const auto readers = static_cast<double>(linked_.readers(value).size());
    us += sets_.is_read_outside(value, set) ? move_us(value) / readers : 2 * move_us(value);
  }
  std::set<ValueId> read;
  for (NodeId id : set)
    for (ValueId input : graph_.node(id).inputs)
      if (!NodeSets::contains(set, linked_.maker(input)) && graph_.constant(input) == nullptr)
        read.insert(input);
  for (ValueId value : read) us += std::max(0, kernels_that_read(value, set, stored) - 1) * move_us(value);
  return us;
}

}  // namespace korch::groups
