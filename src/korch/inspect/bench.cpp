#include "korch/inspect/bench.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "korch/base/error.h"
#include "korch/base/interrupt.h"
#include "korch/base/stopwatch.h"
#include "korch/inspect/executable_inputs.h"
#include "korch/package/loaded.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

constexpr int kWarmUpRuns = 1;

double quantile(std::vector<double> samples, double q) {
  const size_t index =
      std::min(samples.size() - 1, static_cast<size_t>(q * static_cast<double>(samples.size())));
  std::nth_element(samples.begin(), samples.begin() + index, samples.end());
  return samples[index];
}

double plan_flops(const Plan& plan) {
  const Plan largest = plan_of(plan, shape_plans_of(plan)[0]);
  double flops = 0;
  for (const PlanStep& step : largest.steps) flops += plan.kernels[step.kernel].flops;
  return flops;
}

struct Contestant {
  ExecutableInfo file;
  std::optional<PlanSchedule> schedule;
  BenchRow row;
  std::unique_ptr<LoadedExecutable> executable;
  std::vector<HostTensor> inputs, outputs;
  std::vector<double> times, ratios, loading_ratios;
};

std::vector<Contestant> contestants_of(const std::vector<std::string>& executable_paths,
                                       const BenchOptions& options) {
  std::vector<std::optional<PlanSchedule>> schedules(options.schedules.begin(), options.schedules.end());
  if (schedules.empty()) schedules.emplace_back();
  std::vector<Contestant> contestants;
  for (const std::string& path : executable_paths)
    for (const std::optional<PlanSchedule> schedule : schedules) {
      Contestant& contestant = contestants.emplace_back();
      contestant.file = read_executable(path);
      contestant.schedule = schedule;
      contestant.row.path = path + (schedule ? fmt::format(" ({})", name(*schedule)) : "");
    }
  return contestants;
}

void load(Contestant& contestant, const Contestant& first, const BenchOptions& options) {
  std::unique_ptr<LoadedExecutable>& executable = contestant.executable;
  executable.reset();
  const Stopwatch loading;
  executable = std::make_unique<LoadedExecutable>(contestant.file, options.threads, contestant.schedule);
  if (contestant.times.empty()) {
    contestant.row.load_ms = 1e3 * loading.seconds();
    contestant.row.flops = plan_flops(plan_from_json(executable->info().plan_json));
    const bool has_inputs_of_first =
        &contestant != &first && executable->inputs() == first.executable->inputs();
    contestant.inputs = has_inputs_of_first
                            ? first.inputs
                            : executable_inputs(*executable, options.seed, options.input_files,
                                                own_extents(*executable, options.extents));
    contestant.outputs = executable->allocate_outputs();
  }
  for (int run = 0; run < kWarmUpRuns; ++run) executable->run_into(contestant.inputs, contestant.outputs);
}

// Of one executable at least.
void require_known_extents(const std::vector<Contestant>& contestants,
                           const std::map<std::string, int64_t>& extents) {
  for (const auto& [name, extent] : extents) {
    std::string names;
    for (const Contestant& contestant : contestants)
      for (const OpenDimension& dimension : contestant.executable->dimensions()) {
        if (dimension.name == name) return;
        names += (names.empty() ? "" : ", ") + dimension.name;
      }
    throw Error(ErrorKind::usage,
                fmt::format("no executable here has an open dimension '{}' ({})", name,
                            names.empty() ? "all their shapes are fixed" : "there is " + names));
  }
}

// Each round begins with the next one. If every second round went backwards, the first and the last one would
// often run twice in a row, and find their weights in caches, but none between them ever would.
void run_round(std::vector<Contestant>& contestants, int round) {
  for (size_t step = 0; step < contestants.size(); ++step) {
    Contestant& contestant = contestants[(static_cast<size_t>(round) + step) % contestants.size()];
    const Stopwatch run;
    contestant.executable->run_into(contestant.inputs, contestant.outputs);
    contestant.times.push_back(1e6 * run.seconds());
  }
  for (Contestant& contestant : contestants)
    contestant.ratios.push_back(contestant.times.back() / contestants[0].times.back());
}

BenchRow row_of(const Contestant& contestant) {
  const std::vector<double>& times = contestant.times;
  BenchRow row = contestant.row;
  row.rounds = static_cast<int>(times.size());
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  row.min_us = *least;
  row.max_us = *most;
  row.mean_us = std::accumulate(times.begin(), times.end(), 0.0) / row.rounds;
  row.median_us = quantile(times, 0.5);
  row.p10_us = quantile(times, 0.1);
  row.p90_us = quantile(times, 0.9);
  row.p99_us = quantile(times, 0.99);
  const MedianInterval interval =
      median_interval(contestant.loading_ratios.size() > 1 ? contestant.loading_ratios : contestant.ratios);
  row.ratio = interval.median;
  row.ratio_low = interval.low;
  row.ratio_high = interval.high;
  return row;
}

}  // namespace

MedianInterval median_interval(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const size_t n = samples.size();
  // Of n samples binomial(n, 1/2) many are below the median: at most n/2 - 1.96 sqrt(n)/2 - 1/2 in one of 40
  // cases. As far from the other end.
  const double rank = static_cast<double>(n) / 2 - 0.98 * std::sqrt(static_cast<double>(n)) - 0.5;
  const size_t low = rank > 0 ? static_cast<size_t>(rank) : 0;
  return {(samples[(n - 1) / 2] + samples[n / 2]) / 2, samples[low], samples[n - 1 - low]};
}

BenchResult bench(const std::vector<std::string>& executable_paths, const BenchOptions& options) {
  std::vector<Contestant> contestants = contestants_of(executable_paths, options);
  const Stopwatch benching;
  int round = 0;
  const auto is_over = [&](double share) {
    return round >= share * options.rounds ||
           (round >= share * options.min_rounds && benching.seconds() > share * options.max_seconds);
  };
  for (int loading = 1; loading <= options.loadings && !is_over(1); ++loading) {
    // Whichever is loaded last has the better place.
    for (size_t step = 0; step < contestants.size(); ++step) {
      Contestant& contestant = contestants[loading % 2 == 0 ? contestants.size() - 1 - step : step];
      load(contestant, contestants[0], options);
      contestant.ratios.clear();
    }
    require_known_extents(contestants, options.extents);
    do {
      throw_if_interrupted();
      run_round(contestants, round);
      ++round;
    } while (!is_over(static_cast<double>(loading) / options.loadings));
    for (Contestant& contestant : contestants)
      contestant.loading_ratios.push_back(median_interval(contestant.ratios).median);
  }
  BenchResult result;
  for (const Contestant& contestant : contestants) result.rows.push_back(row_of(contestant));
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  result.peak_memory_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
  return result;
}

std::vector<StepProfile> profile_steps(const std::string& path, const BenchOptions& options) {
  LoadedExecutable executable(path, options.threads);
  const Plan plan = plan_from_json(executable.info().plan_json);
  const std::vector<HostTensor> inputs = executable_inputs(executable, options.seed, options.input_files,
                                                           own_extents(executable, options.extents));
  std::vector<HostTensor> outputs = executable.allocate_outputs();
  std::vector<std::vector<double>> times(plan.steps.size());
  for (int i = 0; i < kWarmUpRuns; ++i) executable.run_into(inputs, outputs);
  const Stopwatch benching;
  for (int round = 0; round < options.rounds; ++round) {
    throw_if_interrupted();
    if (round >= options.min_rounds && benching.seconds() > options.max_seconds) break;
    const std::vector<double> step_us = executable.profile(inputs, outputs);
    for (size_t i = 0; i < times.size(); ++i) times[i].push_back(step_us[i]);
  }
  std::vector<StepProfile> profiles;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Kernel& kernel = plan.kernels[plan.steps[i].kernel];
    profiles.push_back({plan.steps[i].label, plan.steps[i].implementation, quantile(times[i], 0.5),
                        plan.steps[i].predicted_us, kernel.flops, kernel.bytes});
  }
  return profiles;
}

}  // namespace korch
