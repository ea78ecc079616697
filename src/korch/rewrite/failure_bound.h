// The probability that a random test over a field overlooks a difference.
#pragma once

#include "korch/ir/graph.h"

namespace korch::field {

// Per test, an upper bound of the probability that different outputs of `a` and `b` agree at a random point,
// as rational functions of inputs, exponentials and unknown functions. 1 if none is known.
double failure_bound(const Graph& a, const Graph& b, bool with_exp);

}  // namespace korch::field
