// Random graphs: operators one by one, and motifs, small templates that networks are full of and that rewrite
// rules, kernel families and layouts look for, each randomly dressed.
#pragma once

#include "graph_maker.h"

namespace korch::fuzz {

// Deterministic: the same seed, the same graph. `only`: of the motif of this name alone.
Graph random_graph(uint64_t seed, const std::string& only = {});

struct Motif {
  const char* name;
  int weight;
  void (*add)(GraphMaker& maker);  // may throw GraphMaker::GaveUp
};
const std::vector<Motif>& motifs();

}  // namespace korch::fuzz
