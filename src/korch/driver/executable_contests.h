// Contests of plans as executables.
#pragma once

#include <map>
#include <string>

#include "korch/base/files.h"
#include "korch/search/contests.h"
#include "korch/search/plan_builder.h"

namespace korch {

class ExecutableContests : public Contests {
 public:
  // All of them outlive it; every kernel of a plan is in the bank. Plans are run by this schedule. `clock`:
  // where the seconds go, if not null.
  ExecutableContests(const Graph& graph, const Columns& columns, KernelBank& bank, const Device& target,
                     Accuracy accuracy, PlanSchedule schedule, WorkClock* clock = nullptr)
      : graph_(graph),
        columns_(columns),
        bank_(bank),
        target_(target),
        accuracy_(accuracy),
        schedule_(schedule),
        clock_(clock) {}

  ContestOutcome run(const std::vector<int>& kept, const std::vector<int>& challenger,
                     const ContestEffort& effort) override;
  std::optional<SimulatedPlan> simulate(const std::vector<int>& plan) override;

 private:
  const std::string& draft(const std::vector<int>& plan);
  BuiltPlan built(const std::vector<int>& plan);

  const Graph& graph_;
  const Columns& columns_;
  KernelBank& bank_;
  const Device& target_;
  const Accuracy accuracy_;
  const PlanSchedule schedule_;
  WorkClock* const clock_;
  const TempDir folder_;
  std::map<std::vector<int>, std::string> drafts_;  // executables, by plan
  int made_ = 0;
};

}  // namespace korch
