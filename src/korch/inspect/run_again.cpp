#include "korch/inspect/run_again.h"

#include <fmt/format.h>

#include "korch/device/device.h"
#include "korch/inspect/bench.h"
#include "korch/profile/machine_load.h"

namespace korch {
namespace {

// What a shared machine's minutes differ by, without anything that could be named.
constexpr double kFar = 1.3;

// Behind the instructions and the number of threads (PlanReport::target).
std::string processor_in(const std::string& target) {
  const size_t first = target.find(", "), second = target.find(", ", first + 1);
  return first == std::string::npos || second == std::string::npos ? "" : target.substr(second + 2);
}

std::string reason(const RunAgain& run, bool is_slower) {
  if (!run.compiled_on.empty() && run.compiled_on != run.here)
    return fmt::format("this is another machine ({}; it was compiled on {})", run.here, run.compiled_on);
  if (!is_slower)
    return "something else ran on this machine when it was compiled, so that its costs are too high: compile "
           "it "
           "again, with a new kernel database (--profile-db)";
  if (!run.disturbed.empty()) return "this machine is busy: " + run.disturbed;
  return "this machine's processors are slower than they were: something else uses their caches, their "
         "memory "
         "or their other halves, or their clock is lower";
}

}  // namespace

RunAgain run_again(const std::string& executable, const Plan& plan) {
  RunAgain run;
  run.compiled_us = plan.report.measured_us;
  run.compiled_on = processor_in(plan.report.target);
  run.here = detect_device("native", 1).name;
  BenchOptions options;
  options.max_seconds = 1;
  const LoadWatch watch;
  run.now_us = bench({executable}, options).rows[0].median_us;
  run.disturbed = disturbance(watch.load());
  return run;
}

std::string describe(const RunAgain& run) {
  if (run.compiled_us <= 0)
    return fmt::format("run whole now: {:.1f} us; it was not run when it was compiled\n", run.now_us);
  std::string text =
      fmt::format("run whole now: {:.1f} us, when it was compiled: {:.1f} us\n", run.now_us, run.compiled_us);
  const double ratio = run.now_us / run.compiled_us;
  if (ratio > kFar)
    text +=
        fmt::format("it takes {:.1f} times as long as when it was compiled: {}\n", ratio, reason(run, true));
  else if (ratio < 1 / kFar)
    text +=
        fmt::format("it took {:.1f} times as long when it was compiled: {}\n", 1 / ratio, reason(run, false));
  return text;
}

}  // namespace korch
