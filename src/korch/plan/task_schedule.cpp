#include "korch/plan/task_schedule.h"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <set>

namespace korch {
namespace {

// Counts triggers, and tells which tasks may run.
class Progress {
 public:
  explicit Progress(const TaskGraph& graph) : graph_(graph), waiting_(waiting_tasks(graph)) {
    for (const Event& event : graph.events) left_.push_back(event.needed);
  }

  void begin(const std::function<void(int)>& ready) { fire(0, ready); }
  void end(int task, const std::function<void(int)>& ready) {
    for (int event : graph_.tasks[static_cast<size_t>(task)].triggers) trigger(event, ready);
  }

 private:
  void trigger(int event, const std::function<void(int)>& ready) {
    if (--left_[static_cast<size_t>(event)] == 0) fire(event, ready);
  }
  void fire(int event, const std::function<void(int)>& ready) {
    const auto [first, last] = waiting_[static_cast<size_t>(event)];
    for (int task = first; task < last; ++task) ready(task);
    for (int next : graph_.events[static_cast<size_t>(event)].then) trigger(next, ready);
  }

  const TaskGraph& graph_;
  const std::vector<std::pair<int, int>> waiting_;
  std::vector<int> left_;
};

// Tasks that run, by when they end.
struct Ending {
  double at_us;
  int worker, task;
  bool operator>(const Ending& other) const {
    return std::tie(at_us, worker) > std::tie(other.at_us, other.worker);
  }
};
using Endings = std::priority_queue<Ending, std::vector<Ending>, std::greater<>>;

// Among equal tasks of a phase, which of `workers` has run its neighbours: each has a share of the slices.
std::vector<int> home_workers(const TaskGraph& graph, int workers) {
  std::map<std::pair<int, int>, int64_t> slices;
  for (const Task& task : graph.tasks) {
    int64_t& end = slices[{task.step, task.phase}];
    end = std::max(end, task.end);
  }
  std::vector<int> homes;
  for (const Task& task : graph.tasks)
    homes.push_back(static_cast<int>(task.begin * workers / slices[{task.step, task.phase}]));
  return homes;
}

}  // namespace

std::vector<double> overlaps(const TaskGraph& graph, const Simulation& simulation, int workers, int steps) {
  struct Span {
    double begin_us = std::numeric_limits<double>::infinity(), end_us = 0, own_us = 0;
  };
  std::vector<Span> spans(static_cast<size_t>(steps));
  const auto step_of = [&](const TaskRun& run) {
    return static_cast<size_t>(graph.tasks[static_cast<size_t>(run.task)].step);
  };
  for (const TaskRun& run : simulation.runs) {
    if (step_of(run) >= spans.size()) continue;  // a copy of an output
    Span& span = spans[step_of(run)];
    span.begin_us = std::min(span.begin_us, run.begin_us);
    span.end_us = std::max(span.end_us, run.end_us);
    span.own_us += run.end_us - run.begin_us;
  }
  std::vector<double> result;
  for (size_t s = 0; s < spans.size(); ++s) {
    double others_us = 0;
    for (const TaskRun& run : simulation.runs)
      if (step_of(run) != s)
        others_us +=
            std::max(0.0, std::min(run.end_us, spans[s].end_us) - std::max(run.begin_us, spans[s].begin_us));
    const double left_us = workers * (spans[s].end_us - spans[s].begin_us) - spans[s].own_us;
    result.push_back(left_us > 0 ? std::min(1.0, others_us / left_us) : 1);
  }
  return result;
}

Simulation simulate(const TaskGraph& graph, int workers, const Choose& choose,
                    const std::function<double(int task)>& cost_us) {
  Simulation result;
  Progress progress(graph);
  std::vector<int> ready;
  const auto add = [&](int task) { ready.insert(std::upper_bound(ready.begin(), ready.end(), task), task); };
  std::set<int> free;
  for (int worker = 0; worker < workers; ++worker) free.insert(worker);
  Endings running;
  double now = 0;
  progress.begin(add);
  for (;;) {
    while (!ready.empty() && !free.empty()) {
      const int worker = *free.begin();
      free.erase(free.begin());
      const size_t place = choose(ready, worker);
      const int task = ready[place];
      ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(place));
      const double cost = cost_us ? cost_us(task) : graph.tasks[static_cast<size_t>(task)].cost_us;
      result.runs.push_back({task, worker, now, now + cost});
      running.push({now + cost, worker, task});
    }
    if (running.empty()) break;
    const Ending next = running.top();
    running.pop();
    now = result.end_us = next.at_us;
    free.insert(next.worker);
    progress.end(next.task, add);
  }
  return result;
}

Simulation list_schedule(const TaskGraph& graph, int workers) {
  const std::vector<int> homes = home_workers(graph, workers);
  const auto choose = [&](const std::vector<int>& ready, int worker) -> size_t {
    const Task& first = graph.tasks[static_cast<size_t>(ready[0])];
    for (size_t i = 0; i < ready.size(); ++i) {
      const auto task = static_cast<size_t>(ready[i]);
      const bool same_phase = graph.tasks[task].step == first.step && graph.tasks[task].phase == first.phase;
      if (same_phase && homes[task] == worker) return i;
    }
    return 0;
  };
  return simulate(graph, workers, choose);
}

}  // namespace korch
