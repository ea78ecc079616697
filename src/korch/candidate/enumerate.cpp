#include "korch/candidate/enumerate.h"

#include <algorithm>
#include <queue>
#include <span>
#include <unordered_set>

#include "korch/candidate/atom_graph.h"
#include "korch/candidate/rules.h"

namespace korch {
namespace {

// Of a Value with more readers than any network has but where thousands of primitives meet a set grows by a
// few: kernels have no more outputs than these, and every set would else have thousands of neighbours.
constexpr int64_t kManyReaders = 64, kNearReaders = 4;

class Enumerator {
 public:
  Enumerator(const Graph& graph, const LinearContext& context, const EnumerateOptions& options,
             const Deadline& deadline)
      : graph_(graph),
        context_(context),
        options_(options),
        deadline_(deadline),
        atoms_(graph, options.rule_chain ? options.max_primitives : 1) {}

  Enumeration run() {
    if (atoms_.chained_nodes() > 0) result_.pruned["chain"] = atoms_.chained_nodes();
    for (AtomId sink = 0; sink < atoms_.size(); ++sink) {
      if (!atoms_.is_convex({sink})) continue;  // one of several producers, which needs its own result
      const Atom& atom = atoms_.atom(sink);
      // What was converted and is converted back is no kernel alone: the Value is there.
      if (!atom.restores)
        for (NodeId node : atom.nodes) add({node}, graph_.node(node).outputs);
      if (deadline_.is_over())
        prune(Rule::budget);
      else
        grow_from(sink);
    }
    return std::move(result_);
  }

 private:
  void prune(Rule rule) { ++result_.pruned[name(rule)]; }

  // All sets whose last atom is `sink`, as far as the limit allows: taken in turn from the smallest and from
  // those that save the most memory traffic, so that neither small nor large sets are lost where there are
  // too many.
  void grow_from(AtomId sink) {
    std::vector<AtomSet> sets;
    std::vector<bool> taken;
    using Entry = std::pair<int64_t, size_t>;  // lowest first, then in order of discovery
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> by_size, by_saving;
    std::unordered_set<Hash, HashHasher> seen;
    const auto push = [&](AtomSet set) {
      by_size.emplace(static_cast<int64_t>(set.size()), sets.size());
      by_saving.emplace(traffic_bytes(atoms_, set) - separate_traffic_bytes(set), sets.size());
      sets.push_back(std::move(set));
      taken.push_back(false);
    };
    push({sink});
    int64_t explored = 0;
    for (; explored < static_cast<int64_t>(sets.size()); ++explored) {
      if (options_.max_sets_per_sink > 0 && explored >= options_.max_sets_per_sink) break;
      auto& queue = explored % 2 == 0 ? by_size : by_saving;
      while (taken[queue.top().second]) queue.pop();
      const size_t at = queue.top().second;
      taken[at] = true;
      const AtomSet set = sets[at];
      make_candidates(set);
      for (AtomId more : neighbours(set, sink)) {
        AtomSet grown = set;
        grown.insert(std::lower_bound(grown.begin(), grown.end(), more), more);
        if (options_.rule_join) atoms_.complete_operands(grown);
        if (!seen.insert(hash_bytes(grown.data(), grown.size() * sizeof(AtomId))).second) continue;
        if (const auto rule = broken_rule(atoms_, grown, context_, options_))
          prune(*rule);
        else if (atoms_.is_convex(grown) || may_recompute(atoms_, grown, options_))
          push(std::move(grown));
      }
    }
    const int64_t left = static_cast<int64_t>(sets.size()) - explored;
    if (left > 0) result_.pruned[name(Rule::sets_per_sink)] += static_cast<int>(left);
  }

  int64_t separate_traffic_bytes(const AtomSet& set) const {
    int64_t bytes = 0;
    for (AtomId id : set) bytes += traffic_bytes(atoms_, {id});
    return bytes;
  }

  // Of the atoms that read one Value all, or the last few before `sink` where they are too many.
  std::span<const AtomId> near_readers(const std::vector<AtomId>& readers, AtomId sink) {
    if (static_cast<int64_t>(readers.size()) <= kManyReaders) return readers;
    prune(Rule::readers);
    const auto end = std::upper_bound(readers.begin(), readers.end(), sink);
    return {end - std::min<int64_t>(end - readers.begin(), kNearReaders), end};
  }

  // Producers, consumers and siblings that read the same Value, before `sink`; ascending.
  std::vector<AtomId> neighbours(const AtomSet& set, AtomId sink) {
    std::vector<AtomId> result;
    for (AtomId id : set) {
      const Atom& atom = atoms_.atom(id);
      result.insert(result.end(), atom.producers.begin(), atom.producers.end());
      const std::span<const AtomId> consumers = near_readers(atom.consumers, sink);
      result.insert(result.end(), consumers.begin(), consumers.end());
      for (ValueId read : atom.reads) {
        for (AtomId sibling : near_readers(atoms_.readers(read), sink)) {
          if (sibling == id) continue;
          if (may_share(atoms_, id, sibling, options_))
            result.push_back(sibling);
          else
            prune(Rule::sharing);
        }
      }
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    std::erase_if(result,
                  [&](AtomId id) { return id > sink || std::binary_search(set.begin(), set.end(), id); });
    return result;
  }

  // The candidates of a set: with every Value that is needed outside made available, and without those that
  // others may as well compute again for themselves.
  void make_candidates(const AtomSet& set) {
    std::vector<NodeId> nodes;
    std::vector<ValueId> needed, of_sinks;
    bool some_dispensable = false;
    const AtomSet sinks = sinks_of(atoms_, set);
    for (AtomId id : set) {
      const Atom& atom = atoms_.atom(id);
      nodes.insert(nodes.end(), atom.nodes.begin(), atom.nodes.end());
      const bool is_sink = std::binary_search(sinks.begin(), sinks.end(), id);
      for (ValueId value : atom.makes) {
        if (!is_sink && (!atoms_.needed_outside(value, set) || !atoms_.is_legal(set, {value}))) continue;
        needed.push_back(value);
        if (is_sink) of_sinks.push_back(value);
        some_dispensable = some_dispensable || (!is_sink && atoms_.is_dispensable(value, set));
      }
    }
    const bool linear = has_linear(atoms_, set) && options_.rule_linear_context;
    const auto make = [&] {
      if (linear) return make_linear_candidate(set, nodes, needed);
      offer(set, nodes, needed);
    };
    make();
    if (some_dispensable) {
      std::erase_if(needed, [&](ValueId value) {
        return std::find(of_sinks.begin(), of_sinks.end(), value) == of_sinks.end() &&
               atoms_.is_dispensable(value, set);
      });
      make();
    }
    if (linear) return;
    if (sinks.size() == 1) offer(set, nodes, of_sinks);
    offer(set, nodes, statistics(set, needed, of_sinks));
  }

  // What depends on the linear primitive is made available; the prologue is computed again by whoever needs
  // it.
  void make_linear_candidate(const AtomSet& set, const std::vector<NodeId>& nodes,
                             const std::vector<ValueId>& needed) {
    std::vector<ValueId> outputs;
    for (AtomId id : linear_part(atoms_, set)) {
      for (ValueId value : atoms_.atom(id).makes) {
        if (std::find(needed.begin(), needed.end(), value) != needed.end()) outputs.push_back(value);
      }
    }
    offer(set, nodes, outputs);
  }

  // With inner Values that follow from a reduction of the set and are larger than every sink's replaced by
  // what they are computed from: of a normalization's statistics, mean and variance are made available rather
  // than x - mean, which whoever reads it computes again.
  std::vector<ValueId> statistics(const AtomSet& set, const std::vector<ValueId>& needed,
                                  const std::vector<ValueId>& of_sinks) const {
    int64_t largest = 0;
    for (ValueId value : of_sinks) largest = std::max(largest, graph_.value(value).type.bytes());
    const AtomSet reduced = reduced_part(atoms_, set);
    std::vector<ValueId> result, open = needed;
    while (!open.empty()) {
      const ValueId value = open.back();
      open.pop_back();
      const AtomId maker = maker_in(set, value);
      if (maker < 0 || std::find(result.begin(), result.end(), value) != result.end()) continue;
      if (graph_.value(value).type.bytes() > largest &&
          std::binary_search(reduced.begin(), reduced.end(), maker)) {
        const auto& reads = atoms_.atom(maker).reads;
        open.insert(open.end(), reads.begin(), reads.end());
      } else {
        result.push_back(value);
      }
    }
    return result;
  }

  AtomId maker_in(const AtomSet& set, ValueId value) const {
    for (AtomId id : set) {
      const auto& makes = atoms_.atom(id).makes;
      if (std::find(makes.begin(), makes.end(), value) != makes.end()) return id;
    }
    return -1;
  }

  void offer(const AtomSet& set, const std::vector<NodeId>& nodes, const std::vector<ValueId>& outputs) {
    if (static_cast<int>(outputs.size()) > options_.max_outputs) return prune(Rule::outputs);
    if (!atoms_.is_legal(set, outputs)) return;
    if (static_cast<int64_t>(result_.candidates.size()) >= options_.max_candidates)
      return prune(Rule::max_candidates);
    add(nodes, outputs);
  }

  void add(std::vector<NodeId> nodes, std::vector<ValueId> outputs) {
    std::sort(nodes.begin(), nodes.end());
    std::sort(outputs.begin(), outputs.end());
    std::vector<uint32_t> key = nodes;
    key.push_back(kNoId);
    key.insert(key.end(), outputs.begin(), outputs.end());
    if (!made_.insert(hash_bytes(key.data(), key.size() * sizeof(uint32_t))).second) return;
    result_.candidates.push_back(make_candidate(graph_, nodes, outputs));
  }

  const Graph& graph_;
  const LinearContext& context_;
  const EnumerateOptions& options_;
  const Deadline& deadline_;
  const AtomGraph atoms_;
  std::unordered_set<Hash, HashHasher> made_;
  Enumeration result_;
};

}  // namespace

Enumeration enumerate_candidates(const Graph& graph, const LinearContext& context,
                                 const EnumerateOptions& options) {
  return enumerate_until(graph, context, options, Deadline());
}

Enumeration enumerate_until(const Graph& graph, const LinearContext& context, const EnumerateOptions& options,
                            const Deadline& deadline) {
  return Enumerator(graph, context, options, deadline).run();
}

}  // namespace korch
