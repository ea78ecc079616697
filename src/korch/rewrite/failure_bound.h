// How likely a random test over a field overlooks a difference.
#pragma once

#include "korch/ir/graph.h"

namespace korch::field {

// At most this probability per test that an output of `a` which differs from that of `b`, as rational
// functions of inputs, exponentials and unknown functions, is the same at a random point. 1 where nothing is
// known.
double failure_bound(const Graph& a, const Graph& b, bool with_exp);

}  // namespace korch::field
