// Rewrite rules add alternatives, other primitives for a Value, to the Graph. Each rule is declared with its
// pattern, replacement and condition (docs/design/rewrite.md); tests/rewrite prove every one on random
// instances over finite fields and in float64, and measure the error that it adds in float32.
#pragma once

#include <vector>

#include "korch/ir/graph.h"

namespace korch {

class Rewriter;

// The effect on NaN and infinities, as tests/rewrite/special_values_test.cpp finds it.
enum class NonFinite {
  kept,    // each element is NaN, infinite or a number as it was
  spread,  // a NaN stays NaN; of infinities and of numbers beside them or beside a NaN some become NaN, and
           // where infinities of both signs met there may be one of them
  lost,    // a NaN may become a number
  overflows,  // kept, but where a number is so huge that what is computed of it on the way becomes infinite
};

struct RewriteRule {
  const char* name;
  const char* pattern;
  const char* replacement;
  const char* condition;  // beyond what types and attributes demand; "" for none
  // Adds no more float32 error than another order of summation, and spreads no NaN. Other rules need the
  // accuracy policy `standard`, where the whole plan's error is checked.
  bool strict;
  // The replacement never does more work, whatever is fused with it, so it takes the place of the original.
  bool dominates;
  // The field of docs/design/rewrite.md decides whether both are equal; else float64 alone does.
  bool over_field;
  std::vector<Op> roots;
  // Looks at one node with an operator of `roots`, and declares other nodes for its output with
  // Rewriter::equate.
  void (*apply)(Rewriter& rewriter, NodeId node);
  bool for_bytes = false;  // only where the target multiplies bytes
  NonFinite non_finite = NonFinite::kept;
  bool for_floats = false;  // only where the target has no kernels for narrow weights
};

// In the order in which they are tried.
const std::vector<RewriteRule>& rewrite_rules();

}  // namespace korch
