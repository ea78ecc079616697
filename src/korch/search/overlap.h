// Plans for workers that do not wait for each other: other kernels may use the workers that a kernel leaves
// idle (docs/design/search.md, "Overlap").
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "korch/search/columns.h"
#include "korch/search/contests.h"

namespace korch {

// Of a column's kernel, by CostSource.
using HasRounds = std::function<bool(int column)>;

// The columns of a plan, given in an order that can run, beside which others may run: neither needs the
// other's results, or gets them round after round.
std::vector<int> beside_others(const Columns& columns, const std::vector<int>& plan,
                               const HasRounds& has_rounds);

struct OverlapRequest {
  const Columns* columns;  // whose costs are final; those that are not measured are not taken
  // Of a column's kernel (plan/kernel.h); 1 where nothing is known.
  std::function<double(int column)> occupancy;
  HasRounds has_rounds;
  // As Contests::simulate.
  std::function<std::optional<SimulatedPlan>(const std::vector<int>& plan)> simulate;
  std::vector<int> plan;  // the best one by the costs of kernels alone
};

struct OverlapPlan {
  std::vector<int> chosen;
  double cost_us = 0;       // of its kernels, one after the other
  double simulated_us = 0;  // as a task graph
};

// A plan whose task graph ends clearly sooner than the given one's. Nothing if there is none, if no kernel of
// the given plan may run beside another, or if plans have no task graphs.
std::optional<OverlapPlan> overlapping_plan(const OverlapRequest& request);

}  // namespace korch
