// From what tasks read and write to the events that order them.
#include <algorithm>
#include <map>
#include <queue>

#include "korch/base/error.h"
#include "korch/plan/reachable.h"
#include "korch/plan/task_graph.h"

namespace korch {
namespace {

// Tasks of one phase, and what they use together: from the first byte to the last.
struct PhaseTasks {
  size_t begin = 0, end = 0;
  std::vector<MemoryUse> hulls;
};

std::vector<PhaseTasks> phases_of(const std::vector<TaskUse>& tasks) {
  std::vector<PhaseTasks> phases;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const bool is_new = i == 0 || tasks[i].step != tasks[i - 1].step || tasks[i].phase != tasks[i - 1].phase;
    if (is_new) phases.push_back({i, i, {}});
    PhaseTasks& phase = phases.back();
    phase.end = i + 1;
    widen(phase.hulls, tasks[i].uses);
  }
  return phases;
}

// Of each task, those that it must come after, without those that follow from others. Looked at from the
// nearest on: a task that comes before one that was found already is known to come before.
std::vector<std::vector<int>> predecessors(const std::vector<TaskUse>& tasks) {
  const std::vector<PhaseTasks> phases = phases_of(tasks);
  std::vector<std::vector<int>> result(tasks.size());
  BitRows before(tasks.size(), tasks.size());
  for (size_t q = 0; q < phases.size(); ++q) {
    for (size_t p = q; p-- > 0;) {
      if (!conflict(phases[p].hulls, phases[q].hulls)) continue;
      for (size_t j = phases[q].begin; j < phases[q].end; ++j)
        for (size_t i = phases[p].begin; i < phases[p].end; ++i) {
          if (before.get(j, i) || !conflict(tasks[i].uses, tasks[j].uses)) continue;
          result[j].push_back(static_cast<int>(i));
          before.set(j, i);
          before.add(j, i);
        }
    }
    for (size_t j = phases[q].begin; j < phases[q].end; ++j) std::sort(result[j].begin(), result[j].end());
  }
  return result;
}

// The longest way from the beginning of each task to the end, in microseconds.
std::vector<double> ways_to_end(const std::vector<TaskUse>& tasks,
                                const std::vector<std::vector<int>>& predecessors) {
  std::vector<double> way(tasks.size(), 0);
  for (size_t i = tasks.size(); i-- > 0;) {
    way[i] += tasks[i].cost_us;
    for (int before : predecessors[i]) {
      double& longest = way[static_cast<size_t>(before)];
      longest = std::max(longest, way[i]);
    }
  }
  return way;
}

// Tasks that wait for the same.
struct Waiting {
  std::vector<int> after, tasks;
  double way_us = 0;
};

class GraphMaker {
 public:
  explicit GraphMaker(const std::vector<TaskUse>& tasks)
      : tasks_(tasks), after_(predecessors(tasks)), way_(ways_to_end(tasks, after_)) {}

  TaskGraph make() {
    group();
    place();
    find_joins();
    number_events();
    return std::move(graph_);
  }

 private:
  void group() {
    std::map<std::vector<int>, size_t> known;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const auto [at, is_new] = known.emplace(after_[i], waiting_.size());
      if (is_new) waiting_.push_back({after_[i], {}, 0});
      Waiting& waiting = waiting_[at->second];
      waiting.tasks.push_back(static_cast<int>(i));
      waiting.way_us = std::max(waiting.way_us, way_[i]);
    }
    for (Waiting& waiting : waiting_)
      std::stable_sort(waiting.tasks.begin(), waiting.tasks.end(), [&](int a, int b) {
        return way_[static_cast<size_t>(a)] > way_[static_cast<size_t>(b)];
      });
  }

  // Groups in an order that can run, of those that could run the one with the longest way to the end.
  void place() {
    std::vector<std::vector<size_t>> behind(tasks_.size());
    std::vector<size_t> left;
    for (size_t g = 0; g < waiting_.size(); ++g) {
      left.push_back(waiting_[g].after.size());
      for (int task : waiting_[g].after) behind[static_cast<size_t>(task)].push_back(g);
    }
    const auto is_later = [&](size_t a, size_t b) {
      const Waiting &x = waiting_[a], &y = waiting_[b];
      return std::tuple(-x.way_us, x.tasks[0]) > std::tuple(-y.way_us, y.tasks[0]);
    };
    std::priority_queue<size_t, std::vector<size_t>, decltype(is_later)> ready(is_later);
    for (size_t g = 0; g < waiting_.size(); ++g)
      if (left[g] == 0) ready.push(g);
    std::vector<Waiting> placed;
    while (!ready.empty()) {
      const size_t g = ready.top();
      ready.pop();
      for (int task : waiting_[g].tasks)
        for (size_t next : behind[static_cast<size_t>(task)])
          if (--left[next] == 0) ready.push(next);
      placed.push_back(waiting_[g]);
    }
    KORCH_ASSERT(placed.size() == waiting_.size(), "tasks that wait for each other");
    waiting_ = std::move(placed);
  }

  // `after`, by phase.
  std::vector<std::vector<int>> parts(const std::vector<int>& after) const {
    std::vector<std::vector<int>> result;
    for (int task : after) {
      const TaskUse& t = tasks_[static_cast<size_t>(task)];
      const bool is_new = result.empty() || t.step != tasks_[static_cast<size_t>(result.back()[0])].step ||
                          t.phase != tasks_[static_cast<size_t>(result.back()[0])].phase;
      if (is_new) result.emplace_back();
      result.back().push_back(task);
    }
    return result;
  }

  // Parts that several groups wait for get an event of their own where that is fewer triggers.
  void find_joins() {
    std::map<std::vector<int>, size_t> uses;
    for (const Waiting& waiting : waiting_)
      for (std::vector<int>& part : parts(waiting.after)) ++uses[std::move(part)];
    for (const auto& [part, count] : uses)
      if ((part.size() - 1) * (count - 1) > 1) join_of_.emplace(part, -1);
  }

  // The beginning, then what tasks wait for, in their order, then joins for which none waits, then the end.
  void number_events() {
    graph_.events.resize(std::max<size_t>(waiting_.size(), 1));
    for (size_t g = 0; g < waiting_.size(); ++g)
      if (const auto join = join_of_.find(waiting_[g].after); join != join_of_.end())
        join->second = static_cast<int>(g);
    for (auto& [part, event] : join_of_) {
      if (event >= 0) continue;
      event = static_cast<int>(graph_.events.size());
      graph_.events.emplace_back();
    }
    triggers_.resize(tasks_.size());
    for (auto& [part, event] : join_of_) trigger(part, event);
    for (size_t g = 0; g < waiting_.size(); ++g) {
      if (join_of_.count(waiting_[g].after) != 0) continue;
      for (const std::vector<int>& part : parts(waiting_[g].after)) {
        const auto join = join_of_.find(part);
        if (join == join_of_.end())
          trigger(part, static_cast<int>(g));
        else
          chain(join->second, static_cast<int>(g));
      }
    }
    const auto end = static_cast<int>(graph_.events.size());
    graph_.events.emplace_back();
    if (tasks_.empty()) chain(0, end);
    for (size_t g = 0; g < waiting_.size(); ++g)
      for (int i : waiting_[g].tasks) {
        if (triggers_[static_cast<size_t>(i)].empty()) trigger({i}, end);
        const TaskUse& t = tasks_[static_cast<size_t>(i)];
        std::vector<int>& triggers = triggers_[static_cast<size_t>(i)];
        std::sort(triggers.begin(), triggers.end());
        graph_.tasks.push_back({t.step, t.phase, t.begin, t.end, t.cost_us, static_cast<int>(g), triggers});
      }
  }

  void trigger(const std::vector<int>& part, int event) {
    for (int task : part) triggers_[static_cast<size_t>(task)].push_back(event);
    graph_.events[static_cast<size_t>(event)].needed += static_cast<int>(part.size());
  }

  void chain(int event, int next) {
    graph_.events[static_cast<size_t>(event)].then.push_back(next);
    ++graph_.events[static_cast<size_t>(next)].needed;
  }

  const std::vector<TaskUse>& tasks_;
  const std::vector<std::vector<int>> after_;
  const std::vector<double> way_;
  std::vector<Waiting> waiting_;
  std::map<std::vector<int>, int> join_of_;  // the event of a part
  std::vector<std::vector<int>> triggers_;
  TaskGraph graph_;
};

}  // namespace

TaskGraph task_graph(const std::vector<TaskUse>& tasks) {
  KORCH_ASSERT(tasks.size() <= kMostTasks, "too many tasks");
  return GraphMaker(tasks).make();
}

}  // namespace korch
