// Candidate: a connected convex set of primitives that could be one kernel (Korch, section 4;
// docs/design/candidate.md).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "korch/base/hash.h"
#include "korch/block/placed_graph.h"
#include "korch/ir/graph.h"

namespace korch {

struct Candidate {
  std::vector<NodeId> nodes;       // topological, canonical_order; constants are not among them
  std::vector<ValueId> inputs;     // read from outside, not constant, in order of first use
  std::vector<ValueId> constants;  // constant Values read, in order of first use
  std::vector<ValueId> outputs;    // made available to others, in order of production
  // How one kernel could compute it block by block; most candidates have none.
  std::vector<std::shared_ptr<const block::PlacedGraph>> structures = {};
};

// Equal for candidates that one kernel serves: same operators, attributes, types and wiring, same values of
// one-element and of integer constants (generated code holds them as literals; constant indices become
// arithmetic); other constants by type alone.
Hash canonical_hash(const Graph& graph, const Candidate& candidate);

// The names of their operators, joined by "+".
std::string operators_text(const Graph& graph, const std::vector<NodeId>& nodes);

// The nodes of a candidate in a topological order that depends on their structure rather than their ids, so
// that isomorphic candidates list nodes, inputs and outputs alike and get equal hashes.
std::vector<NodeId> canonical_order(const Graph& graph, const std::vector<NodeId>& nodes);

// The candidate of these nodes: `outputs` are made available, inputs and constants follow. Nodes and outputs
// in any order.
Candidate make_candidate(const Graph& graph, const std::vector<NodeId>& nodes,
                         const std::vector<ValueId>& outputs);

// What kernels can hold around their linear primitive. Their sources say it (codegen/implementation.h), and
// no other set grows around one.
struct LinearContext {
  // Whether the primitive can be computed from each element of a result of so many, as that is finished.
  bool (*may_follow)(const Graph& graph, const Node& node, int64_t elements);
  // Whether the primitive, before or beside the linear one, can be computed where that reads it.
  bool (*may_precede)(const Node& node);
  int most_before;  // such primitives, per operand of the linear one
};

// Which sets are enumerated. The bounds define a candidate; the rules prune further, each for the reason
// given in docs/design/candidate.md, and each can be switched off.
struct EnumerateOptions {
  int max_primitives = 48;  // per candidate
  int max_outputs = 3;
  int max_linear = 1;
  bool recompute = true;             // also sets that are not convex where this is legal and pays
  int64_t max_candidates = 40000;    // reported when it bites
  bool rule_chain = true;            // some primitives are never cut from their only producer or consumer
  bool rule_join = true;             // of the private operands of a primitive, all or none
  bool rule_linear_context = true;   // around a linear primitive: one sink, and a LinearContext
  bool rule_weighted_window = true;  // weighted windows: only into linear primitives, without what they read
  bool rule_linear_parts = true;     // a linear operation's three parts: one alone, or all of them
  bool rule_sharing = true;          // siblings joined by a shared input alone iterate over one domain
  bool rule_sinks = true;            // several sinks iterate over one domain
  int64_t max_sets_per_sink = 300;   // sets grown whose last primitive is the same; 0: no limit
};

struct Enumeration {
  std::vector<Candidate> candidates;  // every live primitive alone is among them
  std::map<std::string, int> pruned;  // growth steps or candidates refused, by rule, for the report
};

Enumeration enumerate_candidates(const Graph& graph, const LinearContext& context,
                                 const EnumerateOptions& options = {});

// Of all of them, at their full extents.
inline double bytes_of(const Graph& graph, const std::vector<ValueId>& values) {
  double bytes = 0;
  for (ValueId value : values) bytes += static_cast<double>(graph.value(value).type.bytes());
  return bytes;
}

}  // namespace korch
