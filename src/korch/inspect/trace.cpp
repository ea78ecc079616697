#include "korch/inspect/trace.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "korch/base/json.h"

namespace korch {
namespace {

using TraceJson = nlohmann::ordered_json;

// The format counts in microseconds; beyond nanoseconds nothing was measured.
double trace_us(double us) {
  return std::round(us * 1e3) / 1e3;
}

TraceJson named(const char* what, int process, int thread, const TraceJson& arguments) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", arguments}};
}

TraceJson slice_of(const TimeSpan& span, const Plan& plan, int process) {
  TraceJson json = {{"ph", "X"},
                    {"name", "copy outputs"},
                    {"cat", "copy"},
                    {"pid", process},
                    {"tid", span.worker},
                    {"ts", trace_us(span.begin_us)},
                    {"dur", trace_us(trace_us(span.end_us) - trace_us(span.begin_us))},
                    {"args", {{"pieces", span.pieces}}}};
  if (span.step >= static_cast<int>(plan.steps.size())) return json;
  const PlanStep& step = plan.steps[static_cast<size_t>(span.step)];
  const Kernel& kernel = plan.kernels[static_cast<size_t>(step.kernel)];
  json["name"] = step.label;
  json["cat"] = step.implementation.substr(0, step.implementation.find_first_of("( "));
  json["args"] = {{"step", span.step},
                  {"implementation", step.implementation},
                  {"onnx_nodes", step.onnx_nodes},
                  {"step_bytes", kernel.bytes},
                  {"step_flops", kernel.flops},
                  {"step_predicted_us", step.predicted_us},
                  {"pieces", span.pieces}};
  return json;
}

// One event wherever the number changes.
void add_busy_workers(TraceJson& events, const TimeLine& line, int process) {
  std::map<double, int> changes;
  for (const TimeSpan& span : line.spans) {
    ++changes[trace_us(span.begin_us)];
    --changes[trace_us(span.end_us)];
  }
  int busy = 0;
  for (const auto& [us, change] : changes) {
    if (change == 0) continue;
    busy += change;
    events.push_back(
        {{"ph", "C"}, {"name", "busy workers"}, {"pid", process}, {"ts", us}, {"args", {{"workers", busy}}}});
  }
}

}  // namespace

std::string chrome_trace(const std::vector<TracedRun>& runs) {
  TraceJson events = TraceJson::array();
  for (size_t r = 0; r < runs.size(); ++r) {
    const TracedRun& run = runs[r];
    const int process = static_cast<int>(r) + 1;
    events.push_back(named("process_name", process, 0, {{"name", run.name}}));
    events.push_back(named("process_sort_index", process, 0, {{"sort_index", process}}));
    for (int worker = 0; worker < run.line.workers; ++worker)
      events.push_back(named("thread_name", process, worker, {{"name", fmt::format("worker {}", worker)}}));
    for (const TimeSpan& span : run.line.spans) events.push_back(slice_of(span, run.plan, process));
    add_busy_workers(events, run.line, process);
  }
  const TraceJson trace = {{"displayTimeUnit", "ns"}, {"traceEvents", events}};
  return trace.dump(-1, ' ', false, TraceJson::error_handler_t::replace);  // names may not be UTF-8
}

}  // namespace korch
