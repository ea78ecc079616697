#include "korch/solve/landmarks.h"

#include <algorithm>
#include <iterator>

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
// without that fact.
template <typename AddFacts>
std::vector<uint64_t> landmark_bits(const Network& network, int words, const std::vector<int>& order,
                                    AddFacts&& add_facts) {
  std::vector<uint64_t> bits(static_cast<size_t>(network.node_count) * words, ~uint64_t{0});
  std::vector<uint64_t> meet(words), through(words);
  for (bool changed = true; changed;) {
    changed = false;
    for (const int node : order) {
      std::fill(meet.begin(), meet.end(), ~uint64_t{0});
      for (const int maker : network.makers[node]) {
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

}  // namespace

Landmarks::Landmarks(const Network& network, int first, int count)
    : first_(first), words_((count + 63) / 64) {
  bits_ =
      landmark_bits(network, words_, derivation_order(network), [&](int arc, std::vector<uint64_t>& through) {
        for (const int output : network.arcs[arc].outputs)
          if (output >= first && output < first + count) set_bit(through, output - first);
      });
}

}  // namespace korch
