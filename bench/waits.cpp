// Where the time of an executable's workers goes, on a quiet machine and on one that does other things.
//
//     build/release/bench/bench_waits [--runs R] EXECUTABLE.so ...
//
// Configure with -DKORCH_BENCH=ON. By phases and by tasks; alone, beside a process at nice 19, and beside one
// of equal priority on the second processor. A worker's time is one of:
//   computes   as long as its slices took on the quiet machine (of a phase's slices the median)
//   held       what they took beyond that: it was descheduled, or its processor was slower
//   for held   it has nothing to run while somebody holds slices beyond their time
//   late       it runs slices of a phase that others began before, while it had none: it was asleep, waking
//              up or descheduled
//   nothing    the rest: too little parallel work, publishing, the ends of phases
// Microseconds per run and worker, means of R runs (100): they add up to the run's time.
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "korch/base/error.h"
#include "korch/inspect/executable_inputs.h"
#include "korch/package/loaded.h"

namespace korch {
namespace {

using Place = std::pair<uint32_t, uint32_t>;  // step, phase
using Run = std::vector<korch_slices>;

enum class Load { none, nice19, equal };

class Disturber {
 public:
  explicit Disturber(Load load) {
    if (load == Load::none) return;
    cpu_set_t usable;
    sched_getaffinity(0, sizeof usable, &usable);
    child_ = fork();
    if (child_ != 0) return;
    if (load == Load::nice19 && nice(19) == -1) _exit(1);
    if (load == Load::equal) {
      int last = CPU_SETSIZE - 1;
      while (!CPU_ISSET(last, &usable)) --last;
      CPU_ZERO(&usable);
      CPU_SET(last, &usable);
      sched_setaffinity(0, sizeof usable, &usable);
    }
    std::atomic<unsigned> spins{0};
    for (;;) spins.fetch_add(1, std::memory_order_relaxed);
  }
  Disturber(const Disturber&) = delete;
  Disturber& operator=(const Disturber&) = delete;
  ~Disturber() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

 private:
  pid_t child_ = 0;
};

std::vector<Run> runs_of(const std::string& path, PlanSchedule schedule, Load load, int count) {
  const Disturber disturber(load);
  LoadedExecutable executable(path, 0, schedule);
  const std::vector<HostTensor> inputs = executable_inputs(executable, 1);
  std::vector<HostTensor> outputs = executable.allocate_outputs();
  for (int warm_up = 0; warm_up < 3; ++warm_up) executable.run_into(inputs, outputs);
  std::vector<Run> runs;
  for (int i = 0; i < count; ++i) {
    usleep(3000);  // others have their turn between two runs, too
    runs.push_back(executable.run_by_slices(inputs, outputs));
  }
  return runs;
}

double width(const korch_slices& piece) {
  return static_cast<double>(std::max<int64_t>(piece.end - piece.begin, 1));
}

// Microseconds per slice.
std::map<Place, double> usual(const std::vector<Run>& runs) {
  std::map<Place, std::vector<double>> all;
  for (const Run& run : runs)
    for (const korch_slices& piece : run)
      all[{piece.step, piece.phase}].push_back((piece.end_us - piece.begin_us) / width(piece));
  std::map<Place, double> result;
  for (auto& [place, us] : all) {
    std::nth_element(us.begin(), us.begin() + static_cast<std::ptrdiff_t>(us.size() / 2), us.end());
    result[place] = us[us.size() / 2];
  }
  return result;
}

struct Split {
  double computes = 0, held = 0, for_held = 0, late = 0, nothing = 0;
  double sum() const { return computes + held + for_held + late + nothing; }
};

struct Span {
  double begin = 0, end = 0;
};

// How much of a span the others cover, which may overlap one another.
double covered(const Span& span, std::vector<Span> by) {
  std::sort(by.begin(), by.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  double at = span.begin, sum = 0;
  for (const Span& each : by) {
    const double from = std::max(at, each.begin), to = std::min(span.end, each.end);
    if (to <= from) continue;
    sum += to - from;
    at = to;
  }
  return sum;
}

class Splitter {
 public:
  Splitter(Run run, const std::map<Place, double>& usual, int workers)
      : run_(std::move(run)), workers_(workers) {
    std::sort(run_.begin(), run_.end(),
              [](const korch_slices& a, const korch_slices& b) { return a.begin_us < b.begin_us; });
    for (const korch_slices& piece : run_) {
      const Place place{piece.step, piece.phase};
      first_.emplace(place, piece.begin_us);
      last_us_ = std::max(last_us_, piece.end_us);
      const auto found = usual.find(place);
      const double us = piece.end_us - piece.begin_us;
      const double wanted = found == usual.end() ? us : std::min(us, found->second * width(piece));
      split_.computes += wanted;
      split_.held += us - wanted;
      if (us - wanted > kHeld_us) held_.push_back({piece.worker, {piece.begin_us + wanted, piece.end_us}});
    }
  }

  // Of all workers together, over their number.
  Split split() {
    if (run_.empty()) return split_;
    for (int worker = 0; worker < workers_; ++worker) {
      double at = run_[0].begin_us;
      for (const korch_slices& piece : run_) {
        if (piece.worker != worker) continue;
        gap(worker, {at, piece.begin_us}, first_.at({piece.step, piece.phase}));
        at = piece.end_us;
      }
      gap(worker, {at, last_us_}, last_us_);
    }
    for (double* part : {&split_.computes, &split_.held, &split_.for_held, &split_.late, &split_.nothing})
      *part /= workers_;
    return split_;
  }

 private:
  static constexpr double kHeld_us = 2;  // what disturbs less is no other process

  // A worker without a piece, and when the phase of its next one began.
  void gap(int worker, const Span& span, double phase_began) {
    if (span.end <= span.begin) return;
    const Span late{std::max(span.begin, phase_began), span.end},
        before{span.begin, std::min(span.end, phase_began)};
    if (late.end > late.begin) split_.late += late.end - late.begin;
    if (before.end <= before.begin) return;
    std::vector<Span> others;
    for (const auto& [holder, each] : held_)
      if (holder != worker) others.push_back(each);
    const double waits = covered(before, std::move(others));
    split_.for_held += waits;
    split_.nothing += before.end - before.begin - waits;
  }

  Run run_;
  const int workers_;
  std::map<Place, double> first_;  // piece of each phase
  double last_us_ = 0;
  std::vector<std::pair<int, Span>> held_;
  Split split_;
};

void show(const std::string& path, int count) {
  fmt::print("{}\n{:10} {:8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", path, "schedule", "beside", "run us",
             "computes", "held", "for held", "late", "nothing");
  for (const auto& [schedule, name] :
       {std::pair(PlanSchedule::barrier, "barrier"), std::pair(PlanSchedule::dynamic, "dynamic")}) {
    std::map<Place, double> quiet;
    for (const auto& [load, beside] : {std::pair(Load::none, "nothing"), std::pair(Load::nice19, "nice 19"),
                                       std::pair(Load::equal, "equal")}) {
      const std::vector<Run> runs = runs_of(path, schedule, load, count);
      if (load == Load::none) quiet = usual(runs);
      const int workers = LoadedExecutable(path, 0, schedule).threads();
      Split sum;
      for (const Run& run : runs) {
        const Split split = Splitter(run, quiet, workers).split();
        sum.computes += split.computes, sum.held += split.held, sum.for_held += split.for_held;
        sum.late += split.late, sum.nothing += split.nothing;
      }
      const double n = count;
      fmt::print("{:10} {:8} {:9.1f} {:9.1f} {:9.1f} {:9.1f} {:9.1f} {:9.1f}\n", name, beside, sum.sum() / n,
                 sum.computes / n, sum.held / n, sum.for_held / n, sum.late / n, sum.nothing / n);
    }
  }
}

}  // namespace
}  // namespace korch

int main(int argc, char** argv) {
  int runs = 100;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--runs" && i + 1 < argc)
      runs = std::max(1, std::atoi(argv[++i]));
    else
      paths.emplace_back(argv[i]);
  }
  try {
    for (const std::string& path : paths) korch::show(path, runs);
  } catch (const korch::Error& error) {
    fmt::print(stderr, "bench_waits: {}\n", error.what());
    return 1;
  }
  return 0;
}
