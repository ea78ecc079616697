#include "korch/search/overlap.h"

#include <gtest/gtest.h>

#include <set>

namespace korch {
namespace {

// Two values that are made from the network's input, or the second from the first; each by a kernel that all
// workers share (100 us), or by one for a single worker of two (150 us).
struct TwoKernels {
  explicit TwoKernels(bool chain) {
    columns.problem.tensor_class = {0, 1, 2};
    columns.problem.available = {0};
    columns.problem.required = {1, 2};
    columns.candidates.resize(2);
    for (int made = 0; made < 2; ++made) {
      columns.candidates[static_cast<size_t>(made)].nodes = {static_cast<NodeId>(made)};
      for (double us : {100.0, 150.0}) {
        Column column;
        column.cost_us = us;
        column.measured = true;
        column.inputs = {chain ? made : 0};
        column.outputs = column.covers = {made + 1};
        columns.problem.columns.push_back(column);
        columns.infos.emplace_back().candidate = made;
      }
    }
  }

  std::optional<OverlapPlan> overlapping() const {
    return overlapping_plan({&columns, [](int column) { return column % 2 == 1 ? 0.5 : 1; }, has_rounds(),
                             [this](const std::vector<int>& plan) { return simulate(plan); }, shared});
  }

  // Single workers' kernels run beside each other.
  std::optional<SimulatedPlan> simulate(const std::vector<int>& plan) const {
    if (!has_tasks) return std::nullopt;
    SimulatedPlan result;
    const bool both = plan[0] % 2 == 1 && plan[1] % 2 == 1 && do_overlap;
    for (int column : plan) {
      result.overlaps[column] = both ? 1 : 0;
      const double us = columns.problem.columns[static_cast<size_t>(column)].cost_us;
      result.end_us = both ? us : result.end_us + us;
    }
    return result;
  }

  HasRounds has_rounds() const {
    return [this](int) { return by_rounds; };
  }

  Columns columns;
  bool by_rounds = false;
  const std::vector<int> shared = {0, 2};
  bool has_tasks = true, do_overlap = true;
};

TEST(Overlap, KernelsOfOneWorkerBesideEachOther) {
  const TwoKernels branches(false);
  EXPECT_EQ(beside_others(branches.columns, branches.shared, branches.has_rounds()), branches.shared);
  const std::optional<OverlapPlan> plan = branches.overlapping();
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(std::set<int>(plan->chosen.begin(), plan->chosen.end()), (std::set<int>{1, 3}));
  EXPECT_EQ(plan->cost_us, 300);
  EXPECT_EQ(plan->simulated_us, 150);
}

TEST(Overlap, NothingWhereItDoesNotHelp) {
  const TwoKernels chain(true);
  EXPECT_TRUE(beside_others(chain.columns, chain.shared, chain.has_rounds()).empty());
  EXPECT_FALSE(chain.overlapping().has_value());
  TwoKernels ordered(false);  // by something that only the task graph knows
  ordered.do_overlap = false;
  EXPECT_FALSE(ordered.overlapping().has_value());
  TwoKernels barriers(false);
  barriers.has_tasks = false;
  EXPECT_FALSE(barriers.overlapping().has_value());
}

TEST(Overlap, KernelsOfAChainBesideEachOthersRounds) {
  TwoKernels chain(true);
  chain.by_rounds = true;
  EXPECT_EQ(beside_others(chain.columns, chain.shared, chain.has_rounds()), chain.shared);
  const std::optional<OverlapPlan> plan = chain.overlapping();
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->chosen, (std::vector<int>{1, 3}));
}

TEST(Overlap, TakesOnlyWhatIsMeasured) {
  TwoKernels branches(false);
  branches.columns.problem.columns[3].measured = false;
  branches.columns.problem.columns[3].cost_us = 1;
  const std::optional<OverlapPlan> plan = branches.overlapping();
  EXPECT_FALSE(plan.has_value());
}

}  // namespace
}  // namespace korch
