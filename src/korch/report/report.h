// A plan as one HTML page to look at (docs/design/report.md). Needs no network: libraries, tables and sources
// are inside.
#pragma once

#include <string>
#include <vector>

#include "korch/plan/plan.h"

namespace korch {

// What a worker did in a run, in microseconds from its beginning.
struct ReportSpan {
  int worker = 0, step = 0;
  double begin_us = 0, end_us = 0;
};

struct ReportInput {
  const Plan* plan = nullptr;
  std::string text;                    // what is to be said of the plan in words
  std::vector<std::string> sources;    // one per kernel, or none: not known
  std::vector<double> step_us;         // one per step, measured while the whole plan ran, or none: not run
  std::vector<ReportSpan> spans = {};  // of all workers in one run, by worker and time; or none
};

// The page's data as JSON, without the sources. Names from the model are as they are.
std::string report_data(const ReportInput& input);

// As JSON, the sources of as many kernels as fit into a page of 3 MB: the most expensive ones; null for the
// others, empty for a library call.
std::string report_sources(const ReportInput& input);

std::string report_page(const ReportInput& input);

}  // namespace korch
