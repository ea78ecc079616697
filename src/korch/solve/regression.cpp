#include "korch/solve/regression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <random>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "korch/solve/components.h"

namespace korch {
namespace {

using Entry = std::pair<double, int>;
using CheapestFirst = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

// What a set of nodes costs where a known plan makes what it can, every arc of it paid once, and each other
// node is made in the way that adds least to the plan's nodes.
class Completion {
 public:
  Completion(const Network& network, const std::vector<std::vector<int>>& readers,
             std::span<const double> cost_us, const std::vector<int>& plan)
      : network_(network),
        words_((plan.size() + 63) / 64),
        arcs_of_(network.node_count * words_),
        extra_us_(network.node_count, kInfinity),
        plan_us_(plan.size()),
        word_us_(words_) {
    for (size_t at = 0; at < plan.size(); ++at) {
      plan_us_[at] = cost_us[plan[at]];
      word_us_[at / 64] += plan_us_[at];
    }
    along(plan);
    beside(readers, cost_us);
  }

  // Collects nodes; then total_us is what they cost together.
  void clear() {
    set_.assign(words_, 0);
    extra_sum_us_ = 0;
  }
  void add(int node) {
    for (size_t w = 0; w < words_; ++w) set_[w] |= arcs_of_[node * words_ + w];
    extra_sum_us_ += extra_us_[node];
  }
  double total_us() const {
    double sum = extra_sum_us_;
    for (size_t w = 0; w < words_; ++w) {
      if (set_[w] == all_of(w)) {
        sum += word_us_[w];
        continue;
      }
      for (uint64_t left = set_[w]; left != 0; left &= left - 1)
        sum += plan_us_[w * 64 + __builtin_ctzll(left)];
    }
    return sum;
  }

 private:
  uint64_t all_of(size_t word) const {
    const size_t count = plan_us_.size() - word * 64;
    return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  }

  void along(const std::vector<int>& plan) {
    for (size_t at = 0; at < plan.size(); ++at) {
      clear();
      set_[at / 64] |= uint64_t{1} << (at % 64);
      finish(plan[at], 0);
    }
  }

  void beside(const std::vector<std::vector<int>>& readers, std::span<const double> cost_us) {
    CheapestFirst ready;
    std::vector<int> missing;
    auto weigh = [&](int arc) {
      double sum = cost_us[arc];
      for (const int node : network_.arcs[arc].inputs) sum += extra_us_[node];
      if (std::isfinite(sum)) ready.emplace(sum, arc);
    };
    auto made = [&](int node) {
      for (const int reader : readers[node])
        if (--missing[reader] == 0) weigh(reader);
    };
    for (const Arc& arc : network_.arcs) missing.push_back(static_cast<int>(arc.inputs.size()));
    for (size_t arc = 0; arc < missing.size(); ++arc)
      if (missing[arc] == 0) weigh(static_cast<int>(arc));
    for (int node = 0; node < network_.node_count; ++node)
      if (extra_us_[node] == 0) made(node);
    while (!ready.empty()) {
      const auto [sum, arc] = ready.top();
      ready.pop();
      clear();
      for (const int node : finish(arc, sum)) made(node);
    }
  }

  // The arc is the first maker of some of its outputs: these.
  std::vector<int> finish(int arc, double extra_us) {
    for (const int node : network_.arcs[arc].inputs) add(node);
    std::vector<int> first;
    for (const int node : network_.arcs[arc].outputs) {
      if (std::isfinite(extra_us_[node])) continue;
      extra_us_[node] = extra_us;
      std::copy(set_.begin(), set_.end(), arcs_of_.begin() + node * words_);
      first.push_back(node);
    }
    return first;
  }

  const Network& network_;
  size_t words_;
  std::vector<uint64_t> arcs_of_;  // of each node: which arcs of the plan, `words_` words
  std::vector<double> extra_us_;   // of each node: beside the plan's arcs
  std::vector<double> plan_us_;    // of each arc of the plan
  std::vector<double> word_us_;    // of each 64 of them
  std::vector<uint64_t> set_;
  double extra_sum_us_ = 0;
};

}  // namespace

// One search.
class RegressionSearch {
 public:
  RegressionSearch(const Regression& regression, std::span<const double> cost_us,
                   const std::vector<int>& plan, int width, const Deadline& deadline)
      : r_(regression),
        cost_us_(cost_us),
        width_(width),
        deadline_(deadline),
        completion_(r_.network_, r_.readers_, cost_us, plan),
        at_place_(r_.sizes_.size() + 1),
        is_open_(r_.sizes_.size()),
        visits_(r_.sizes_.size()) {}

  Regression::Result run() {
    for (const int node : r_.network_.required) next_.push_back(r_.item_of_node_[node]);
    std::sort(next_.begin(), next_.end());
    next_.erase(std::unique(next_.begin(), next_.end()), next_.end());
    offer(0, {});
    while (!open_.empty()) {
      deadline_.check();
      const int place = open_.top();
      open_.pop();
      visit(place);
    }
    Regression::Result result;
    result.is_complete = !left_out_;
    const std::vector<State>& finished = at_place_.back().states;
    if (finished.empty()) return result;
    Step last = std::min_element(finished.begin(), finished.end(), cheaper)->step;
    std::vector<int> arcs;
    for (;; last = steps_[last.before]) {
      if (last.arc >= 0) arcs.push_back(last.arc);
      if (last.before < 0) break;
    }
    result.order = order_arcs(r_.network_, arcs).order;
    for (const int arc : result.order) result.cost_us += cost_us_[arc];
    return result;
  }

 private:
  struct Step {
    int before = -1;  // in steps_
    int arc = -1;     // that was paid, if any
  };
  struct State {
    uint64_t hash;
    double paid_us;
    Step step;
    size_t begin, end;    // in the items of its place, ascending
    double total_us = 0;  // with the completion
  };
  // The states whose last item is at one place.
  struct Place {
    std::vector<State> states;
    std::vector<int> items;
    std::span<const int> items_of(const State& state) const {
      return {items.data() + state.begin, items.data() + state.end};
    }
  };
  static bool cheaper(const State& a, const State& b) { return a.paid_us < b.paid_us; }

  void visit(int place) {
    Place here = std::exchange(at_place_[place], {});  // what leads back here comes with the next visit
    is_open_[place] = false;
    std::vector<State>& states = here.states;
    std::sort(states.begin(), states.end(), [](const State& a, const State& b) {
      return std::tie(a.hash, a.paid_us, a.step.before, a.step.arc) <
             std::tie(b.hash, b.paid_us, b.step.before, b.step.arc);
    });
    states.erase(std::unique(states.begin(), states.end(),
                             [](const State& a, const State& b) { return a.hash == b.hash; }),
                 states.end());
    if (r_.circle_[place] != Regression::kNoCircle) keep_new(place, states);
    for (State& state : states) state.total_us = state.paid_us + completion_us(here.items_of(state));
    std::erase_if(states, [](const State& state) { return !std::isfinite(state.total_us); });
    if (states.size() > static_cast<size_t>(width_)) {
      std::nth_element(states.begin(), states.begin() + width_, states.end(),
                       [](const State& a, const State& b) {
                         return std::tie(a.total_us, a.hash) < std::tie(b.total_us, b.hash);
                       });
      states.resize(width_);
      left_out_ = true;
    }
    for (const State& state : states) {
      if (r_.circle_[place] != Regression::kNoCircle) seen_us_[state.hash] = state.paid_us;
      expand(state, here.items_of(state), place);
    }
    states.clear();
    here.items.clear();
    spare_.push_back(std::move(here));
  }

  // Around a circle a search comes back to where it was: states that are no cheaper go, and so do all in the
  // end. Each reorder of a place is worth one visit.
  void keep_new(int place, std::vector<State>& states) {
    constexpr int kRounds = 2;  // of a circle, at most, where states are left out anyway
    if (circle_ != r_.circle_[place]) seen_us_.clear();
    circle_ = r_.circle_[place];
    if (++visits_[place] > kRounds * r_.sizes_[place] && left_out_) states.clear();
    std::erase_if(states, [&](const State& state) {
      const auto known = seen_us_.find(state.hash);
      return known != seen_us_.end() && known->second <= state.paid_us;
    });
  }

  void expand(const State& state, std::span<const int> items, int place) {
    steps_.push_back(state.step);
    const int before = static_cast<int>(steps_.size()) - 1;
    paid_.clear();
    for (const int item : items)
      if (r_.items_[item].arc >= 0) paid_.push_back(item);
    const int circle = r_.circle_[place];
    for (size_t k = items.size(); k-- > 0;) {
      const int where = r_.items_[items[k]].place;
      if (where != place) {
        // What is made last could as well be elsewhere on the circle.
        left_out_ = left_out_ || (circle != Regression::kNoCircle && r_.circle_[where] == circle);
        break;
      }
      const std::span<const int> settled = items.subspan(k, 1);
      const Regression::Item& item = r_.items_[items[k]];
      if (item.arc >= 0) {
        replace(items, settled, r_.inputs_[item.arc]);
        offer(state.paid_us, {before, -1});
        continue;
      }
      for (const int arc : r_.network_.makers[item.node]) {
        if (!std::isfinite(cost_us_[arc])) continue;
        const int& waiting = r_.item_of_arc_[arc];
        if (waiting >= 0)
          replace(items, r_.outputs_[arc], {&waiting, 1});
        else
          replace(items, settled, r_.inputs_[arc]);
        offer(state.paid_us + cost_us_[arc], {before, arc});
      }
    }
  }

  // Into next_: the items without `made`, with what is `read`; what an arc makes that is paid and still waits
  // is there.
  void replace(std::span<const int> items, std::span<const int> made, std::span<const int> read) {
    kept_.clear();
    std::set_difference(items.begin(), items.end(), made.begin(), made.end(), std::back_inserter(kept_));
    wanted_.clear();
    for (const int item : read) {
      const bool is_paid = std::any_of(paid_.begin(), paid_.end(), [&](int paid) {
        const std::vector<int>& outputs = r_.outputs_[r_.items_[paid].arc];
        return paid != made[0] && std::binary_search(outputs.begin(), outputs.end(), item);
      });
      if (!is_paid) wanted_.push_back(item);
    }
    next_.clear();
    std::set_union(kept_.begin(), kept_.end(), wanted_.begin(), wanted_.end(), std::back_inserter(next_));
  }

  // next_ as a state.
  void offer(double paid_us, const Step& step) {
    uint64_t hash = 0;
    for (const int item : next_) hash ^= r_.random_[item];
    const size_t number = next_.empty() ? is_open_.size() : r_.items_[next_.back()].place;
    if (number < is_open_.size() && !is_open_[number]) {
      is_open_[number] = true;
      open_.push(static_cast<int>(number));
    }
    Place& place = at_place_[number];
    if (place.states.empty() && !spare_.empty()) {
      place = std::move(spare_.back());
      spare_.pop_back();
    }
    place.states.push_back({hash, paid_us, step, place.items.size(), place.items.size() + next_.size()});
    place.items.insert(place.items.end(), next_.begin(), next_.end());
  }

  double completion_us(std::span<const int> items) {
    completion_.clear();
    for (const int item : items) {
      const Regression::Item& wanted = r_.items_[item];
      if (wanted.node >= 0)
        completion_.add(wanted.node);
      else
        for (const int node : r_.network_.arcs[wanted.arc].inputs) completion_.add(node);
    }
    return completion_.total_us();
  }

  const Regression& r_;
  std::span<const double> cost_us_;
  const int width_;
  const Deadline& deadline_;
  Completion completion_;
  std::vector<Place> at_place_;                   // the last one: nothing is wanted
  std::vector<Place> spare_;                      // empty ones, whose memory serves again
  std::priority_queue<int> open_;                 // places that have states
  std::vector<bool> is_open_;                     // of each place
  std::vector<int> visits_;                       // of each place in a circle
  int circle_ = Regression::kNoCircle;            // where the search is
  std::unordered_map<uint64_t, double> seen_us_;  // of states in circles, by hash: what was paid
  std::vector<Step> steps_;                       // of the states that were expanded
  std::vector<int> paid_, kept_, wanted_, next_;
  bool left_out_ = false;
};

Regression::Regression(const Network& network)
    : network_(network),
      readers_(network.node_count),
      item_of_node_(network.node_count, -1),
      item_of_arc_(network.arcs.size(), -1) {
  for (size_t a = 0; a < network.arcs.size(); ++a)
    for (const int node : network.arcs[a].inputs) readers_[node].push_back(static_cast<int>(a));
  list_items();
  const std::vector<int> depth = depths();
  place_items(strong_components(needs(depth)), strong_components(reorders()), depth);
  auto as_items = [&](std::vector<int> list) {
    for (int& node : list) node = item_of_node_[node];
    std::sort(list.begin(), list.end());
    return list;
  };
  for (const Arc& arc : network.arcs) {
    inputs_.push_back(as_items(arc.inputs));
    outputs_.push_back(as_items(arc.outputs));
  }
  std::mt19937_64 random(1);
  for (size_t i = 0; i < items_.size(); ++i) random_.push_back(random());
}

// In any order, but the required nodes first: the depth-first search of the components begins there.
void Regression::list_items() {
  auto add_node = [&](int node) {
    if (item_of_node_[node] >= 0) return;
    item_of_node_[node] = static_cast<int>(items_.size());
    items_.push_back({-1, node, -1});
  };
  for (const int node : network_.required) add_node(node);
  for (int node = 0; node < network_.node_count; ++node) add_node(node);
  for (size_t a = 0; a < network_.arcs.size(); ++a) {
    if (network_.arcs[a].outputs.size() < 2) continue;
    item_of_arc_[a] = static_cast<int>(items_.size());
    items_.push_back({-1, -1, static_cast<int>(a)});
  }
}

// Of each item: how many arcs, one after the other, it takes at least until it can be made.
std::vector<int> Regression::depths() const {
  std::vector<int> depth(items_.size(), 0), missing, ready;
  for (size_t a = 0; a < network_.arcs.size(); ++a) {
    missing.push_back(static_cast<int>(network_.arcs[a].inputs.size()));
    if (missing[a] == 0) ready.push_back(static_cast<int>(a));
  }
  for (int now = 1; !ready.empty(); ++now) {
    std::vector<int> next;
    for (const int arc : ready) {
      if (item_of_arc_[arc] >= 0) depth[item_of_arc_[arc]] = now;
      for (const int node : network_.arcs[arc].outputs) {
        int& reached = depth[item_of_node_[node]];
        if (reached != 0) continue;
        reached = now;
        for (const int reader : readers_[node])
          if (--missing[reader] == 0) next.push_back(reader);
      }
    }
    ready = std::move(next);
  }
  return depth;
}

// Of each item: those that it may be made from, the deepest first. What hangs beside the longest way is then
// numbered next to its reader, and few things are wanted at a time.
std::vector<std::vector<int>> Regression::needs(const std::vector<int>& depth) const {
  std::vector<std::vector<int>> needs(items_.size());
  for (size_t i = 0; i < items_.size(); ++i) {
    auto read = [&](int arc) {
      for (const int node : network_.arcs[arc].inputs) needs[i].push_back(item_of_node_[node]);
    };
    if (items_[i].arc >= 0) {
      read(items_[i].arc);
    } else {
      for (const int arc : network_.makers[items_[i].node]) {
        if (item_of_arc_[arc] >= 0)
          needs[i].push_back(item_of_arc_[arc]);
        else
          read(arc);
      }
    }
    std::sort(needs[i].begin(), needs[i].end(),
              [&](int a, int b) { return depth[a] != depth[b] ? depth[a] > depth[b] : a < b; });
    needs[i].erase(std::unique(needs[i].begin(), needs[i].end()), needs[i].end());
  }
  return needs;
}

// Both ways.
std::vector<std::vector<int>> Regression::reorders() const {
  std::vector<std::vector<int>> reorders(items_.size());
  for (const Arc& arc : network_.arcs) {
    if (!is_reorder(arc)) continue;
    const int from = item_of_node_[arc.inputs[0]], to = item_of_node_[arc.outputs[0]];
    reorders[from].push_back(to);
    reorders[to].push_back(from);
  }
  return reorders;
}

// Numbers the items by circle; circles are taken apart into the places of what reorders join, by depth.
void Regression::place_items(const std::vector<int>& circle, const std::vector<int>& joined,
                             const std::vector<int>& depth) {
  std::vector<int> size(items_.size()), least(items_.size(), std::numeric_limits<int>::max());
  for (size_t i = 0; i < items_.size(); ++i) {
    ++size[circle[i]];
    least[joined[i]] = std::min(least[joined[i]], depth[i]);
  }
  using Rank = std::array<int, 3>;  // circle, depth, what reorders join
  std::vector<std::pair<Rank, int>> order;
  for (size_t i = 0; i < items_.size(); ++i)
    order.push_back({{circle[i], least[joined[i]], joined[i]}, static_cast<int>(i)});
  std::sort(order.begin(), order.end());
  std::vector<Item> placed;
  for (size_t at = 0; at < order.size(); ++at) {
    const auto& [rank, i] = order[at];
    if (at == 0 || rank != order[at - 1].first) {
      circle_.push_back(size[rank[0]] > 1 ? rank[0] : kNoCircle);
      sizes_.push_back(0);
    }
    ++sizes_.back();
    (items_[i].arc >= 0 ? item_of_arc_[items_[i].arc] : item_of_node_[items_[i].node]) = static_cast<int>(at);
    placed.push_back({static_cast<int>(sizes_.size()) - 1, items_[i].node, items_[i].arc});
  }
  items_ = std::move(placed);
}

Regression::Result Regression::search(std::span<const double> cost_us, const std::vector<int>& plan,
                                      int width, const Deadline& deadline) const {
  return RegressionSearch(*this, cost_us, plan, width, deadline).run();
}

}  // namespace korch
