// The solve stage: which columns make the plan. Measures what can matter, solves, runs the solver's plan
// against others that cost little more, and remembers the answer (docs/design/search.md).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/options/compile_options.h"
#include "korch/profile/database.h"
#include "korch/profile/strikes.h"
#include "korch/search/columns.h"
#include "korch/search/contests.h"
#include "korch/search/cost_source.h"
#include "korch/search/solve_memo.h"

namespace korch {

using CandidateSet = std::set<std::pair<std::vector<NodeId>, std::vector<ValueId>>>;  // nodes, outputs

struct SearchOptions {
  bool prove = true;    // false: measure only what the plan takes, by the source's estimates
  bool measure = true;  // false: by the source's estimates, or on bounds, among the kernels that can be built
  bool carried = false;     // and on costs that the source carries; where not measuring
  bool modelled = false;    // where not measuring: what the source gives as measured is of a model
  bool exhaustive = false;  // measure every column
  int audit = 0;            // where estimates search: kernels measured to judge the bounds of others
  bool other_schedules = true;
  Bounds bounds = Bounds::learned;
  double budget_s = 0;     // of the whole compilation; 0: no limit
  Deadline deadline = {};  // of measuring and solving
  std::function<void(int64_t done, int64_t total)> progress = nullptr;  // kernels measured
};

struct ChoiceRequest {
  const Graph* graph;
  const Graph* base;  // the same without alternatives
  const Device* target;
  SearchOptions options;
  CostSource* costs;
  Contests* contests;
  Database* database;                 // remembers the choice; may be null
  Strikes* strikes;                   // null: none count
  CandidateSet rival_groups;          // greedy's, to run its plan against the solver's; empty: do not
  std::map<std::string, int> pruned;  // so far, by rule
};

struct Choice {
  SolveMemo solved;
  std::map<RefusalReason, std::string> refusal_examples;  // the first of each
  std::vector<std::string> limits;                        // as in PlanReport
};

// Columns get the costs that were measured.
Choice choose_plan(const ChoiceRequest& request, Columns& columns);

}  // namespace korch
