#include "korch/solve/landmark_cuts.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace korch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// h_max: a node costs what its cheapest arc does and the dearest input of that. The dearest input supports
// the arc; arcs as edges from their supporters to their outputs make the justification graph, in which every
// plan contains a path from the source to the dearest required node.
class JustificationGraph {
 public:
  JustificationGraph(const Network& network, std::span<const double> cost_us)
      : network_(network),
        source_(network.node_count),
        cost_us_(cost_us.begin(), cost_us.end()),
        value_us_(network.node_count + 1, kInfinity),
        readers_(network.node_count + 1),
        supporter_(network.arcs.size(), source_),
        support_us_(network.arcs.size(), kInfinity),
        in_zone_(network.node_count + 1) {
    for (size_t a = 0; a < network.arcs.size(); ++a) {
      for (const int input : network.arcs[a].inputs) readers_[input].push_back(static_cast<int>(a));
      if (network.arcs[a].inputs.empty()) readers_[source_].push_back(static_cast<int>(a));
    }
    value_us_[source_] = 0;
    explore();
  }

  // The required node that costs most.
  int goal() const {
    return *std::max_element(network_.required.begin(), network_.required.end(),
                             [&](int a, int b) { return value_us_[a] < value_us_[b]; });
  }
  double value_us(int node) const { return value_us_[node]; }

  // The arcs into the goal's zone, from which it is reached for nothing, that are reached from the source
  // without passing through the zone. Their least cost is taken off all of them.
  LandmarkCut take_cut(CutSides sides) {
    find_zone();
    if (sides == CutSides::both) find_outside();
    LandmarkCut cut;
    cut.share_us = kInfinity;
    for (const int node : zone_) {
      for (const int a : network_.makers[node]) {
        const std::vector<int>& inputs = network_.arcs[a].inputs;
        if (cost_us_[a] == kInfinity || support_us_[a] == kInfinity ||
            std::any_of(inputs.begin(), inputs.end(), [&](int input) {
              return sides == CutSides::both ? !outside_[input] : in_zone_[input];
            }))
          continue;
        cut.arcs.push_back(a);
        cut.share_us = std::min(cut.share_us, cost_us_[a]);
      }
    }
    std::sort(cut.arcs.begin(), cut.arcs.end());
    cut.arcs.erase(std::unique(cut.arcs.begin(), cut.arcs.end()), cut.arcs.end());
    for (const int node : zone_) in_zone_[node] = false;
    for (const int a : cut.arcs) {
      cost_us_[a] -= cut.share_us;
      offer(a);
    }
    propagate();
    return cut;
  }

 private:
  using Entry = std::pair<double, int>;

  void explore() {
    std::vector<size_t> missing(network_.arcs.size());
    for (size_t a = 0; a < network_.arcs.size(); ++a)
      missing[a] = std::max<size_t>(1, network_.arcs[a].inputs.size());
    std::vector<char> settled(network_.node_count + 1);
    queue_.push({0, source_});
    while (!queue_.empty()) {
      const auto [value, node] = queue_.top();
      queue_.pop();
      if (std::exchange(settled[node], 1)) continue;
      for (const int a : readers_[node]) {
        if (--missing[a] > 0) continue;
        supporter_[a] = node;  // nodes are settled in ascending order of their values
        support_us_[a] = value;
        offer(a);
      }
    }
  }

  void offer(int arc) {
    const double value = support_us_[arc] + cost_us_[arc];
    for (const int output : network_.arcs[arc].outputs) {
      if (value >= value_us_[output]) continue;
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
        if (supporter_[a] != node || support_us_[a] <= value) continue;
        for (const int input : network_.arcs[a].inputs)
          if (value_us_[input] > value_us_[supporter_[a]]) supporter_[a] = input;
        if (value_us_[supporter_[a]] >= support_us_[a]) continue;
        support_us_[a] = value_us_[supporter_[a]];
        offer(a);
      }
    }
  }

  void find_zone() {
    zone_ = {goal()};
    in_zone_[zone_[0]] = true;
    for (size_t at = 0; at < zone_.size(); ++at) {
      for (const int a : network_.makers[zone_[at]]) {
        if (cost_us_[a] != 0 || support_us_[a] == kInfinity || in_zone_[supporter_[a]]) continue;
        in_zone_[supporter_[a]] = true;
        zone_.push_back(supporter_[a]);
      }
    }
  }

  // What is reached without the zone.
  void find_outside() {
    outside_.assign(network_.node_count + 1, false);
    std::vector<int> open = {source_};
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      for (const int a : readers_[node]) {
        if (supporter_[a] != node || cost_us_[a] == kInfinity || support_us_[a] == kInfinity) continue;
        for (const int output : network_.arcs[a].outputs) {
          if (outside_[output] || in_zone_[output]) continue;
          outside_[output] = true;
          open.push_back(output);
        }
      }
    }
  }

  const Network& network_;
  const int source_;
  std::vector<double> cost_us_;            // what is left of it
  std::vector<double> value_us_;           // of each node
  std::vector<std::vector<int>> readers_;  // of each node: arcs
  std::vector<int> supporter_;             // of each arc
  std::vector<double> support_us_;         // of each arc: its supporter's value, when that was looked at last
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::vector<int> zone_;
  std::vector<bool> in_zone_, outside_;
};

}  // namespace

std::vector<LandmarkCut> landmark_cuts(const Network& network, std::span<const double> cost_us,
                                       double time_limit_s, CutSides sides) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::vector<LandmarkCut> cuts;
  if (!network.feasible || network.required.empty()) return cuts;
  JustificationGraph graph(network, cost_us);
  while (std::chrono::duration<double>(Clock::now() - start).count() < time_limit_s) {
    const double value = graph.value_us(graph.goal());
    if (value == 0) break;
    cuts.push_back(value == kInfinity ? LandmarkCut{} : graph.take_cut(sides));
    if (value == kInfinity) break;
  }
  return cuts;
}

}  // namespace korch
