// Candidates written by hand, one per shape of kernel that has to work.
#pragma once

#include <ostream>
#include <vector>

#include "korch/ir/graph.h"

namespace korch::testing {

struct Case {
  const char* name;
  const char* text;
  double tolerance = 3e-6;
};

inline void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

const std::vector<Case>& hand_written();
const std::vector<Case>& products();  // linear primitives with an epilogue, for the family linear_generic

const std::vector<Case>& opaque_primitives();  // one each

// A candidate of random memory-bound primitives with one to three outputs.
Graph random_graph(uint64_t seed);

}  // namespace korch::testing
