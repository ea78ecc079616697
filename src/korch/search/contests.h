// Whole plans run against each other, since kernels measured one by one do not show what they do to each
// other.
#pragma once

#include <map>
#include <optional>
#include <vector>

namespace korch {

struct ContestEffort {
  int rounds = 0, min_rounds = 0;  // of both plans, interleaved
  int loadings = 1;                // the rounds are shared out over so many loadings of both
  double max_seconds = 0;
};

struct ContestOutcome {
  double kept_us = 0;                // median
  double ratio = 1, ratio_high = 1;  // challenger over kept: median, upper end of its 95 % interval
};

// A plan as a task graph (docs/design/tasks.md), by what its kernels cost alone.
struct SimulatedPlan {
  double end_us = 0;
  // By column: of what it left to the other workers while it ran, the share that other kernels used.
  std::map<int, double> overlaps;
};

class Contests {
 public:
  virtual ~Contests() = default;
  // Of two plans, columns in an order that can run. The winner is `kept` the next time.
  virtual ContestOutcome run(const std::vector<int>& kept, const std::vector<int>& challenger,
                             const ContestEffort& effort) = 0;
  // Nothing for a plan that runs kernel by kernel.
  virtual std::optional<SimulatedPlan> simulate(const std::vector<int>& plan) = 0;
};

}  // namespace korch
