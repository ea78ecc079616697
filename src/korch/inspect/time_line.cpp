#include "korch/inspect/time_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "korch/base/interrupt.h"
#include "korch/base/stopwatch.h"
#include "korch/inspect/executable_inputs.h"
#include "korch/package/loaded.h"

namespace korch {
namespace {

// Below that a worker goes on rather than waits: it takes its next piece.
constexpr double kGoesOn_us = 0.5;
constexpr int kWaitsShown = 3;

TimeLine line_of(std::vector<korch_slices> slices, int workers) {
  TimeLine line;
  line.workers = workers;
  if (slices.empty()) return line;
  std::sort(slices.begin(), slices.end(), [](const korch_slices& a, const korch_slices& b) {
    return std::tie(a.worker, a.begin_us) < std::tie(b.worker, b.begin_us);
  });
  double first = slices[0].begin_us, last = 0;
  for (const korch_slices& piece : slices) {
    first = std::min(first, piece.begin_us);
    last = std::max(last, piece.end_us);
  }
  line.us = last - first;
  for (const korch_slices& piece : slices) {
    const TimeSpan span{piece.worker, static_cast<int>(piece.step), piece.begin_us - first,
                        piece.end_us - first};
    TimeSpan* before = line.spans.empty() ? nullptr : &line.spans.back();
    if (before != nullptr && before->worker == span.worker && before->step == span.step &&
        span.begin_us - before->end_us < kGoesOn_us) {
      before->end_us = span.end_us;
      ++before->pieces;
    } else {
      line.spans.push_back(span);
    }
  }
  return line;
}

// Between two spans of a worker, or at its ends.
struct Wait {
  double begin_us = 0, end_us = 0;
  int next_step = -1;  // -1: none comes
};

struct WorkerTime {
  double busy_us = 0;
  int pieces = 0;
  std::vector<Wait> waits;
};

WorkerTime time_of(const TimeLine& line, int worker) {
  WorkerTime time;
  double at = 0;
  const auto wait_until = [&](double us, int next) {
    if (us - at >= kGoesOn_us) time.waits.push_back({at, us, next});
  };
  for (const TimeSpan& span : line.spans) {
    if (span.worker != worker) continue;
    wait_until(span.begin_us, span.step);
    time.busy_us += span.end_us - span.begin_us;
    time.pieces += span.pieces;
    at = span.end_us;
  }
  wait_until(line.us, -1);
  return time;
}

std::string strip_of(const TimeLine& line, int worker, int columns) {
  static const char* const kShades[] = {" ", "░", "▒", "▓", "█"};
  std::vector<double> busy(static_cast<size_t>(columns), 0);
  const double width = line.us / columns;
  for (const TimeSpan& span : line.spans) {
    if (span.worker != worker) continue;
    const int begin = static_cast<int>(span.begin_us / width);
    const int end = std::min(columns - 1, static_cast<int>(span.end_us / width));
    for (int c = begin; c <= end; ++c)
      busy[static_cast<size_t>(c)] +=
          std::min(span.end_us, (c + 1) * width) - std::max(span.begin_us, c * width);
  }
  std::string text;
  for (double us : busy) text += kShades[std::clamp(static_cast<int>(std::lround(4 * us / width)), 0, 4)];
  return text;
}

std::string step_name(const Plan& plan, int step) {
  if (step >= static_cast<int>(plan.steps.size())) return "copying outputs";
  return fmt::format("step {} ({})", step, plan.steps[static_cast<size_t>(step)].label);
}

// What others ended last of a wait: it made the next step ready.
const TimeSpan* last_within(const TimeLine& line, int worker, const Wait& wait) {
  const TimeSpan* last = nullptr;
  for (const TimeSpan& span : line.spans)
    if (span.worker != worker && span.end_us > wait.begin_us && span.end_us <= wait.end_us &&
        (last == nullptr || span.end_us > last->end_us))
      last = &span;
  return last;
}

std::string describe_wait(const TimeLine& line, const Plan& plan, int worker, const Wait& wait) {
  if (wait.next_step < 0) return fmt::format("{:.1f} us at the end", wait.end_us - wait.begin_us);
  const TimeSpan* last = last_within(line, worker, wait);
  return fmt::format("{:.1f} us before {}{}", wait.end_us - wait.begin_us, step_name(plan, wait.next_step),
                     last == nullptr ? ""
                                     : ", until worker " + std::to_string(last->worker) + " ended " +
                                           step_name(plan, last->step));
}

}  // namespace

TimeLine time_line(const std::string& path, const BenchOptions& options,
                   std::optional<PlanSchedule> schedule) {
  LoadedExecutable executable(path, options.threads, schedule);
  const std::vector<HostTensor> inputs = executable_inputs(executable, options.seed, options.input_files,
                                                           own_extents(executable, options.extents));
  std::vector<HostTensor> outputs = executable.allocate_outputs();
  executable.run_into(inputs, outputs);
  std::vector<TimeLine> lines;
  const Stopwatch running;
  for (int round = 0; round < options.rounds; ++round) {
    throw_if_interrupted();
    if (round >= options.min_rounds && running.seconds() > options.max_seconds) break;
    lines.push_back(line_of(executable.run_by_slices(inputs, outputs), executable.threads()));
  }
  const auto middle = lines.begin() + static_cast<std::ptrdiff_t>(lines.size() / 2);
  std::nth_element(lines.begin(), middle, lines.end(),
                   [](const TimeLine& a, const TimeLine& b) { return a.us < b.us; });
  return *middle;
}

std::string describe(const TimeLine& line, const Plan& plan, int columns) {
  std::string text = fmt::format("time line of a run, {:.1f} us:\n", line.us);
  if (line.us <= 0) return text;
  for (int worker = 0; worker < line.workers; ++worker)
    text += fmt::format("  worker {:2} |{}|\n", worker, strip_of(line, worker, columns));
  for (int worker = 0; worker < line.workers; ++worker) {
    WorkerTime time = time_of(line, worker);
    double waited = 0;
    for (const Wait& wait : time.waits) waited += wait.end_us - wait.begin_us;
    text += fmt::format("  worker {:2}: busy {:.1f} %, {} pieces; waits {:.1f} us in {} pauses\n", worker,
                        100 * time.busy_us / line.us, time.pieces, waited, time.waits.size());
    std::sort(time.waits.begin(), time.waits.end(),
              [](const Wait& a, const Wait& b) { return a.end_us - a.begin_us > b.end_us - b.begin_us; });
    for (size_t i = 0; i < std::min<size_t>(kWaitsShown, time.waits.size()); ++i)
      text += "             " + describe_wait(line, plan, worker, time.waits[i]) + "\n";
  }
  return text;
}

}  // namespace korch
