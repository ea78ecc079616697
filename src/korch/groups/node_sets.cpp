#include "korch/groups/node_sets.h"

#include <algorithm>
#include <set>

#include "korch/groups/group_axes.h"

namespace korch::groups {

bool NodeSets::contains(const NodeSet& set, NodeId id) {
  return std::find(set.begin(), set.end(), id) != set.end();
}

int NodeSets::size(const NodeSet& set) const {
  return static_cast<int>(std::count_if(set.begin(), set.end(), [&](NodeId id) {
    return info(graph_.node(id).op).category != Category::layout;
  }));
}

bool NodeSets::has_room(const NodeSet& set) const {
  return size(set) < options_.most_primitives && static_cast<int>(set.size()) < kMostNodes;
}

bool NodeSets::is_read_outside(ValueId value, const NodeSet& set) const {
  const std::vector<NodeId>& readers = linked_.readers(value);
  return linked_.is_output(value) ||
         std::any_of(readers.begin(), readers.end(), [&](NodeId id) { return !contains(set, id); });
}

std::vector<NodeId> NodeSets::sinks(const NodeSet& set) const {
  std::vector<NodeId> sinks;
  for (NodeId id : set) {
    const std::vector<NodeId>& readers = linked_.readers(graph_.node(id).outputs[0]);
    if (std::none_of(readers.begin(), readers.end(), [&](NodeId r) { return contains(set, r); }))
      sinks.push_back(id);
  }
  return sinks;
}

std::optional<Dropped> NodeSets::too_much(const NodeSet& set) const {
  if (set.empty() || size(set) > options_.most_primitives) return Dropped::size;
  int linear = 0;
  const auto any = [&](auto is) {
    return std::any_of(set.begin(), set.end(), [&](NodeId id) { return is(graph_, graph_.node(id)); });
  };
  // Kernels of families compute images by rows and columns as well as one that has no window to fuse.
  if (any(is_term_convolution) && !any(is_depthwise)) return Dropped::obstacle;
  for (NodeId id : set) {
    if (linked_.part(id) == Part::obstacle || linked_.part(id) == Part::mixing ||
        linked_.loop(id) != linked_.loop(set[0]))
      return Dropped::obstacle;
    linear += linked_.part(id) == Part::linear ? 1 : 0;
  }
  return linear > options_.most_linear ? std::optional(Dropped::linear) : std::nullopt;
}

// What is made of a product of the set, the sink not among them, would be computed twice.
bool NodeSets::is_needed_outside(const NodeSet& set, NodeId sink) const {
  std::set<NodeId> costly;
  for (NodeId id : linked_.in_order(set)) {
    bool follows = linked_.part(id) == Part::linear;
    for (ValueId input : graph_.node(id).inputs) follows = follows || costly.contains(linked_.maker(input));
    if (follows) costly.insert(id);
    if (follows && id != sink && is_read_outside(graph_.node(id).outputs[0], set)) return true;
  }
  return false;
}

std::optional<Dropped> NodeSets::broken(const NodeSet& set) const {
  if (const std::optional<Dropped> rule = too_much(set)) return rule;
  const std::vector<NodeId> ends = sinks(set);
  if (ends.size() != 1) return Dropped::sinks;
  if (is_needed_outside(set, ends[0])) return Dropped::needed_outside;
  return std::nullopt;
}

NodeSet NodeSets::with_reduction(const NodeSet& set, NodeId reduction) const {
  NodeSet all = set;
  all.push_back(reduction);
  all = closure(all);
  if (too_much(all)) return {};
  const std::vector<NodeId> ends = sinks(all);
  const bool is_private = std::all_of(all.begin(), all.end(), [&](NodeId id) {
    return id == ends[0] || contains(set, id) || !is_read_outside(graph_.node(id).outputs[0], all);
  });
  return ends.size() == 1 && is_private ? all : NodeSet{};
}

NodeSet NodeSets::with_reductions(NodeSet set,
                                  const std::map<NodeId, std::vector<NodeId>>& reductions_to) const {
  for (size_t i = 0; i < set.size(); ++i) {
    const auto found = reductions_to.find(set[i]);
    if (found == reductions_to.end()) continue;
    for (NodeId from : found->second) {
      NodeSet larger = contains(set, from) ? NodeSet{} : with_reduction(set, from);
      if (larger.empty()) continue;
      set = std::move(larger);
      i = static_cast<size_t>(-1);  // from the beginning
      break;
    }
  }
  return set;
}

bool NodeSets::reads(const NodeSet& set, ValueId value) const {
  const std::vector<NodeId>& readers = linked_.readers(value);
  return contains(set, linked_.maker(value)) ||
         std::any_of(readers.begin(), readers.end(), [&](NodeId id) { return contains(set, id); });
}

NodeSet NodeSets::with_shared_operands(NodeSet set) const {
  const auto taken = [&](ValueId input) {
    const NodeId maker = linked_.maker(input);
    if (maker == kNoId || contains(set, maker) || linked_.part(maker) != Part::free ||
        is_read_outside(input, set) || is_an_epilogue(maker))
      return false;
    const std::vector<ValueId> of = varying_operands(graph_.node(maker));
    return linked_.readers(input).size() > 1 || is_of_one_value(linked_.readers(input)[0]) ||
           std::all_of(of.begin(), of.end(), [&](ValueId value) { return reads(set, value); });
  };
  for (size_t i = 0; i < set.size() && has_room(set); ++i) {
    const std::vector<ValueId>& inputs = graph_.node(set[i]).inputs;
    const auto input = std::find_if(inputs.begin(), inputs.end(), taken);
    if (input == inputs.end()) continue;
    set.insert(set.begin(), linked_.maker(*input));
    i = static_cast<size_t>(-1);
  }
  return set;
}

std::vector<ValueId> NodeSets::varying_operands(const Node& node) const {
  std::vector<ValueId> varying;
  for (ValueId input : node.inputs)
    if (graph_.constant(input) == nullptr &&
        std::find(varying.begin(), varying.end(), input) == varying.end())
      varying.push_back(input);
  return varying;
}

bool NodeSets::is_of_one_value(NodeId id) const {
  const Node& node = graph_.node(id);
  return (linked_.part(id) == Part::free || linked_.part(id) == Part::mixing) &&
         graph_.value(node.outputs[0]).type.dtype == DType::f32 && varying_operands(node).size() == 1;
}

bool NodeSets::is_an_epilogue(NodeId id) const {
  const int64_t elements = graph_.value(graph_.node(id).outputs[0]).type.elements();
  NodeSet seen = {id};
  for (size_t i = 0; i < seen.size() && i < static_cast<size_t>(kMostNodes); ++i) {
    const Node& node = graph_.node(seen[i]);
    if (info(node.op).category == Category::linear) return true;
    if (linked_.part(seen[i]) != Part::free && linked_.part(seen[i]) != Part::mixing) continue;
    for (ValueId input : node.inputs)
      if (const NodeId maker = linked_.maker(input);
          maker != kNoId && !contains(seen, maker) && graph_.value(input).type.elements() >= elements)
        seen.push_back(maker);
  }
  return false;
}

NodeSet NodeSets::with_prologue(NodeSet set) const {
  const auto taken = [&](ValueId input) {
    const NodeId maker = linked_.maker(input);
    return maker != kNoId && !contains(set, maker) && is_of_one_value(maker) &&
           !is_read_outside(input, set) &&
           (info(graph_.node(maker).op).category == Category::layout || !is_an_epilogue(maker));
  };
  for (size_t i = 0; i < set.size() && has_room(set); ++i) {
    const std::vector<ValueId>& inputs = graph_.node(set[i]).inputs;
    const auto input = std::find_if(inputs.begin(), inputs.end(), taken);
    if (input == inputs.end()) continue;
    set.insert(set.begin(), linked_.maker(*input));
    i = static_cast<size_t>(-1);
  }
  return set;
}

NodeSet NodeSets::with_epilogue(NodeSet set) const {
  while (has_room(set)) {
    const ValueId made = result(set);
    const std::vector<NodeId>& readers = linked_.readers(made);
    if (linked_.is_output(made) || readers.size() != 1 || linked_.part(readers[0]) != Part::free) break;
    const TensorType& type = graph_.value(graph_.node(readers[0]).outputs[0]).type;
    if (type.dtype != DType::f32 || type.elements() != graph_.value(made).type.elements()) break;
    set.push_back(readers[0]);
  }
  return set;
}

}  // namespace korch::groups
