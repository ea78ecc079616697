// Enumeration within a given time.
#pragma once

#include "korch/base/deadline.h"
#include "korch/candidate/candidate.h"

namespace korch {

// As enumerate_candidates; after the deadline nothing is grown any more, and what is left are single
// primitives (and chains that are never cut). `pruned` counts the places where nothing was grown as "budget".
Enumeration enumerate_until(const Graph& graph, const LinearContext& context, const EnumerateOptions& options,
                            const Deadline& deadline);

}  // namespace korch
