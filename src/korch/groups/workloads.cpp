#include "korch/groups/workloads.h"

#include <algorithm>
#include <set>

#include "korch/groups/links.h"
#include "korch/ir/index_map.h"

namespace korch::groups {
namespace {

using NodeSet = std::vector<NodeId>;  // topological

// Layout primitives included, of which a group may have any number: for the length of the search alone.
constexpr int kMostNodes = 48;

struct ValidSet {
  NodeSet nodes, key;  // key: by number
  double saved_us = 0, fused_us = 0;
};

class Finder {
 public:
  Finder(const Graph& graph, const Device& device, const WorkloadOptions& options)
      : graph_(graph), linked_(graph), device_(device), options_(options) {}

  Workloads run() {
    find_links();
    for (const Link& link : links_) look_at({link.from, link.to});
    for (size_t i = 0; i < valid_.size(); ++i) grow(valid_[i].nodes);
    for (size_t i = 0; i < valid_.size(); ++i) {
      if (gains(valid_[i]))
        add_variants(valid_[i]);
      else
        ++result_.dropped[name(Dropped::gain)];
    }
    std::stable_sort(result_.groups.begin(), result_.groups.end(),
                     [](const Workload& a, const Workload& b) { return a.saved_us > b.saved_us; });
    const auto most = static_cast<size_t>(options_.most_groups);
    if (result_.groups.size() > most) {
      result_.dropped[name(Dropped::most_groups)] += static_cast<int>(result_.groups.size() - most);
      result_.groups.resize(most);
    }
    return std::move(result_);
  }

 private:
  bool is_core(NodeId id) const {
    return linked_.part(id) == Part::linear || linked_.part(id) == Part::reduction;
  }
  static NodeSet sorted(NodeSet set) {
    std::sort(set.begin(), set.end());
    return set;
  }
  // Layout primitives become coordinates of leaves.
  int size_of(const NodeSet& set) const {
    return static_cast<int>(std::count_if(set.begin(), set.end(), [&](NodeId id) {
      return info(graph_.node(id).op).category != Category::layout;
    }));
  }
  static bool contains(const NodeSet& set, NodeId id) {
    return std::find(set.begin(), set.end(), id) != set.end();
  }
  int linear_in(const NodeSet& set) const {
    return static_cast<int>(
        std::count_if(set.begin(), set.end(), [&](NodeId id) { return linked_.part(id) == Part::linear; }));
  }

  void find_links() {
    for (NodeId id : linked_.nodes()) {
      if (!is_core(id)) continue;
      for (const Link& link : linked_.links_to(id, options_.most_primitives)) {
        const bool product = linked_.part(link.from) == Part::linear || linked_.part(link.to) == Part::linear;
        result_.links += product ? 1 : 0;
        // What is too large or has an obstacle is so with more around it, too.
        if (const std::optional<Dropped> rule = too_much(linked_.closure({link.from, link.to}, kMostNodes))) {
          if (product) ++result_.dropped[name(*rule)];
          continue;
        }
        if (product) {
          links_at_[link.from].push_back(links_.size());
          links_at_[link.to].push_back(links_.size());
          links_.push_back(link);
        }
        if (linked_.part(link.from) == Part::reduction) reductions_to_[id].push_back(link.from);
      }
    }
  }

  bool is_read_outside(ValueId value, const NodeSet& set) const {
    const std::vector<NodeId>& readers = linked_.readers(value);
    return linked_.is_output(value) ||
           std::any_of(readers.begin(), readers.end(), [&](NodeId id) { return !contains(set, id); });
  }

  // What is made of a product or reduction of the set, the sink not among them, must not be needed elsewhere:
  // it would be computed twice.
  bool is_needed_outside(const NodeSet& set, NodeId sink) const {
    std::set<NodeId> heavy;
    for (NodeId id : set) {
      bool follows = linked_.part(id) == Part::linear;
      for (ValueId input : graph_.node(id).inputs) follows = follows || heavy.contains(linked_.maker(input));
      if (follows) heavy.insert(id);
      if (follows && id != sink && is_read_outside(graph_.node(id).outputs[0], set)) return true;
    }
    return false;
  }

  std::vector<NodeId> sinks_in(const NodeSet& set) const {
    std::vector<NodeId> sinks;
    for (NodeId id : set) {
      const std::vector<NodeId>& readers = linked_.readers(graph_.node(id).outputs[0]);
      if (std::none_of(readers.begin(), readers.end(), [&](NodeId r) { return contains(set, r); }))
        sinks.push_back(id);
    }
    return sinks;
  }

  // Broken by all larger sets as well.
  std::optional<Dropped> too_much(const NodeSet& set) const {
    if (set.empty() || size_of(set) > options_.most_primitives) return Dropped::size;
    for (NodeId id : set)
      if (linked_.part(id) == Part::obstacle || linked_.part(id) == Part::mixing ||
          linked_.loop(id) != linked_.loop(set[0]))
        return Dropped::obstacle;
    return linear_in(set) > options_.most_linear ? std::optional(Dropped::linear) : std::nullopt;
  }

  std::optional<Dropped> broken(const NodeSet& set) const {
    if (const std::optional<Dropped> rule = too_much(set)) return rule;
    const std::vector<NodeId> sinks = sinks_in(set);
    if (sinks.size() != 1) return Dropped::sinks;
    if (is_needed_outside(set, sinks[0])) return Dropped::needed_outside;
    return std::nullopt;
  }

  // The set with a reduction that leads to it, and what is between; empty where something of that is needed
  // elsewhere too, or no kernel could hold it.
  NodeSet with_reduction(const NodeSet& set, NodeId reduction) const {
    NodeSet all = set;
    all.push_back(reduction);
    all = linked_.closure(all, kMostNodes);
    if (all.empty() || size_of(all) > options_.most_primitives) return {};
    const std::vector<NodeId> sinks = sinks_in(all);
    const bool is_private = std::all_of(all.begin(), all.end(), [&](NodeId id) {
      return id == sinks[0] || contains(set, id) || !is_read_outside(graph_.node(id).outputs[0], all);
    });
    return sinks.size() == 1 && is_private ? all : NodeSet{};
  }

  // With all reductions of a softmax, say, that the set has half of.
  NodeSet with_whole_normalizations(NodeSet set) const {
    for (size_t i = 0; i < set.size(); ++i) {
      const auto found = reductions_to_.find(set[i]);
      if (found == reductions_to_.end()) continue;
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

  void look_at(const NodeSet& ends) {
    NodeSet set = linked_.closure(ends, kMostNodes);
    if (!set.empty()) {
      set = with_whole_normalizations(std::move(set));
      if (!seen_.insert(sorted(set)).second) return;
    }
    ++result_.sets;
    if (const std::optional<Dropped> rule = broken(set)) {
      ++result_.dropped[name(*rule)];
      return;
    }
    const NodeSet key = sorted(set);
    valid_by_first_[key.front()].push_back(valid_.size());
    valid_.push_back({set, key, saved_by(set), fused_us(set)});
  }

  // Whether the set is worth a kernel, and so is what it has more than each set that is a part of it: for the
  // time that this adds, and, since each further product makes the search longer, for half as much of all.
  bool gains(const ValidSet& set) const {
    if (set.saved_us < options_.least_gain * set.fused_us) return false;
    const auto is_better = [&](const ValidSet& part) {
      const double more_us = set.saved_us - part.saved_us;
      return more_us >= options_.least_gain * (set.fused_us - part.fused_us) &&
             more_us >= options_.least_gain / 2 * set.fused_us;
    };
    for (NodeId id : set.key) {
      const auto parts = valid_by_first_.find(id);
      if (parts == valid_by_first_.end()) continue;
      for (size_t i : parts->second) {
        const ValidSet& part = valid_[i];
        if (part.key.size() < set.key.size() && !is_better(part) &&
            std::includes(set.key.begin(), set.key.end(), part.key.begin(), part.key.end()))
          return false;
      }
    }
    return true;
  }

  void add_variants(const ValidSet& valid) {
    const NodeSet &set = valid.nodes, before = with_prologue(set), after = with_epilogue(set),
                  both = with_epilogue(before);
    add(set, valid.saved_us);
    if (before != set) add(before, valid.saved_us);
    if (after != set) add(after, valid.saved_us);
    if (both != before && both != after) add(both, valid.saved_us);
  }

  void add(const NodeSet& set, double saved_us) {
    Candidate candidate = make_candidate(graph_, set, {graph_.node(sinks_in(set)[0]).outputs[0]});
    Result<GroupTerms> terms = terms_of(graph_, candidate);
    if (!terms) {
      ++result_.dropped[name(Dropped::terms)];
      ++result_.refused[terms.refusal().detail];
      return;
    }
    result_.groups.push_back({std::move(candidate), std::move(terms).value(), fused_us(set), saved_us});
  }

  // By each link that one end is in: with the other.
  void grow(const NodeSet set) {
    for (NodeId id : set) {
      const auto found = links_at_.find(id);
      if (found == links_at_.end()) continue;
      for (size_t l : found->second) {
        const Link& link = links_[l];
        if (contains(set, link.from) && contains(set, link.to)) continue;
        NodeSet larger = set;
        larger.push_back(contains(set, link.from) ? link.to : link.from);
        look_at(larger);
      }
    }
  }

  bool has_room(const NodeSet& set) const {
    return size_of(set) < options_.most_primitives && static_cast<int>(set.size()) < kMostNodes;
  }

  // Whether the primitive makes an element of one element of one Value, and of constants.
  bool is_of_one_value(NodeId id) const {
    const Node& node = graph_.node(id);
    return (linked_.part(id) == Part::free || linked_.part(id) == Part::mixing) &&
           graph_.value(node.outputs[0]).type.dtype == DType::f32 && varying_operands(node).size() == 1;
  }
  std::vector<ValueId> varying_operands(const Node& node) const {
    std::vector<ValueId> varying;
    for (ValueId input : node.inputs)
      if (graph_.constant(input) == nullptr) varying.push_back(input);
    return varying;
  }

  // Whether the kernel of a product computes the primitive anyway, as its epilogue.
  bool is_an_epilogue(NodeId id) const {
    while (id != kNoId && is_of_one_value(id)) id = linked_.maker(varying_operands(graph_.node(id))[0]);
    return id != kNoId && info(graph_.node(id).op).category == Category::linear;
  }

  // With what makes operands that nothing else reads: transposed keys, scaled queries.
  NodeSet with_prologue(NodeSet set) const {
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

  // With what is made of each element of the result.
  NodeSet with_epilogue(NodeSet set) const {
    while (has_room(set)) {
      const ValueId result = graph_.node(sinks_in(set)[0]).outputs[0];
      const std::vector<NodeId>& readers = linked_.readers(result);
      if (linked_.is_output(result) || readers.size() != 1) break;
      const Node& node = graph_.node(readers[0]);
      const TensorType& type = graph_.value(node.outputs[0]).type;
      if (linked_.part(readers[0]) != Part::free || type.dtype != DType::f32 ||
          type.elements() != graph_.value(result).type.elements() ||
          (info(node.op).category == Category::layout && node.inputs.size() != 1))
        break;
      set.push_back(readers[0]);
    }
    return set;
  }

  // Of the nearest memory that holds so many bytes.
  double speed_of(double bytes) const {
    for (const MemoryLevel& level : device_.memory)
      if (level.bytes == 0 ||
          static_cast<double>(level.bytes) * (level.is_shared ? 1 : device_.workers) >= bytes)
        return level.bytes_per_us;
    return device_.memory.back().bytes_per_us;
  }
  double bytes_of_value(ValueId value) const { return static_cast<double>(graph_.value(value).type.bytes()); }
  double move_us(ValueId value) const { return bytes_of_value(value) / speed_of(bytes_of_value(value)); }

  double fused_us(const NodeSet& set) const {
    double flops = 0;
    std::set<ValueId> read;
    for (NodeId id : set) {
      const Node& node = graph_.node(id);
      for (ValueId input : node.inputs)
        if (!contains(set, linked_.maker(input))) read.insert(input);
      if (linked_.part(id) != Part::linear) continue;
      const IndexMaps maps = index_maps(graph_, node);
      flops += 2.0 * static_cast<double>(element_count(maps.result) * element_count(maps.taps));
    }
    double memory_us = move_us(graph_.node(sinks_in(set)[0]).outputs[0]);
    for (ValueId value : read) memory_us += move_us(value);
    return std::max(memory_us, flops / device_.flops_per_us);
  }

  // Families store the result of a product, and the operand of one that a reduction leads to.
  double saved_by(const NodeSet& set) const {
    std::set<ValueId> stored;
    for (const Link& link : links_)
      if (contains(set, link.from) && contains(set, link.to))
        stored.insert(linked_.part(link.from) == Part::linear ? graph_.node(link.from).outputs[0]
                                                              : graph_.node(link.to).inputs[link.operand]);
    double us = 0;
    for (ValueId value : stored) {
      const auto readers = static_cast<double>(linked_.readers(value).size());
      us += is_read_outside(value, set) ? move_us(value) / readers : 2 * move_us(value);
    }
    return us;
  }

  const Graph& graph_;
  const LinkedGraph linked_;
  const Device& device_;
  const WorkloadOptions& options_;
  std::vector<Link> links_;  // with a product at one end, of which a group may hold both
  std::map<NodeId, std::vector<size_t>> links_at_;
  std::map<NodeId, std::vector<NodeId>> reductions_to_;
  std::set<NodeSet> seen_;
  std::vector<ValidSet> valid_;
  std::map<NodeId, std::vector<size_t>> valid_by_first_;  // by the least of their nodes
  Workloads result_;
};

}  // namespace

const char* name(Dropped rule) {
  static constexpr const char* kNames[] = {"obstacle",       "size", "linear", "sinks",
                                           "needed_outside", "gain", "terms",  "most_groups"};
  static_assert(std::size(kNames) == static_cast<size_t>(Dropped::most_groups) + 1);
  return kNames[static_cast<size_t>(rule)];
}

Workloads find_workloads(const Graph& graph, const Device& device, const WorkloadOptions& options) {
  return Finder(graph, device, options).run();
}

}  // namespace korch::groups
