// Timing executables against each other: interleaved rounds, medians, paired ratios with a 95 % interval.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/plan/plan.h"

namespace korch {

struct BenchOptions {
  int rounds = 50;
  int min_rounds = 5;
  double max_seconds = 60;  // stops earlier, after at least min_rounds
  // The rounds are divided among this many loadings of all executables: the place of its memory can make one
  // loading 1 % faster or slower than another, for all its rounds.
  int loadings = 1;
  int threads = 0;  // 0: as compiled
  // Each executable once with each of them, as if they were executables of their own; none: as compiled.
  std::vector<PlanSchedule> schedules;
  uint64_t seed = 1;
  std::map<std::string, std::string> input_files;  // instead of random ones: input name -> .npy file
  // Extents of open dimensions, by their names, for executables that have them; dimensions not named are at
  // their largest.
  std::map<std::string, int64_t> extents;
};

struct BenchRow {
  std::string path;                            // with the schedule, where one is asked for
  double min_us = 0, max_us = 0, mean_us = 0;  // of the rounds
  double median_us = 0, p10_us = 0, p90_us = 0, p99_us = 0;
  int rounds = 0;
  // Time over the first executable's, per round: median and its 95 % interval. With one loading over its
  // rounds; with several over the loadings' medians, of which that takes six at least.
  double ratio = 1, ratio_low = 1, ratio_high = 1;
  double flops = 0;  // that the plan's kernels compute
  double load_ms = 0;

  double inferences_per_s() const { return 1e6 / mean_us; }  // one after another
};

struct BenchResult {
  std::vector<BenchRow> rows;
  double peak_memory_bytes = 0;  // of this process
};

BenchResult bench(const std::vector<std::string>& executables, const BenchOptions& options);

// Per step of one executable: median time, and with it bytes per second and flops.
struct StepProfile {
  std::string label, implementation;
  double median_us = 0, predicted_us = 0, flops = 0, bytes = 0;
};
std::vector<StepProfile> profile_steps(const std::string& executable, const BenchOptions& options);

// Median of `samples`, one at least, and an interval that holds it with 95 % confidence, by order statistics:
// from six samples on; it is the range of fewer.
struct MedianInterval {
  double median = 0, low = 0, high = 0;
};
MedianInterval median_interval(std::vector<double> samples);

}  // namespace korch
