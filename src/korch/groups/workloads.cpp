#include "korch/groups/workloads.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "korch/groups/savings.h"

namespace korch::groups {
namespace {

bool has_windows(const block::Terms& terms) {
  return std::any_of(terms.terms.begin(), terms.terms.end(),
                     [](const block::Term& term) { return term.kind == block::TermKind::window; });
}

class Finder {
 public:
  Finder(const Graph& graph, const Device& device, const WorkloadOptions& options)
      : graph_(graph),
        linked_(graph),
        options_(options),
        sets_(linked_, options),
        savings_(linked_, sets_, device) {}

  Workloads run() {
    find_links();
    for (const LinkedSet& link : links_) look_at(link.nodes);
    for (size_t i = 0; i < valid_.size() && !options_.deadline.is_over(); ++i) grow(valid_[i].nodes);
    for (const ValidSet& set : valid_) {
      if (gains(set))
        add_variants(set);
      else
        drop(Dropped::gain);
    }
    sort_groups();
    const auto most = static_cast<size_t>(options_.most_groups);
    for (; result_.groups.size() > most; result_.groups.pop_back()) drop(Dropped::most_groups);
    return std::move(result_);
  }

 private:
  struct LinkedSet {
    Link link;
    NodeSet nodes;  // the least set with both
  };
  struct ValidSet {
    NodeSet nodes, key;  // key: ascending
    double saved_us = 0, fused_us = 0;
  };

  void drop(Dropped rule) { ++result_.dropped[name(rule)]; }

  void find_links() {
    std::map<NodeId, std::vector<NodeId>> reductions_to;
    for (NodeId id : linked_.nodes()) {
      if (options_.deadline.is_over()) {
        drop(Dropped::budget);
        break;
      }
      for (const Link& link : linked_.links_to(id, options_.most_primitives)) {
        result_.links += link.stored != kNoId ? 1 : 0;
        NodeSet ends = {link.from, link.to};
        if (link.meet != kNoId) ends.push_back(link.meet);
        NodeSet nodes = sets_.closure(ends);
        // What is too large or has an obstacle is so with more around it, too.
        const std::optional<Dropped> rule = sets_.too_much(nodes);
        if (rule && link.stored != kNoId) drop(*rule);
        if (rule) continue;
        if (linked_.part(link.from) == Part::reduction && link.meet == kNoId)
          reductions_to[link.to].push_back(link.from);
        if (link.stored != kNoId) links_.push_back({link, std::move(nodes)});
      }
    }
    for (LinkedSet& linked : links_) {
      if (linked_.part(linked.link.from) == Part::reduction && linked.link.meet == kNoId)
        linked.nodes = sets_.with_reductions(std::move(linked.nodes), reductions_to);
      for (NodeId end : {linked.link.from, linked.link.to})
        links_at_[end].push_back(static_cast<size_t>(&linked - links_.data()));
      plain_links_.push_back(linked.link);
    }
  }

  void look_at(NodeSet set) {
    if (!set.empty()) {
      set = sets_.with_shared_operands(std::move(set));
      NodeSet key = set;
      std::sort(key.begin(), key.end());
      if (!seen_.insert(std::move(key)).second) return;
    }
    ++result_.sets;
    if (const std::optional<Dropped> rule = sets_.broken(set)) return drop(*rule);
    NodeSet key = set;
    std::sort(key.begin(), key.end());
    valid_by_first_[key.front()].push_back(valid_.size());
    const double saved_us = savings_.saved_us(set, plain_links_), fused_us = savings_.fused_us(set);
    valid_.push_back({std::move(set), std::move(key), saved_us, fused_us});
  }

  // By each link that one end is in: with all that the other needs.
  void grow(const NodeSet set) {
    for (NodeId id : set) {
      const auto found = links_at_.find(id);
      if (found == links_at_.end()) continue;
      for (size_t l : found->second) {
        NodeSet larger = set;
        for (NodeId node : links_[l].nodes)
          if (!NodeSets::contains(set, node)) larger.push_back(node);
        if (larger.size() > set.size()) look_at(sets_.closure(larger));
      }
    }
  }

  // Whether the set is worth a kernel, and so is what it has more than each set that is a part of it: for the
  // time that this adds, and, since each further product makes the search longer, for half as much of all.
  bool gains(const ValidSet& set) const {
    const double least = options_.least_gain;
    if (set.saved_us < least * set.fused_us) return false;
    const auto is_better = [&](const ValidSet& part) {
      const double more_us = set.saved_us - part.saved_us;
      return more_us >= least * (set.fused_us - part.fused_us) && more_us >= least / 2 * set.fused_us;
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
    const NodeSet& set = valid.nodes;
    const NodeSet before = sets_.with_prologue(set);
    std::vector<NodeSet> variants = {set};
    if (before.size() > set.size()) variants.push_back(before);
    for (const NodeSet& one : variants) {
      const Result<GroupTerms> terms = terms_with(one);
      if (!terms) {
        ++result_.refused[terms.refusal().detail];
        drop(Dropped::terms);
        continue;
      }
      // A convolution's result is stored with its bias and activation: nobody wants it without.
      const bool images = has_windows(terms.value().terms);
      if (images && add_with_epilogue(one, terms.value(), valid.saved_us)) continue;
      add(one, terms.value(), valid.saved_us);
      if (!images) add_with_epilogue(one, terms.value(), valid.saved_us);
    }
  }

  // As far as this splits no axes: the search need not know that rows of the result are windows of an image.
  // Whether there is something to add.
  bool add_with_epilogue(const NodeSet& set, const GroupTerms& terms, double saved_us) {
    for (NodeSet after = sets_.with_epilogue(set); after.size() > set.size(); after.pop_back()) {
      const Result<GroupTerms> more = terms_with(after);
      if (!more || more.value().terms.axes.size() != terms.terms.axes.size()) continue;
      add(after, more.value(), saved_us);
      return true;
    }
    return false;
  }

  Result<GroupTerms> terms_with(const NodeSet& set) const {
    return terms_of(graph_, make_candidate(graph_, set, {sets_.result(set)}));
  }

  void add(const NodeSet& set, const GroupTerms& terms, double saved_us) {
    result_.groups.push_back(
        {make_candidate(graph_, set, {sets_.result(set)}), terms, savings_.fused_us(set), saved_us});
  }

  // A search takes at least twice as long with each further axis.
  void sort_groups() {
    const auto sort_by = [&](auto rank) {
      std::stable_sort(result_.groups.begin(), result_.groups.end(),
                       [&](const Workload& a, const Workload& b) { return rank(a) > rank(b); });
    };
    sort_by([](const Workload& w) { return w.saved_us; });
    sort_by([](const Workload& w) {
      return std::ldexp(w.saved_us, -static_cast<int>(w.group.terms.axes.size()));
    });
  }

  const Graph& graph_;
  const LinkedGraph linked_;
  const WorkloadOptions& options_;
  const NodeSets sets_;
  const Savings savings_;
  std::vector<LinkedSet> links_;  // of which a group may hold both ends
  std::vector<Link> plain_links_;
  std::map<NodeId, std::vector<size_t>> links_at_;
  std::set<NodeSet> seen_;
  std::vector<ValidSet> valid_;
  std::map<NodeId, std::vector<size_t>> valid_by_first_;  // by the least of their nodes
  Workloads result_;
};

}  // namespace

const char* name(Dropped rule) {
  static constexpr const char* kNames[] = {"obstacle", "size",  "linear",      "sinks", "needed_outside",
                                           "gain",     "terms", "most_groups", "budget"};
  static_assert(std::size(kNames) == static_cast<size_t>(Dropped::budget) + 1);
  return kNames[static_cast<size_t>(rule)];
}

Workloads find_workloads(const Graph& graph, const Device& device, const WorkloadOptions& options) {
  return Finder(graph, device, options).run();
}

}  // namespace korch::groups
