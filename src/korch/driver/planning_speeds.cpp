#include "korch/driver/planning_speeds.h"

#include <fmt/format.h>

#include "korch/backend/device_named.h"
#include "korch/base/error.h"
#include "korch/base/usable_cpus.h"
#include "korch/profile/peaks.h"
#include "korch/search/peak_bounds.h"
#include "korch/search/random_plan.h"

namespace korch {

Device device_of(const CompileOptions& options) {
  if (!options.device.empty()) return device_of_file(options.device, options.threads);
  Device device = device_named(options.target, options.threads);
  return options.accuracy == Accuracy::relaxed && options.target == "native" ? with_bfloat16(device) : device;
}

void require_complete(const Backend& backend) {
  if (const std::string missing = backend.missing(); !missing.empty())
    throw Error(ErrorKind::unsupported, missing +
                                            ", and writes no executables: it plans alone, with "
                                            "--no-measure --stop-after plan");
}

void require_measurable(const Device& target) {
  if (const std::string obstacle = backend_of(target).obstacle(target); !obstacle.empty())
    throw Error(ErrorKind::usage, obstacle + ": kernels cannot be measured here (use --no-measure)");
  if (target.is_gpu()) return;
  constexpr int kMostPerCpu = 16;
  if (const int cpus = usable_cpus(); target.workers > kMostPerCpu * cpus)
    throw Error(ErrorKind::usage,
                fmt::format("kernels cannot be measured with {} workers on {}: they would take turns. Use "
                            "--threads {} or fewer here, or --no-measure to compile for another machine",
                            target.workers, cpus == 1 ? "one processor" : fmt::format("{} processors", cpus),
                            kMostPerCpu * cpus));
}

std::string crowding(int workers, int cpus) {
  if (workers <= cpus) return "";
  return fmt::format("{} workers share {}, and take turns: more workers than processors make nothing faster",
                     workers, cpus == 1 ? "one processor" : fmt::format("{} processors", cpus));
}

PlanningSpeeds planning_speeds(const Device& target, Strategy strategy, Database* database) {
  if (strategy == Strategy::random)
    return {with_made_up_speeds(target), "of no machine: the plan is drawn at random", ""};
  if (target.is_gpu()) return {target, "those of the GPU's data sheet", ""};
  if (const std::string obstacle = backend_of(target).obstacle(target); !obstacle.empty()) {
    if (target.flops_per_us > 0) {
      const std::string are = "those that " + target.name + " was given";
      return {target, are, fmt::format("{}: {}, so that no bound is proven", are, obstacle)};
    }
    const std::string are = fmt::format("nominal speeds of {}, not measured", target.code);
    return {with_nominal_speeds(target), are,
            fmt::format("{}: {}, so that times compare kernels and say nothing of a machine's, and no bound "
                        "is proven",
                        are, obstacle)};
  }
  const MachinePeaks machine = machine_peaks(target, database);
  if (machine.disturbed.empty()) return {machine.device, "measured", ""};
  return {
      machine.device, "measured while the machine was busy",
      fmt::format("this machine is busy: when its speeds were measured, {}; bounds are lower than on a calm "
                  "one",
                  machine.disturbed)};
}

std::vector<std::string> doubts_after_measuring(const SolveMemo& solved, const Graph& graph,
                                                const Columns& columns, const Device& target,
                                                Database* database) {
  std::vector<std::string> doubts;
  if (!solved.disturbed.empty())
    doubts.push_back(fmt::format(
        "this machine is busy: when kernels were measured, {}; their costs are too high, the bound "
        "with them, and another plan may be the fastest on a calm one",
        solved.disturbed));
  if (solved.bound_violations == 0) return doubts;
  const BeatenPeaks beaten = beaten_peaks(columns, target);
  if (!beaten.not_believed.empty()) {
    const int first = beaten.not_believed[0];
    doubts.push_back(fmt::format(
        "kernels are more than twice as fast as this machine's measured speeds allow ({}): their operations "
        "are miscounted, or a clock was wrong, and the speeds stay as they are; the first is {}, {:.3f} us "
        "where {:.3f} are possible",
        beaten.not_believed.size(), describe(graph, columns, first), columns.problem.columns[first].cost_us,
        columns.infos[first].bound_us));
    if (!beaten.reached) return doubts;
  }
  doubts.push_back(fmt::format(
      "kernels are faster than this machine's measured speeds allow ({}): those were too low, and are raised "
      "for later compilations as far as the cycles of its cores allow",
      solved.bound_violations));
  if (beaten.reached && database != nullptr) raise_machine_peaks(target, *database, *beaten.reached);
  return doubts;
}

}  // namespace korch
