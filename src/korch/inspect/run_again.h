// Whether an executable runs as fast as when it was compiled. On a busy machine, or another one, the plan's
// times do not hold.
#pragma once

#include <string>

#include "korch/plan/plan.h"

namespace korch {

struct RunAgain {
  double now_us = 0;                        // the whole plan, median
  double compiled_us = 0;                   // the same when it was compiled; 0: it was not run then
  std::string compiled_on = {}, here = {};  // processors; "": not known
  std::string disturbed = {};               // what else runs now (profile/machine_load.h); "": nothing
};

// Runs it: for a second or so.
RunAgain run_again(const std::string& executable, const Plan& plan);

// One or two sentences; where the times are far apart, with the likely reason.
std::string describe(const RunAgain& run);

}  // namespace korch
