// Candidate: a connected convex set of primitives that could be one kernel (Korch, section 4; docs/design/candidate.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/base/hash.h"
#include "korch/ir/graph.h"

namespace korch {

struct Candidate {
  std::vector<NodeId> nodes;       // topological; constants are not among them
  std::vector<ValueId> inputs;     // read from outside, not constant, in order of first use
  std::vector<ValueId> constants;  // constant Values read, in order of first use
  std::vector<ValueId> outputs;    // made available to others, in order of production
};

// Equal for candidates that one kernel serves: same operators, attributes, types and wiring, same values of one-element
// constants (generated code holds them as literals); larger constants by type alone.
Hash canonical_hash(const Graph& graph, const Candidate& candidate);

struct EnumerateOptions {
  int max_primitives = 24;        // per candidate
  int max_outputs = 3;
  int max_linear = 1;
  int64_t max_candidates = 40000; // reported when it bites
};

struct Enumeration {
  std::vector<Candidate> candidates;      // every live primitive alone is among them
  std::map<std::string, int> pruned;      // by rule, for the report
};

Enumeration enumerate_candidates(const Graph& graph, const EnumerateOptions& options = {});

}  // namespace korch
