#include "korch/driver/whole_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/backend/backend.h"
#include "korch/base/hash.h"
#include "korch/inspect/bench.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

// Enough to tell 1 % apart on a quiet machine.
constexpr int kScheduleRounds = 200;
constexpr int kLatencyRounds = 30;
constexpr double kMost_s = 3;
// That bench makes at least of each schedule, those that warm up included.
constexpr double kLeastRuns = 6;

PlanSchedule chosen(const std::vector<ScheduleRun>& runs) {
  for (const ScheduleRun& run : runs)
    if (run.schedule == name(PlanSchedule::barrier) && run.ratio_high < 1) return PlanSchedule::barrier;
  return PlanSchedule::dynamic;
}

}  // namespace

Hash plan_key(const PackageInput& input, const Device& target) {
  std::string text = input.plan_json + backend_of(target).compiler() + target.name;
  for (const PlanConstant& constant : input.plan->constants) text += constant.content.hex();
  for (const std::string& object : input.objects) text += hash_bytes(object.data(), object.size()).hex();
  return hash_text(text);
}

bool WholeRuns::has_time(const Plan& plan, double runs) const {
  return deadline_.left_s() > runs * plan.report.objective_us * 1e-6;
}

void WholeRuns::choose_schedule(Plan& plan, const std::map<std::string, int64_t>& least) const {
  if (plan.report.tasks == 0) return;
  BenchOptions options;
  options.rounds = kScheduleRounds;
  options.max_seconds = std::clamp(deadline_.left_s(), 0.1, kMost_s);
  options.schedules = {PlanSchedule::dynamic, PlanSchedule::barrier};
  std::string remembered = key_.hex() + "schedules";
  std::vector<int64_t> middle;
  for (const PlanDimension& dimension : plan.dimensions) {
    const auto known = least.find(dimension.name);
    middle.push_back(((known != least.end() ? known->second : dimension.least) + dimension.most) / 2);
  }
  for (size_t d = 0; d < middle.size(); ++d) {
    const PlanDimension& dimension = plan.dimensions[d];
    const int64_t extent = dimension.sum ? dimension.sum->of(middle) : middle[d];
    options.extents[dimension.name] = extent;
    remembered += fmt::format(" {}", extent);
  }
  const Hash key = hash_text(remembered);
  std::vector<ScheduleRun>& runs = plan.report.schedules;
  if (database_ != nullptr) runs = schedule_runs_from(database_->get_text(key).value_or("[]"));
  if (runs.size() != std::size(kSchedules)) {
    runs.clear();
    if (!has_time(plan, kLeastRuns * std::size(kSchedules))) return;
    const std::vector<BenchRow> rows = bench({draft_()}, options).rows;
    for (size_t i = 0; i < rows.size(); ++i)
      runs.push_back({name(options.schedules[i]), rows[i].median_us, rows[i].ratio, rows[i].ratio_high});
    if (database_ != nullptr) database_->put_text(key, to_text(runs));
  }
  plan.schedule = chosen(runs);
}

double WholeRuns::latency_us(const Plan& plan) const {
  for (const ScheduleRun& run : plan.report.schedules)
    if (plan.dimensions.empty() && run.schedule == name(plan.schedule)) return run.measured_us;
  if (!plan.report.whole_runs.empty()) return plan.report.whole_runs[0].measured_us;
  if (database_ != nullptr)
    if (const std::optional<Cost> cost = database_->get_cost(key_)) return cost->us;
  if (!has_time(plan, kLeastRuns)) return 0;
  BenchOptions options;
  options.rounds = kLatencyRounds;
  options.max_seconds = std::clamp(deadline_.left_s(), 0.1, kMost_s);
  const BenchRow row = bench({draft_()}, options).rows[0];
  if (database_ != nullptr)
    database_->put_cost(key_, {row.median_us, row.p10_us, row.p90_us, row.rounds, Care::thorough});
  return row.median_us;
}

}  // namespace korch
