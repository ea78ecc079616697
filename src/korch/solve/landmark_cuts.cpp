#include "korch/solve/landmark_cuts.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "korch/base/stopwatch.h"

namespace korch {
namespace {

// h_max: a node costs what its cheapest arc does and the dearest input of that. The dearest input supports
// the arc; arcs as edges from their supporters to their outputs make the justification graph.
//
// The goal is first to make anything beyond a part of the nodes, which every plan does while a required one
// is there; the part grows until it holds all of them and the goal is the required ones. Cuts are found
// where the part ends, so that each takes time in proportion to what is near, not to the whole network.
class JustificationGraph {
 public:
  JustificationGraph(const Network& network, std::span<const double> cost_us)
      : network_(network),
        cost_us_(cost_us.begin(), cost_us.end()),
        is_inside_(network.node_count),
        value_us_(network.node_count, kInfinity),
        readers_(network.node_count),
        missing_(network.arcs.size()),
        supporter_(network.arcs.size(), kNone),
        support_us_(network.arcs.size(), kInfinity),
        in_zone_(network.node_count),
        outside_(network.node_count) {
    for (size_t a = 0; a < network.arcs.size(); ++a) {
      missing_[a] = static_cast<int>(network.arcs[a].inputs.size());
      for (const int input : network.arcs[a].inputs) readers_[input].push_back(static_cast<int>(a));
      if (missing_[a] == 0) fire(static_cast<int>(a));
    }
  }

  // More nodes belong to the part: such that a required one is left beyond it, or all.
  void take_in(std::span<const int> nodes) {
    inside_count_ += static_cast<int>(nodes.size());
    for (const int node : nodes) is_inside_[node] = true;
    for (const int node : nodes)
      for (const int a : network_.makers[node])
        if (missing_[a] == 0) offer(a);
    std::erase_if(leaving_, [&](int a) { return !leaves(a); });
    propagate();
  }

  double value_us(int node) const { return value_us_[node]; }

  // What the goal costs: the required nodes where all are in the part, else the cheapest arc out of it.
  double goal_us() const {
    if (const int goal = dearest_required(); goal != kNone) return value_us_[goal];
    double least = kInfinity;
    for (const int a : leaving_) least = std::min(least, support_us_[a] + cost_us_[a]);
    return least;
  }

  // The arcs that may be the first to make a node of the goal's zone, from which it is reached for nothing.
  // Their least cost is taken off all of them.
  LandmarkCut take_cut(CutSides sides) {
    LandmarkCut cut;
    find_zone();
    if (sides == CutSides::both) find_outside();
    const auto add = [&](int a) {
      const std::vector<int>& inputs = network_.arcs[a].inputs;
      if (missing_[a] > 0 || cost_us_[a] == kInfinity) return;
      if (std::any_of(inputs.begin(), inputs.end(), [&](int input) {
            return sides == CutSides::both ? !outside_[input] : in_zone_[input];
          }))
        return;
      cut.arcs.push_back(a);
    };
    for (const int a : leaving_) add(a);
    for (const int node : zone_)
      for (const int a : network_.makers[node]) add(a);
    for (const int node : zone_) in_zone_[node] = false;
    std::sort(cut.arcs.begin(), cut.arcs.end());
    cut.arcs.erase(std::unique(cut.arcs.begin(), cut.arcs.end()), cut.arcs.end());
    cut.share_us = kInfinity;
    for (const int a : cut.arcs) cut.share_us = std::min(cut.share_us, cost_us_[a]);
    for (const int a : cut.arcs) {
      cost_us_[a] -= cut.share_us;
      offer(a);
    }
    propagate();
    return cut;
  }

 private:
  using Entry = std::pair<double, int>;
  static constexpr int kNone = -1;

  bool leaves(int arc) const {
    const std::vector<int>& outputs = network_.arcs[arc].outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](int output) { return !is_inside_[output]; });
  }

  // The required node that costs most; none while the goal is to leave the part.
  int dearest_required() const {
    if (inside_count_ < network_.node_count) return kNone;
    return *std::max_element(network_.required.begin(), network_.required.end(),
                             [&](int a, int b) { return value_us_[a] < value_us_[b]; });
  }

  // All inputs are there for the first time.
  void fire(int arc) {
    support(arc);
    if (cost_us_[arc] != kInfinity && leaves(arc)) leaving_.push_back(arc);
    offer(arc);
  }

  void support(int arc) {
    support_us_[arc] = 0;
    for (const int input : network_.arcs[arc].inputs) {
      if (supporter_[arc] != kNone && value_us_[input] <= value_us_[supporter_[arc]]) continue;
      supporter_[arc] = input;
    }
    if (supporter_[arc] != kNone) support_us_[arc] = value_us_[supporter_[arc]];
  }

  void offer(int arc) {
    const double value = support_us_[arc] + cost_us_[arc];
    for (const int output : network_.arcs[arc].outputs) {
      if (!is_inside_[output] || value >= value_us_[output]) continue;
      if (value_us_[output] == kInfinity) fresh_.push_back(output);
      value_us_[output] = value;
      queue_.push({value, output});
    }
  }

  // Values that became less, and what follows from them.
  void propagate() {
    while (!queue_.empty()) {
      const auto [value, node] = queue_.top();
      queue_.pop();
      if (value > value_us_[node]) continue;
      for (const int a : readers_[node]) {
        if (missing_[a] > 0 || supporter_[a] != node || support_us_[a] <= value) continue;
        const double before = support_us_[a];
        support(a);
        if (support_us_[a] < before) offer(a);
      }
      // Nodes that were never there before: what waited for them.
      while (!fresh_.empty()) {
        const int made = fresh_.back();
        fresh_.pop_back();
        for (const int a : readers_[made])
          if (--missing_[a] == 0) fire(a);
      }
    }
  }

  void find_zone() {
    zone_.clear();
    const auto reach_through = [&](int a) {
      if (cost_us_[a] != 0 || missing_[a] > 0 || supporter_[a] == kNone || in_zone_[supporter_[a]]) return;
      in_zone_[supporter_[a]] = true;
      zone_.push_back(supporter_[a]);
    };
    if (const int goal = dearest_required(); goal != kNone) {
      in_zone_[goal] = true;
      zone_.push_back(goal);
    } else {
      for (const int a : leaving_) reach_through(a);
    }
    for (size_t at = 0; at < zone_.size(); ++at)
      for (const int a : network_.makers[zone_[at]]) reach_through(a);
  }

  // What is reached without the zone.
  void find_outside() {
    std::fill(outside_.begin(), outside_.end(), false);
    std::vector<int> open;
    const auto reach = [&](int a) {
      if (missing_[a] > 0 || cost_us_[a] == kInfinity) return;
      for (const int output : network_.arcs[a].outputs) {
        if (!is_inside_[output] || outside_[output] || in_zone_[output]) continue;
        outside_[output] = true;
        open.push_back(output);
      }
    };
    for (size_t a = 0; a < supporter_.size(); ++a)
      if (supporter_[a] == kNone) reach(static_cast<int>(a));
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      for (const int a : readers_[node])
        if (supporter_[a] == node) reach(a);
    }
  }

  const Network& network_;
  std::vector<double> cost_us_;  // what is left of it
  int inside_count_ = 0;
  std::vector<bool> is_inside_;            // of each node: in the part
  std::vector<double> value_us_;           // of each node in the part
  std::vector<std::vector<int>> readers_;  // of each node: arcs
  std::vector<int> missing_;               // of each arc: inputs without a value
  std::vector<int> supporter_;             // of each arc whose inputs are there
  std::vector<double> support_us_;  // of each such arc: its supporter's value, when that was looked at last
  std::vector<int> leaving_;        // arcs that make something beyond the part
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::vector<int> fresh_;  // nodes that have a value for the first time
  std::vector<int> zone_;
  std::vector<bool> in_zone_, outside_;
};

// All nodes; in several parts, those that cost most last.
std::vector<int> nodes_by_value(const Network& network, std::span<const double> cost_us, size_t part) {
  std::vector<int> nodes(network.node_count);
  std::iota(nodes.begin(), nodes.end(), 0);
  if (nodes.size() <= part) return nodes;
  JustificationGraph whole(network, cost_us);
  whole.take_in(nodes);
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](int a, int b) { return whole.value_us(a) < whole.value_us(b); });
  return nodes;
}

}  // namespace

std::vector<LandmarkCut> landmark_cuts(const Network& network, std::span<const double> cost_us,
                                       double time_limit_s, CutSides sides, size_t part) {
  const Stopwatch stopwatch;
  std::vector<LandmarkCut> cuts;
  if (!network.feasible || network.required.empty()) return cuts;
  JustificationGraph graph(network, cost_us);
  const std::vector<int> nodes = nodes_by_value(network, cost_us, part);
  // A plan goes beyond the part as long as a required node is there.
  size_t last = nodes.size();
  while (std::count(network.required.begin(), network.required.end(), nodes[last - 1]) == 0) --last;
  for (size_t at = 0, next; at < nodes.size(); at = next) {
    next = at + part < last ? at + part : nodes.size();
    graph.take_in(std::span(nodes).subspan(at, next - at));
    for (double value = graph.goal_us(); value > 0; value = graph.goal_us()) {
      if (stopwatch.seconds() >= time_limit_s) return cuts;
      if (value == kInfinity) {
        cuts.push_back({});
        return cuts;
      }
      cuts.push_back(graph.take_cut(sides));
    }
  }
  return cuts;
}

}  // namespace korch
