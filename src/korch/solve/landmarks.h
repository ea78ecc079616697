// What every derivation of a node passes through. In planning's terms, landmarks of the delete relaxation
// (Keyder, Richter, Helmert: Sound and complete landmarks for and/or graphs, ECAI 2010).
#pragma once

#include <cstdint>
#include <vector>

#include "korch/solve/network.h"

namespace korch {

// Facts: node n is fact n ("n was made"), class c is fact node_count + c ("a column that covers c ran").
// Exact: a fact is a landmark of a node if and only if the node cannot be derived once all arcs with that
// fact are gone.
class Landmarks {
 public:
  // For facts first .. first + count - 1; memory is node_count * count bits.
  Landmarks(const Network& network, int first, int count);
  bool passes(int node, int fact) const {
    const int bit = fact - first_;
    return bits_[static_cast<size_t>(node) * words_ + bit / 64] >> (bit % 64) & 1;
  }

 private:
  int first_;
  int words_;
  std::vector<uint64_t> bits_;
};

constexpr int kLandmarkBlock = 4096;  // facts at a time: keeps the memory at 512 bytes per node

// A class that every derivation of the required nodes covers, and the arcs that may be the first to cover it:
// those that read nothing whose every derivation covers it.
struct MandatoryClass {
  int number;
  std::vector<int> first_covers;  // arcs
};
std::vector<MandatoryClass> mandatory_classes(const Network& network);

// Pairs of classes that are not mandatory, one of which every derivation of the required nodes covers: a
// Value and what an alternative computes instead. Per class, at most a few, those that the fewest arcs cover.
struct MandatoryPair {
  int first, second;
  std::vector<int> covers;  // arcs that cover one of them, ascending
};
std::vector<MandatoryPair> mandatory_pairs(const Network& network,
                                           const std::vector<MandatoryClass>& mandatory);

}  // namespace korch
