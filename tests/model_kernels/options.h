// What of the models is looked at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace korch::testing {

struct Options {
  std::vector<std::string> models;  // --models a,b; all: all of models/
  size_t sample = 4;                // --sample N: candidates beside the plans', over all models
  uint64_t seed = 1;                // --seed S
  int part = 0, parts = 1;          // --part 1/2: of the kernels the second half, taken in turn
  int64_t only = -1;                // --kernel I: of a model's kernels one alone
  bool plans = false;               // --plans: all kernels of the plans; else as many as of the sample
  bool verbose = false;             // --verbose: a line per kernel
};
const Options& options();

}  // namespace korch::testing
