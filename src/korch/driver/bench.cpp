#include "korch/driver/bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "korch/base/interrupt.h"
#include "korch/base/stopwatch.h"
#include "korch/driver/executable_inputs.h"
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
  double flops = 0;
  for (const PlanStep& step : plan.steps) flops += plan.kernels[step.kernel].flops;
  return flops;
}

}  // namespace

MedianInterval median_interval(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const double n = static_cast<double>(samples.size());
  // Ranks n/2 -+ 1.96 sqrt(n)/2 of a binomial(n, 1/2).
  const double half_width = 0.98 * std::sqrt(n);
  const auto rank = [&](double r) { return samples[static_cast<size_t>(std::clamp(r, 0.0, n - 1))]; };
  return {samples[samples.size() / 2], rank(std::floor(n / 2 - half_width)),
          rank(std::ceil(n / 2 + half_width))};
}

BenchResult bench(const std::vector<std::string>& paths, const BenchOptions& options) {
  std::vector<std::unique_ptr<LoadedExecutable>> executables;
  std::vector<std::vector<HostTensor>> inputs, outputs;
  BenchResult result;
  for (const std::string& path : paths) {
    const Stopwatch loading;
    executables.push_back(std::make_unique<LoadedExecutable>(path, options.threads));
    BenchRow row;
    row.path = path;
    row.load_ms = 1e3 * loading.seconds();
    row.flops = plan_flops(plan_from_json(executables.back()->info().plan_json));
    result.rows.push_back(row);
    const bool is_like_first = executables.back()->inputs() == executables.front()->inputs();
    inputs.push_back(is_like_first && !inputs.empty()
                         ? inputs.front()
                         : executable_inputs(*executables.back(), options.seed, options.input_files));
    outputs.push_back(executables.back()->allocate_outputs());
    for (int i = 0; i < kWarmUpRuns; ++i) executables.back()->run_into(inputs.back(), outputs.back());
  }
  std::vector<std::vector<double>> times(paths.size()), ratios(paths.size());
  const Stopwatch benching;
  for (int round = 0; round < options.rounds; ++round) {
    throw_if_interrupted();
    if (round >= options.min_rounds && benching.seconds() > options.max_seconds) break;
    for (size_t i = 0; i < executables.size(); ++i) {
      const Stopwatch run;
      executables[i]->run_into(inputs[i], outputs[i]);
      times[i].push_back(1e6 * run.seconds());
    }
    for (size_t i = 0; i < executables.size(); ++i) ratios[i].push_back(times[i].back() / times[0].back());
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    BenchRow& row = result.rows[i];
    row.rounds = static_cast<int>(times[i].size());
    row.median_us = quantile(times[i], 0.5);
    row.p10_us = quantile(times[i], 0.1);
    row.p90_us = quantile(times[i], 0.9);
    const MedianInterval interval = median_interval(ratios[i]);
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
  const std::vector<HostTensor> inputs = executable_inputs(executable, options.seed, options.input_files);
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
