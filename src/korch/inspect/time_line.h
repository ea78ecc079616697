// Who ran what, and when: an executable's workers in one run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "korch/inspect/bench.h"
#include "korch/plan/plan.h"

namespace korch {

// Slices of a step that a worker ran one after the other, in microseconds from the run's beginning.
struct TimeSpan {
  int worker = 0, step = 0;  // a step behind the plan's: outputs are copied
  double begin_us = 0, end_us = 0;
  int pieces = 1;  // that were shared out
};

struct TimeLine {
  int workers = 0;
  double us = 0;                // from the first slice to the last
  std::vector<TimeSpan> spans;  // by worker, then by time
};

// Of the run of median duration. `schedule`: instead of the one that it was compiled with.
TimeLine time_line(const std::string& executable, const BenchOptions& options,
                   std::optional<PlanSchedule> schedule = {});

// For `workers` a strip of `columns` characters each, the darker the busier; how much of the time each works
// and waits, and the longest waits with the step that came before and after.
std::string describe(const TimeLine& line, const Plan& plan, int columns = 100);

}  // namespace korch
