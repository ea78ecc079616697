// Terms evaluated as they stand, in float64: the meaning that groups are compared by.
#pragma once

#include "korch/groups/group_terms.h"

namespace korch::groups {

// Expects each result of the terms to be what the group's primitives compute of random inputs.
void expect_equal_values(const Graph& graph, const Candidate& candidate, const GroupTerms& group,
                         uint64_t seed);

// Of all primitives of the graph that are no constants, with the graph's outputs.
Candidate all_of(const Graph& graph);

}  // namespace korch::groups
