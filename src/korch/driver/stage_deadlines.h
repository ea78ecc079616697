// Until when the stages of a compilation may work (docs/design/driver.md, "Budget").
#pragma once

#include "korch/base/deadline.h"

namespace korch {

// Without a budget. Several times what the largest networks of the zoo take on two busy cores, so that every
// stage ends and none of these limits decides about a plan; where one does, the report names it. A plan on
// bounds then does not depend on the clock. One on measured costs does: they are measured, and the solver has
// seconds to find what else is to be measured (docs/design/solve.md).
struct StageLimits {
  double growing_s = 600;  // each of alternatives, candidates, columns
  double search_s = 3600;  // measuring and solving
  double check_s = 3600;   // comparing the executable with the network
};

class StageDeadlines {
 public:
  // Of the whole compilation, from now on; 0: no budget.
  explicit StageDeadlines(double budget_s);

  // The search leaves so much to the check, where that is no more than half of the budget; with more the
  // check would not end.
  void reserve_for_check(double seconds);

  // Of the whole; without a budget never over. The others are the stage's own then, from now on.
  const Deadline& whole() const { return whole_; }
  Deadline growing() const;
  Deadline search() const;
  // A compilation that has begun to check may take a little longer than its budget.
  Deadline check() const;

 private:
  double budget_s_, behind_search_s_;
  Deadline whole_;
};

}  // namespace korch
