// Nodes that every derivation of a node passes through. In planning's terms, landmarks of the delete
// relaxation (Keyder, Richter, Helmert: Sound and complete landmarks for and/or graphs, ECAI 2010).
#pragma once

#include <cstdint>
#include <vector>

#include "korch/solve/network.h"

namespace korch {

// Exact: every derivation of a node makes another one if and only if the node cannot be derived once all arcs
// that make the other are gone.
class Landmarks {
 public:
  // For the other nodes first .. first + count - 1; memory is node_count * count bits.
  Landmarks(const Network& network, int first, int count);
  bool passes(int node, int other) const {
    const int bit = other - first_;
    return bits_[static_cast<size_t>(node) * words_ + bit / 64] >> (bit % 64) & 1;
  }

 private:
  int first_;
  int words_;
  std::vector<uint64_t> bits_;
};

constexpr int kLandmarkBlock = 4096;  // other nodes at a time: keeps the memory at 512 bytes per node

}  // namespace korch
