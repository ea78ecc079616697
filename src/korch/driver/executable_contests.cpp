#include "korch/driver/executable_contests.h"

#include <fmt/format.h>

#include <filesystem>

#include "korch/backend/backend.h"
#include "korch/inspect/bench.h"
#include "korch/package/plan_tasks.h"
#include "korch/plan/plan_json.h"
#include "korch/plan/task_schedule.h"

namespace korch {

ContestOutcome ExecutableContests::run(const std::vector<int>& kept, const std::vector<int>& challenger,
                                       const ContestEffort& effort) {
  const WorkClock::Timed timed(clock_, "contests");
  std::erase_if(drafts_, [&](const auto& plan_and_file) {
    const auto& [plan, file] = plan_and_file;
    return plan != kept && plan != challenger && std::filesystem::remove(file);
  });
  BenchOptions options;
  options.rounds = effort.rounds;
  options.min_rounds = effort.min_rounds;
  options.loadings = effort.loadings;
  options.max_seconds = effort.max_seconds;
  const std::vector<BenchRow> rows = bench({draft(kept), draft(challenger)}, options).rows;
  return {rows[0].median_us, rows[1].ratio, rows[1].ratio_high};
}

const std::string& ExecutableContests::draft(const std::vector<int>& plan) {
  std::string& file = drafts_[plan];
  if (!file.empty()) return file;
  BuiltPlan made = built(plan);
  const std::string path = fmt::format("{}/{}.so", folder_.path(), made_++);
  write_executable({&made.plan, place(made.plan, target_), std::move(made.objects),
                    std::move(made.constant_bytes), plan_to_json(made.plan), target_},
                   path);
  return file = path;
}

BuiltPlan ExecutableContests::built(const std::vector<int>& plan) {
  BuiltPlan result = build_plan(graph_, columns_, plan, bank_, target_, accuracy_);
  if (!target_.is_gpu()) add_accesses(result);
  result.plan.schedule = schedule_;
  return result;
}

std::optional<SimulatedPlan> ExecutableContests::simulate(const std::vector<int>& plan) {
  const WorkClock::Timed timed(clock_, "contests");
  if (schedule_ == PlanSchedule::barrier || target_.is_gpu()) return std::nullopt;
  const BuiltPlan made = built(plan);
  const std::optional<TaskGraph> tasks = plan_tasks(made.plan, plan_memory(made.plan));
  if (!tasks) return std::nullopt;
  const Simulation simulation = list_schedule(*tasks, target_.workers);
  const std::vector<double> by_step =
      overlaps(*tasks, simulation, target_.workers, static_cast<int>(made.plan.steps.size()));
  SimulatedPlan result{simulation.end_us, {}};
  for (size_t s = 0; s < by_step.size(); ++s) result.overlaps.emplace(made.step_columns[s], by_step[s]);
  return result;
}

}  // namespace korch
