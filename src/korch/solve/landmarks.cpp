#include "korch/solve/landmarks.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

// The greatest solution of: landmarks(n) = intersection over makers a of n of (facts of a + union of
// landmarks(inputs of a)), `words` per node. Its complement is, fact by fact, what forward chaining derives
// without that fact. Arcs that are `banned` make nothing.
template <typename AddFacts>
std::vector<uint64_t> landmark_bits(const Network& network, int words, const std::vector<int>& order,
                                    const std::vector<bool>& banned, AddFacts&& add_facts) {
  std::vector<uint64_t> bits(static_cast<size_t>(network.node_count) * words, ~uint64_t{0});
  std::vector<uint64_t> meet(words), through(words);
  for (bool changed = true; changed;) {
    changed = false;
    for (const int node : order) {
      std::fill(meet.begin(), meet.end(), ~uint64_t{0});
      for (const int maker : network.makers[node]) {
        if (!banned.empty() && banned[maker]) continue;
        std::fill(through.begin(), through.end(), 0);
        add_facts(maker, through);
        for (const int input : network.arcs[maker].inputs)
          for (int w = 0; w < words; ++w) through[w] |= bits[static_cast<size_t>(input) * words + w];
        for (int w = 0; w < words; ++w) meet[w] &= through[w];
      }
      uint64_t* mine = &bits[static_cast<size_t>(node) * words];
      changed = changed || !std::equal(meet.begin(), meet.end(), mine);
      std::copy(meet.begin(), meet.end(), mine);
    }
  }
  return bits;
}

void set_bit(std::vector<uint64_t>& words, int bit) {
  words[bit / 64] |= uint64_t{1} << (bit % 64);
}
bool test_bit(const uint64_t* words, int bit) {
  return words[bit / 64] >> (bit % 64) & 1;
}

}  // namespace

Landmarks::Landmarks(const Network& network, int first, int count)
    : first_(first), words_((count + 63) / 64) {
  const auto add = [&](std::vector<uint64_t>& words, int fact) {
    if (fact >= first && fact < first + count) set_bit(words, fact - first);
  };
  bits_ = landmark_bits(network, words_, derivation_order(network), {},
                        [&](int arc, std::vector<uint64_t>& through) {
                          for (const int output : network.arcs[arc].outputs) add(through, output);
                          for (const int covered : network.arcs[arc].covers)
                            add(through, network.node_count + covered);
                        });
}

namespace {

// Per class, the arcs that cover it.
std::vector<std::vector<int>> covering_arcs(const Network& network) {
  std::vector<std::vector<int>> covered_by(network.class_count);
  for (size_t a = 0; a < network.arcs.size(); ++a)
    for (const int c : network.arcs[a].covers) covered_by[c].push_back(static_cast<int>(a));
  return covered_by;
}

}  // namespace

std::vector<MandatoryClass> mandatory_classes(const Network& network) {
  const std::vector<std::vector<int>> covered_by = covering_arcs(network);
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

std::vector<MandatoryPair> mandatory_pairs(const Network& network,
                                           const std::vector<MandatoryClass>& mandatory) {
  constexpr size_t kMostClasses = 2048;  // beyond, the time is better spent in the relaxation
  constexpr int kPairsPerClass = 8;
  const std::vector<std::vector<int>> covered_by = covering_arcs(network);
  std::vector<bool> is_mandatory(network.class_count);
  for (const MandatoryClass& c : mandatory) is_mandatory[c.number] = true;
  std::vector<int> optional, fact_of(network.class_count, -1);
  for (int c = 0; c < network.class_count; ++c) {
    if (is_mandatory[c] || covered_by[c].empty()) continue;
    fact_of[c] = static_cast<int>(optional.size());
    optional.push_back(c);
  }
  if (optional.empty() || optional.size() > kMostClasses) return {};
  const int words = static_cast<int>(optional.size() + 63) / 64;
  const std::vector<int> order = derivation_order(network);
  std::vector<std::pair<int, int>> pairs;
  for (const int c : optional) {
    std::vector<bool> banned(network.arcs.size());
    for (const int arc : covered_by[c]) banned[arc] = true;
    const std::vector<uint64_t> bits =
        landmark_bits(network, words, order, banned, [&](int arc, std::vector<uint64_t>& through) {
          for (const int covered : network.arcs[arc].covers)
            if (fact_of[covered] >= 0) set_bit(through, fact_of[covered]);
        });
    std::vector<int> others;
    for (const int d : optional) {
      const bool passes = std::any_of(network.required.begin(), network.required.end(), [&](int node) {
        return test_bit(&bits[static_cast<size_t>(node) * words], fact_of[d]);
      });
      if (passes && d != c) others.push_back(d);
    }
    std::stable_sort(others.begin(), others.end(),
                     [&](int a, int b) { return covered_by[a].size() < covered_by[b].size(); });
    if (others.size() > kPairsPerClass) others.resize(kPairsPerClass);
    for (const int d : others) pairs.emplace_back(std::min(c, d), std::max(c, d));
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<MandatoryPair> result;
  for (const auto& [c, d] : pairs) {
    result.push_back({c, d, {}});
    std::set_union(covered_by[c].begin(), covered_by[c].end(), covered_by[d].begin(), covered_by[d].end(),
                   std::back_inserter(result.back().covers));
  }
  return result;
}

}  // namespace korch
