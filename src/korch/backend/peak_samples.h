// What a microbenchmark saw of a device (Backend::sample_peaks).
#pragma once

#include <string>
#include <vector>

namespace korch {

// Speeds of one kind of work, per microsecond.
struct SpeedSamples {
  std::vector<double> total;  // of all workers together, per sample
  double worker = 0;          // of the fastest worker in its best stretch
  std::string what;           // "arithmetic", or the memory level's name
};

struct PeakSamples {
  SpeedSamples flops;
  std::vector<SpeedSamples> bytes;  // of each of Device::memory
  double cycles_per_us = 0;         // of the fastest core, from a chain of dependent additions
  int workers = 1, lanes = 1;
  double waited = 0;  // share of the time in which workers waited for a processor
};

// Whether the best speed was met more than once: there may be a better one where it was not.
bool agree(const std::vector<double>& rates);
bool agree(const PeakSamples& samples);
// The first speed whose best sample was not met again, as the end of "the best speed of ..."; empty: none.
// The last level's speed is left out: the guests of a host share it, so it changes from minute to minute on
// calm machines too.
std::string not_met_again(const PeakSamples& samples);

}  // namespace korch
