#include "korch/driver/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "korch/backend/backend.h"
#include "korch/base/files.h"
#include "korch/base/hash.h"
#include "korch/inspect/bench.h"
#include "korch/interp/interpreter.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

// Enough to tell 1 % apart on a quiet machine.
constexpr int kScheduleRounds = 200;
constexpr int kLatencyRounds = 30;
constexpr double kMost_s = 3, kMostInHaste_s = 0.8;
// That bench makes at least of each schedule, those that warm up included.
constexpr double kLeastRuns = 6;

PlanSchedule chosen(const std::vector<ScheduleRun>& runs) {
  for (const ScheduleRun& run : runs)
    if (run.schedule == name(PlanSchedule::barrier) && run.ratio_high < 1) return PlanSchedule::barrier;
  return PlanSchedule::dynamic;
}

// Of a very plan, code and weights included, on this machine.
Hash plan_key(const PackageInput& input, const Device& target) {
  std::string text = input.plan_json + backend_of(target).compiler() + target.name;
  for (const PlanConstant& constant : input.plan->constants) text += constant.content.hex();
  for (const std::string& object : input.objects) text += hash_bytes(object.data(), object.size()).hex();
  return hash_text(text);
}

// An executable that is not kept, written when it is first asked for.
using DraftPath = std::function<const std::string&()>;

// The finished executable run whole: how it is scheduled, and how long it takes.
class WholeRuns {
 public:
  // `key`: plan_key. `database` may be null; what it remembers of the plan is not run again. `deadline`
  // leaves less time to run: nothing runs that would end later by what the plan costs. `most_s`: of each
  // question.
  WholeRuns(Database* database, const Hash& key, DraftPath draft, const Deadline& deadline, double most_s)
      : database_(database), key_(key), draft_(std::move(draft)), deadline_(deadline), most_s_(most_s) {}

  // Sets the plan's schedule, and PlanReport::schedules to what each takes: by tasks as they become ready,
  // unless another one is faster beyond doubt. Open dimensions are in the middle between the `least` extents
  // for which the plan is taken, by their names (else those that there are), and its bounds. Nothing where
  // the plan has no tasks, or no time is left.
  void choose_schedule(Plan& plan, const std::map<std::string, int64_t>& least) const;
  // Median of the plan at its bounds, in microseconds, by its schedule; 0: there was no time to run it.
  double latency_us(const Plan& plan) const;

 private:
  // To run it so often.
  bool has_time(const Plan& plan, double runs) const;

  Database* database_;
  const Hash key_;
  const DraftPath draft_;
  const Deadline deadline_;
  const double most_s_;
};

bool WholeRuns::has_time(const Plan& plan, double runs) const {
  return deadline_.left_s() > runs * plan.report.objective_us * 1e-6;
}

void WholeRuns::choose_schedule(Plan& plan, const std::map<std::string, int64_t>& least) const {
  if (plan.report.tasks == 0) return;
  BenchOptions options;
  options.rounds = kScheduleRounds;
  options.max_seconds = std::clamp(deadline_.left_s(), 0.1, most_s_);
  options.schedules = {PlanSchedule::dynamic, PlanSchedule::barrier};
  std::string remembered = key_.hex() + "schedules";
  std::vector<int64_t> middle;
  for (const OpenDimension& dimension : plan.dimensions) {
    const auto known = least.find(dimension.name);
    middle.push_back(((known != least.end() ? known->second : dimension.least) + dimension.most) / 2);
  }
  middle = fitting_extents(plan.dimensions, middle);
  for (size_t d = 0; d < middle.size(); ++d) {
    options.extents[plan.dimensions[d].name] = middle[d];
    remembered += fmt::format(" {}", middle[d]);
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
  options.max_seconds = std::clamp(deadline_.left_s(), 0.1, most_s_);
  const BenchRow row = bench({draft_()}, options).rows[0];
  if (database_ != nullptr)
    database_->put_cost(key_, {row.median_us, row.p10_us, row.p90_us, row.rounds, Care::thorough});
  return row.median_us;
}

// Kernels read and write the bytes of stored types; who calls the executable is told what they stand for.
void state_stored_types(const Graph& graph, const std::vector<ValueId>& values, std::vector<PlanIo>& ios) {
  for (size_t i = 0; i < ios.size(); ++i)
    if (const DType dtype = graph.value(values[i]).type.dtype; is_storage(dtype)) ios[i].type.dtype = dtype;
}

Hash verified_key(const Hash& plan) {
  return hash_text(plan.hex() + "verified");
}

// What is not done, because the budget ends or a loop does not, is said.
void check(const Imported& network, Plan& plan, const std::string& draft, const std::string& output,
           const Hash& key, const Setting& setting, Finished& result) {
  const bool verifies = setting.options.verify;
  std::string suspicion;
  try {
    result.fault = find_fault(network.graph, plan, draft, output, verifies, setting.deadlines.check());
    if (!result.fault && verifies && setting.database != nullptr)
      setting.database->put_text(verified_key(key), "yes");
    return;
  } catch (const Undecided& undecided) {
    suspicion = "; it may be wrong: " + undecided.what;
  } catch (const BudgetSpent&) {
  } catch (const LoopWithoutEnd& error) {
    result.warnings.push_back(
        fmt::format("the executable is not verified: on random inputs {}", error.what()));
    return;
  }
  const bool is_budget = setting.options.budget_s > 0;
  plan.report.limits.push_back(fmt::format("{}: it ended before the executable was verified{}",
                                           is_budget ? "budget" : "check", suspicion));
  result.warnings.push_back(
      fmt::format("the executable is not verified: the {} was spent (korch verify does it){}",
                  is_budget ? "budget" : "time for the check", suspicion));
}

void run_whole(const WholeRuns& runs, const CompileOptions& options, Plan& plan) {
  if (!options.schedule) runs.choose_schedule(plan, options.variants.least);
  plan.report.measured_us = runs.latency_us(plan);
  if (plan.report.measured_us == 0)
    plan.report.limits.push_back("budget: it ended before the executable was run whole");
}

}  // namespace

Finished finish(const Imported& network, BuiltPlan& built, std::vector<Placement> placements,
                const std::string& output, BuiltPlan* part, const Setting& setting, StageClock& clock) {
  const CompileOptions& options = setting.options;
  Finished result;
  state_stored_types(network.graph, network.graph.inputs(), built.plan.inputs);
  state_stored_types(network.graph, network.graph.outputs(), built.plan.outputs);
  PackageInput input{&built.plan,
                     std::move(placements),
                     std::move(built.objects),
                     std::move(built.constant_bytes),
                     plan_to_json(built.plan),
                     setting.device,
                     options.emulation};
  if (is_here(setting.device) && (options.verify || options.measure != Measure::none)) {
    const Hash key = plan_key(input, setting.device);
    TempDir folder;
    const std::string draft = folder.path() + "/draft.so";
    bool drafted = false;
    const auto draft_path = [&]() -> const std::string& {
      if (!std::exchange(drafted, true)) write_executable(input, draft);
      return draft;
    };
    if (setting.database == nullptr || !setting.database->get_text(verified_key(key))) {
      clock.timed("verify", [&] { check(network, built.plan, draft_path(), output, key, setting, result); });
      if (result.fault) return result;
    }
    if (options.measure != Measure::none)
      clock.timed("measure plan", [&] {
        run_whole({setting.database, key, draft_path, setting.deadlines.whole(),
                   options.measure == Measure::prove ? kMost_s : kMostInHaste_s},
                  options, built.plan);
      });
    input.plan_json = plan_to_json(built.plan);
  }
  if (part != nullptr)
    *part = {built.plan, std::move(input.objects), {}, {}, std::move(input.constant_bytes), {}, {}};
  else
    write_executable(std::move(input), output);
  return result;
}

}  // namespace korch
