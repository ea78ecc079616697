#include "korch/driver/finish.h"

#include <fmt/format.h>

#include "korch/base/files.h"
#include "korch/base/hash.h"
#include "korch/driver/whole_runs.h"
#include "korch/interp/interpreter.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

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
  if (!options.schedule) runs.choose_schedule(plan, options.launch.least);
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
                     setting.device};
  if (is_here(setting.device) && (options.verify || options.measure)) {
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
    if (options.measure)
      clock.timed("measure plan", [&] {
        run_whole({setting.database, key, draft_path, setting.deadlines.whole()}, options, built.plan);
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
