// Rewrite rules: other ways to compute a Value, added to the Graph as alternatives. Each rule is declared
// with its pattern, replacement and condition (docs/design/rewrite.md); tests/rewrite prove every one of them
// on random instances over finite fields and in float64, and measure the error that it adds in float32.
#pragma once

#include <vector>

#include "korch/ir/graph.h"

namespace korch {

class Rewriter;

// What becomes of NaN and infinities, as tests/rewrite/special_values_test.cpp sees it.
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
  // Adds no more float32 error than another order of summation does, and spreads no NaN. The others need the
  // accuracy policy `standard`, where the whole plan's error is checked.
  bool strict;
  // The replacement never does more work, whatever is fused with it: it takes the place of what it equals.
  bool dominates;
  // The field of docs/design/rewrite.md decides whether both are equal; else float64 alone does.
  bool over_field;
  std::vector<Op> roots;
  // Looks at one node with an operator of `roots`, and says with Rewriter::equate what else computes its
  // output.
  void (*apply)(Rewriter& rewriter, NodeId node);
  bool for_bytes = false;  // only where the target multiplies bytes
  NonFinite non_finite = NonFinite::kept;
};

// In the order in which they are tried.
const std::vector<RewriteRule>& rewrite_rules();

}  // namespace korch
