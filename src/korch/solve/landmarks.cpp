#include "korch/solve/landmarks.h"

#include <algorithm>

namespace korch {
namespace {

// Nodes in the order in which they become derivable: the fixpoint then settles in few passes.
std::vector<int> derivation_order(const Network& network) {
  std::vector<int> missing(network.arcs.size());
  std::vector<std::vector<int>> readers(network.node_count);
  std::vector<int> order;
  std::vector<bool> made(network.node_count);
  auto fire = [&](int arc) {
    for (const int node : network.arcs[arc].outputs)
      if (!made[node]) {
        made[node] = true;
        order.push_back(node);
      }
  };
  for (size_t a = 0; a < network.arcs.size(); ++a) {
    missing[a] = static_cast<int>(network.arcs[a].inputs.size());
    for (const int node : network.arcs[a].inputs) readers[node].push_back(static_cast<int>(a));
  }
  for (size_t a = 0; a < network.arcs.size(); ++a)
    if (missing[a] == 0) fire(static_cast<int>(a));
  for (size_t at = 0; at < order.size(); ++at)
    for (const int arc : readers[order[at]])
      if (--missing[arc] == 0) fire(arc);
  return order;
}

}  // namespace

// The greatest solution of: landmarks(n) = {n} + intersection over makers a of n of (facts of a + union of
// landmarks(inputs of a)). Its complement is, fact by fact, what forward chaining derives without that fact.
Landmarks::Landmarks(const Network& network, int first, int count)
    : first_(first),
      words_((count + 63) / 64),
      bits_(static_cast<size_t>(network.node_count) * words_, ~uint64_t{0}) {
  const int last = first + count;
  auto set = [&](std::vector<uint64_t>& words, int fact) {
    if (fact >= first && fact < last) words[(fact - first) / 64] |= uint64_t{1} << ((fact - first) % 64);
  };
  const std::vector<int> order = derivation_order(network);
  std::vector<uint64_t> meet(words_), through(words_);
  for (bool changed = true; changed;) {
    changed = false;
    for (const int node : order) {
      std::fill(meet.begin(), meet.end(), ~uint64_t{0});
      for (const int maker : network.makers[node]) {
        const Arc& arc = network.arcs[maker];
        std::fill(through.begin(), through.end(), 0);
        for (const int output : arc.outputs) set(through, output);
        for (const int covered : arc.covers) set(through, network.node_count + covered);
        for (const int input : arc.inputs)
          for (int w = 0; w < words_; ++w) through[w] |= bits_[static_cast<size_t>(input) * words_ + w];
        for (int w = 0; w < words_; ++w) meet[w] &= through[w];
      }
      uint64_t* mine = &bits_[static_cast<size_t>(node) * words_];
      changed = changed || !std::equal(meet.begin(), meet.end(), mine);
      std::copy(meet.begin(), meet.end(), mine);
    }
  }
}

std::vector<MandatoryClass> mandatory_classes(const Network& network) {
  std::vector<std::vector<int>> covered_by(network.class_count);
  for (size_t a = 0; a < network.arcs.size(); ++a)
    for (const int c : network.arcs[a].covers) covered_by[c].push_back(static_cast<int>(a));
  std::vector<MandatoryClass> classes;
  for (int first = 0; first < network.class_count; first += kLandmarkBlock) {
    const int count = std::min(kLandmarkBlock, network.class_count - first);
    const Landmarks landmarks(network, network.node_count + first, count);
    for (int c = first; c < first + count; ++c) {
      const auto passes = [&](int node) { return landmarks.passes(node, network.node_count + c); };
      if (std::none_of(network.required.begin(), network.required.end(), passes)) continue;
      classes.push_back({c, {}});
      for (const int arc : covered_by[c]) {
        const std::vector<int>& inputs = network.arcs[arc].inputs;
        if (std::none_of(inputs.begin(), inputs.end(), passes)) classes.back().first_covers.push_back(arc);
      }
    }
  }
  return classes;
}

}  // namespace korch
