// Until when the stages of a compilation may work (docs/design/driver.md, "Budget").
#pragma once

#include "korch/base/deadline.h"

namespace korch {

// Limits without a budget: several times what the largest networks of the zoo take on two busy cores. So
// every stage ends, and normally none of these limits decides about a plan; if one does, the report names it.
// A plan on bounds then does not depend on the clock. A plan on measured costs does, since the solver has
// seconds to find what is still to be measured (docs/design/solve.md).
struct StageLimits {
  double growing_s = 600;    // each of alternatives, candidates, columns
  double structures_s = 60;  // searching for block graphs
  double search_s = 3600;    // measuring and solving
  double check_s = 3600;     // comparing the executable with the network
};

class StageDeadlines {
 public:
  // Of the whole compilation, from now on; 0: no budget.
  explicit StageDeadlines(double budget_s);

  // Reserves this time for the check, if it is at most half of the budget; a longer check would not end.
  void reserve_for_check(double seconds);

  // The deadline of the whole compilation; never over without a budget. The deadlines below then begin when
  // they are asked for.
  const Deadline& whole() const { return whole_; }
  Deadline growing() const;
  Deadline structures() const;  // of a budget a tenth
  Deadline search() const;
  // A compilation that has begun to check may take a little longer than its budget.
  Deadline check() const;

 private:
  double budget_s_, behind_search_s_;
  Deadline whole_;
};

}  // namespace korch
