// The solve stage: which columns make the plan. Measures what can matter, solves, runs the solver's plan
// against others that cost little more, and remembers the answer (docs/design/driver.md).
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/driver/pipeline.h"
#include "korch/profile/database.h"
#include "korch/profile/kernel_bank.h"
#include "korch/profile/strikes.h"
#include "korch/search/columns.h"
#include "korch/search/solve_memo.h"

namespace korch {

using CandidateSet = std::set<std::pair<std::vector<NodeId>, std::vector<ValueId>>>;  // nodes, outputs

struct ChoiceRequest {
  const Graph* graph;
  const Graph* base;  // the same without alternatives
  const Target* target;
  const CompileOptions* options;
  Database* database;                 // may be null
  Strikes* strikes;                   // null: none count
  Deadline deadline;                  // of measuring and solving
  CandidateSet rival_groups;          // greedy's, to run its plan against the solver's; empty: do not
  std::map<std::string, int> pruned;  // so far, by rule
};

struct Choice {
  SolveMemo solved;
  std::map<RefusalReason, std::string> refusal_examples;  // the first of each
  std::vector<std::string> limits;                        // as in PlanReport
};

// Columns get the costs that were measured.
Choice choose_plan(const ChoiceRequest& request, Columns& columns, KernelBank& bank);

}  // namespace korch
