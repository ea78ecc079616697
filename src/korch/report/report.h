// A plan as one HTML page to look at (docs/design/report.md). Needs no network: libraries, tables and sources
// are inside.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "korch/plan/plan.h"

namespace korch {

// What a worker did in a run, in microseconds from its beginning.
struct ReportSpan {
  int worker = 0, step = 0;
  double begin_us = 0, end_us = 0;
};

// What a part of the memory that a run shares among its tensors holds, and when.
struct ReportBuffer {
  int tensor = -1;  // into Plan::tensors; -1: what a step needs for itself
  int first_step = 0, last_step = 0;
  int64_t offset_bytes = 0, size_bytes = 0;
};

struct ReportMemory {
  int64_t arena_bytes = 0, weights_bytes = 0;
  std::vector<ReportBuffer> buffers;
};

// A family of kernels, as PlanStep::implementation names it.
struct ReportFamily {
  std::string what, numbers;  // what its kernels do; what the numbers behind its name are, or nothing
};

struct ReportInput {
  const Plan* plan = nullptr;
  std::string text;                    // what is to be said of the plan in words
  std::vector<std::string> sources;    // one per kernel, or none: not known
  std::vector<double> step_us;         // one per step, measured while the whole plan ran, or none: not run
  std::vector<ReportSpan> spans = {};  // of all workers in one run, by worker and time; or none
  ReportMemory memory = {};            // or no buffers: not known
  std::map<std::string, ReportFamily> families =
      {};  // by name; those that the plan does not name are left out
};

// The page's data as JSON, without the sources. Names from the model are as they are.
std::string report_data(const ReportInput& input);

// As JSON, the sources of as many kernels as fit into a page of 3 MB: the most expensive ones; null for the
// others, empty for a library call.
std::string report_sources(const ReportInput& input);

std::string report_page(const ReportInput& input);

}  // namespace korch
