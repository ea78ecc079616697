#include <algorithm>
#include <cmath>
#include <tuple>

#include "korch/solve/components.h"
#include "korch/solve/landmarks.h"
#include "korch/solve/network.h"

namespace korch {
namespace {

bool is_free(const Column& column) {
  return column.measured && column.cost_us == 0;
}

void make_unique(std::vector<int>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

class Reducer {
 public:
  explicit Reducer(const Problem& problem) : problem_(problem) {}

  Network run() {
    merge_tensors();
    make_arcs();
    if (!drop_underivable()) {
      network_ = Network();
      network_.feasible = false;
      return std::move(network_);
    }
    drop_irrelevant();
    merge_arcs();
    drop_late_outputs();
    drop_irrelevant();
    merge_arcs();
    number_nodes();
    return std::move(network_);
  }

 private:
  // Which tensors are one node, and which are there at no cost.
  void merge_tensors() {
    const int tensors = static_cast<int>(problem_.tensor_class.size());
    std::vector<std::vector<int>> edges(tensors);
    for (const Column& column : problem_.columns)
      if (is_free(column) && column.inputs.size() == 1)
        for (const int output : column.outputs) edges[column.inputs[0]].push_back(output);
    node_of_ = strong_components(edges);
    free_.assign(tensors, false);
    for (const int tensor : problem_.available) free_[node_of_[tensor]] = true;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Column& column : problem_.columns) {
        const auto is_there = [&](int tensor) { return free_[node_of_[tensor]]; };
        if (!is_free(column) || !std::all_of(column.inputs.begin(), column.inputs.end(), is_there)) continue;
        for (const int output : column.outputs) {
          changed = changed || !free_[node_of_[output]];
          free_[node_of_[output]] = true;
        }
      }
    }
    network_.node_count = tensors;
    for (const int tensor : problem_.required)
      if (!free_[node_of_[tensor]]) network_.required.push_back(node_of_[tensor]);
    make_unique(network_.required);
  }

  std::vector<int> nodes_of(const std::vector<int>& tensors) const {
    std::vector<int> nodes;
    for (const int tensor : tensors)
      if (!free_[node_of_[tensor]]) nodes.push_back(node_of_[tensor]);
    make_unique(nodes);
    return nodes;
  }

  void make_arcs() {
    for (size_t i = 0; i < problem_.columns.size(); ++i) {
      const Column& column = problem_.columns[i];
      if (!std::isfinite(column.cost_us)) continue;
      Arc arc{nodes_of(column.inputs), nodes_of(column.outputs), {static_cast<int>(i)}, column.covers};
      make_unique(arc.covers);
      for (const int tensor : column.inputs) std::erase(arc.covers, problem_.tensor_class[tensor]);
      std::erase_if(arc.outputs,
                    [&](int node) { return std::binary_search(arc.inputs.begin(), arc.inputs.end(), node); });
      if (!arc.outputs.empty()) network_.arcs.push_back(std::move(arc));
    }
  }

  // False when a required node cannot be derived.
  bool drop_underivable() {
    std::vector<int> missing, ready;
    std::vector<std::vector<int>> readers(network_.node_count);
    std::vector<bool> made(network_.node_count);
    for (size_t a = 0; a < network_.arcs.size(); ++a) {
      missing.push_back(static_cast<int>(network_.arcs[a].inputs.size()));
      if (missing.back() == 0) ready.push_back(static_cast<int>(a));
      for (const int node : network_.arcs[a].inputs) readers[node].push_back(static_cast<int>(a));
    }
    for (size_t at = 0; at < ready.size(); ++at)
      for (const int node : network_.arcs[ready[at]].outputs) {
        if (made[node]) continue;
        made[node] = true;
        for (const int reader : readers[node])
          if (--missing[reader] == 0) ready.push_back(reader);
      }
    std::sort(ready.begin(), ready.end());
    std::vector<Arc> kept;
    for (const int arc : ready) kept.push_back(std::move(network_.arcs[arc]));
    network_.arcs = std::move(kept);
    return std::all_of(network_.required.begin(), network_.required.end(),
                       [&](int node) { return made[node]; });
  }

  void index_makers() {
    network_.makers.assign(network_.node_count, {});
    for (size_t a = 0; a < network_.arcs.size(); ++a)
      for (const int node : network_.arcs[a].outputs) network_.makers[node].push_back(static_cast<int>(a));
  }

  // Keeps what some required node can be made of.
  void drop_irrelevant() {
    index_makers();
    std::vector<bool> relevant(network_.node_count);
    std::vector<int> queue = network_.required;
    for (const int node : queue) relevant[node] = true;
    for (size_t at = 0; at < queue.size(); ++at)
      for (const int maker : network_.makers[queue[at]])
        for (const int input : network_.arcs[maker].inputs)
          if (!relevant[input]) {
            relevant[input] = true;
            queue.push_back(input);
          }
    for (Arc& arc : network_.arcs) std::erase_if(arc.outputs, [&](int node) { return !relevant[node]; });
    std::erase_if(network_.arcs, [](const Arc& arc) { return arc.outputs.empty(); });
  }

  void merge_arcs() {
    auto ends = [](const Arc& arc) { return std::tie(arc.inputs, arc.outputs); };
    std::stable_sort(network_.arcs.begin(), network_.arcs.end(),
                     [&](const Arc& a, const Arc& b) { return ends(a) < ends(b); });
    std::vector<Arc> merged;
    for (Arc& arc : network_.arcs) {
      if (merged.empty() || ends(merged.back()) != ends(arc)) {
        merged.push_back(std::move(arc));
        continue;
      }
      Arc& same = merged.back();
      same.columns.insert(same.columns.end(), arc.columns.begin(), arc.columns.end());
      same.covers.insert(same.covers.end(), arc.covers.begin(), arc.covers.end());
    }
    for (Arc& arc : merged) {
      make_unique(arc.columns);
      make_unique(arc.covers);
    }
    std::sort(merged.begin(), merged.end(), [](const Arc& a, const Arc& b) { return a.columns < b.columns; });
    network_.arcs = std::move(merged);
    index_makers();
  }

  // An output that every derivation of the arc's own inputs makes is never made by this arc first.
  void drop_late_outputs() {
    for (int first = 0; first < network_.node_count; first += kLandmarkBlock) {
      const int count = std::min(kLandmarkBlock, network_.node_count - first);
      const Landmarks landmarks(network_, first, count);
      for (Arc& arc : network_.arcs)
        std::erase_if(arc.outputs, [&](int output) {
          return output >= first && output < first + count &&
                 std::any_of(arc.inputs.begin(), arc.inputs.end(),
                             [&](int input) { return landmarks.passes(input, output); });
        });
      index_makers();
    }
    std::erase_if(network_.arcs, [](const Arc& arc) { return arc.outputs.empty(); });
  }

  // Consecutive numbers for the nodes that are left.
  void number_nodes() {
    std::vector<int> number(network_.node_count, -1);
    for (const Arc& arc : network_.arcs)
      for (const int node : arc.outputs) number[node] = 0;
    int next = 0;
    for (int& n : number)
      if (n == 0) n = next++;
    auto renumber = [&](std::vector<int>& nodes) {
      for (int& node : nodes) node = number[node];
    };
    for (Arc& arc : network_.arcs) {
      renumber(arc.inputs);
      renumber(arc.outputs);
    }
    renumber(network_.required);
    network_.node_count = next;
    index_makers();
  }

  const Problem& problem_;
  Network network_;
  std::vector<int> node_of_;  // of each tensor; before number_nodes
  std::vector<bool> free_;    // of each node of node_of_
};

}  // namespace

Network reduce(const Problem& problem) {
  return Reducer(problem).run();
}

}  // namespace korch
