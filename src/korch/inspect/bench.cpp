#include "korch/inspect/bench.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

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

// Those that are the executable's: others may be of shapes that are fixed.
std::map<std::string, int64_t> extents_of(const LoadedExecutable& executable,
                                          const std::map<std::string, int64_t>& given) {
  std::map<std::string, int64_t> result;
  for (const PlanDimension& dimension : executable.dimensions())
    if (const auto found = given.find(dimension.name); found != given.end()) result.insert(*found);
  return result;
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
  std::vector<std::string> paths;
  std::vector<std::optional<PlanSchedule>> schedules;
  for (const std::string& path : executable_paths) {
    for (PlanSchedule schedule : options.schedules) schedules.emplace_back(schedule);
    if (options.schedules.empty()) schedules.emplace_back();
    paths.resize(schedules.size(), path);
  }
  std::vector<std::unique_ptr<LoadedExecutable>> executables(paths.size());
  std::vector<std::vector<HostTensor>> inputs(paths.size()), outputs(paths.size());
  BenchResult result;
  result.rows.resize(paths.size());
  std::vector<std::vector<double>> times(paths.size()), ratios(paths.size()), loading_ratios(paths.size());
  std::vector<ExecutableInfo> files;
  for (const std::string& path : paths) files.push_back(read_executable(path));
  const auto load = [&](size_t i) {
    executables[i].reset();
    const Stopwatch loading;
    executables[i] = std::make_unique<LoadedExecutable>(files[i], options.threads, schedules[i]);
    if (times[i].empty()) {
      BenchRow& row = result.rows[i];
      row.path = paths[i] + (schedules[i] ? fmt::format(" ({})", name(*schedules[i])) : "");
      row.load_ms = 1e3 * loading.seconds();
      row.flops = plan_flops(plan_from_json(executables[i]->info().plan_json));
      inputs[i] = i > 0 && executables[i]->inputs() == executables[0]->inputs()
                      ? inputs[0]
                      : executable_inputs(*executables[i], options.seed, options.input_files,
                                          extents_of(*executables[i], options.extents));
      outputs[i] = executables[i]->allocate_outputs();
    }
    for (int run = 0; run < kWarmUpRuns; ++run) executables[i]->run_into(inputs[i], outputs[i]);
  };
  const auto run_round = [&](bool is_backwards) {
    for (size_t step = 0; step < paths.size(); ++step) {
      const size_t i = is_backwards ? paths.size() - 1 - step : step;
      const Stopwatch run;
      executables[i]->run_into(inputs[i], outputs[i]);
      times[i].push_back(1e6 * run.seconds());
    }
    for (size_t i = 0; i < paths.size(); ++i) ratios[i].push_back(times[i].back() / times[0].back());
  };
  const Stopwatch benching;
  int round = 0;
  const auto is_over = [&](double share) {
    return round >= share * options.rounds ||
           (round >= share * options.min_rounds && benching.seconds() > share * options.max_seconds);
  };
  for (int loading = 1; loading <= options.loadings && !is_over(1); ++loading) {
    // Whichever is loaded last has the better place.
    for (size_t step = 0; step < paths.size(); ++step) {
      const size_t i = loading % 2 == 0 ? paths.size() - 1 - step : step;
      load(i);
      ratios[i].clear();
    }
    do {
      throw_if_interrupted();
      run_round(/*is_backwards=*/(round + loading) % 2 == 0);
      ++round;
    } while (!is_over(static_cast<double>(loading) / options.loadings));
    for (size_t i = 0; i < paths.size(); ++i) loading_ratios[i].push_back(median_interval(ratios[i]).median);
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    BenchRow& row = result.rows[i];
    row.rounds = round;
    const auto [least, most] = std::minmax_element(times[i].begin(), times[i].end());
    row.min_us = *least;
    row.max_us = *most;
    row.mean_us = std::accumulate(times[i].begin(), times[i].end(), 0.0) / round;
    row.median_us = quantile(times[i], 0.5);
    row.p10_us = quantile(times[i], 0.1);
    row.p90_us = quantile(times[i], 0.9);
    row.p99_us = quantile(times[i], 0.99);
    const MedianInterval interval =
        median_interval(loading_ratios[i].size() > 1 ? loading_ratios[i] : ratios[i]);
    row.ratio = interval.median;
    row.ratio_low = interval.low;
    row.ratio_high = interval.high;
  }
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  result.peak_memory_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
  return result;
}

std::vector<StepProfile> profile_steps(const std::string& path, const BenchOptions& options) {
  LoadedExecutable executable(path, options.threads);
  const Plan plan = plan_from_json(executable.info().plan_json);
  const std::vector<HostTensor> inputs =
      executable_inputs(executable, options.seed, options.input_files, options.extents);
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
