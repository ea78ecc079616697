// Fission: operators to primitives (Korch, section 3; docs/design/fission.md).
//
// Every composite operator is replaced by the primitives of its rule (rules.h), every bias of a convolution
// becomes an Add; then simplify.h tidies up. Rules are numerically safe: softmax keeps its max, variance
// takes two passes. Each new node carries the origins of the operator it stems from. Inputs, outputs and
// their names are kept.
#pragma once

#include "korch/ir/graph.h"

namespace korch {

// The rules alone: primitives only, not simplified. Throws Error{unsupported} naming every node that a rule
// refuses.
Graph apply_fission_rules(const Graph& imported);

// The rules, then the simplifications.
Graph fission(const Graph& imported);

}  // namespace korch
