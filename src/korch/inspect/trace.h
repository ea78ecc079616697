// Runs as a trace for ui.perfetto.dev and chrome://tracing: JSON in Chrome's trace event format.
#pragma once

#include <string>
#include <vector>

#include "korch/inspect/time_line.h"
#include "korch/plan/plan.h"

namespace korch {

struct TracedRun {
  std::string name;  // of the executable, and of its schedule where one was asked for
  TimeLine line;
  Plan plan;
};

// A process per run, in it a thread per worker. A slice is what a worker ran of a step without a pause; its
// arguments tell kernel, ONNX nodes, bytes and arithmetic of the whole step. A counter tells how many workers
// are busy.
std::string chrome_trace(const std::vector<TracedRun>& runs);

}  // namespace korch
