// The structural rules that a growing set must keep. Each has a name in the report; docs/design/candidate.md
// gives the reasons.
#pragma once

#include <optional>

#include "korch/candidate/atom_graph.h"
#include "korch/candidate/candidate.h"

namespace korch {

enum class Rule {
  size,             // more than max_primitives
  linear,           // more than max_linear linear primitives
  opaque,           // an opaque primitive is alone
  loops,            // within different loops
  sinks,            // more sinks than outputs allowed
  outputs,          // more outputs than allowed (when a candidate is made of a set)
  linear_sinks,     // a linear candidate with several sinks
  linear_epilogue,  // after the linear primitive: what may not follow it (LinearContext)
  linear_prologue,  // before or beside it: what may not precede it, or more than most_before per operand
  linear_parts,     // some of a linear operation's three parts, fused
  weighted_window,  // a weighted window fused with what it reads, or without a linear primitive after it
  sharing,       // siblings joined by a shared input over different domains, or although one needs the other
  sink_domains,  // sinks over different domains
  readers,       // of one Value, beyond the near ones
  sets_per_sink,
  max_candidates,
  budget  // sinks from which nothing was grown
};

const char* name(Rule rule);

// The first rule that the set breaks.
std::optional<Rule> broken_rule(const AtomGraph& graph, const AtomSet& set, const LinearContext& context,
                                const EnumerateOptions& options);

// Whether a set that is not convex may be a kernel that computes again what others get from it: it reduces
// nothing, what leaves it and comes back is reduced on the way (x and the variance of x), and no linear or
// opaque primitive stands there.
bool may_recompute(const AtomGraph& graph, const AtomSet& set, const EnumerateOptions& options);

// Whether two atoms that read one Value, and are not producer and consumer, may be joined by that alone. With
// alternatives not where one follows from the other, as the scores of two layers that read one mask: such a
// kernel could run where an alternative makes what stands between, but then nobody needs its first half.
bool may_share(const AtomGraph& graph, AtomId first, AtomId second, const EnumerateOptions& options);

// Atoms of the set that nothing in the set consumes.
AtomSet sinks_of(const AtomGraph& graph, const AtomSet& set);
// Atoms of the set that depend on its linear (reducing) primitives, these included; within the set.
AtomSet linear_part(const AtomGraph& graph, const AtomSet& set);
AtomSet reduced_part(const AtomGraph& graph, const AtomSet& set);
// What a kernel for the set moves at least: Values read from outside and Values needed outside, each once.
int64_t traffic_bytes(const AtomGraph& graph, const AtomSet& set);
bool has_linear(const AtomGraph& graph, const AtomSet& set);

}  // namespace korch
