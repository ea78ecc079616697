#include "korch/plan/task_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "korch/plan/reachable.h"

namespace korch {
namespace {

std::string name_of(const TaskGraph& graph, size_t task) {
  const Task& t = graph.tasks[task];
  return fmt::format("task {} (step {}, phase {}, slices {}..{})", task, t.step, t.phase, t.begin, t.end);
}

// Events in the order in which they fire when tasks run in the graph's order. It ends at `stuck`, the first
// task that stands before what it waits for.
std::vector<int> firing_order(const TaskGraph& graph, size_t* stuck) {
  std::vector<int> left, order;
  for (const Event& event : graph.events) left.push_back(event.needed);
  const auto fire = [&](int event) {
    order.push_back(event);
    for (size_t i = order.size() - 1; i < order.size(); ++i)
      for (int next : graph.events[static_cast<size_t>(order[i])].then)
        if (--left[static_cast<size_t>(next)] == 0) order.push_back(next);
  };
  fire(0);
  for (*stuck = 0; *stuck < graph.tasks.size(); ++*stuck) {
    const Task& task = graph.tasks[*stuck];
    if (left[static_cast<size_t>(task.waits)] != 0) break;
    for (int event : task.triggers)
      if (--left[static_cast<size_t>(event)] == 0) fire(event);
  }
  return order;
}

std::string reference_fault(const TaskGraph& graph) {
  const auto events = static_cast<int>(graph.events.size());
  if (events < 2) return "a task graph has an event that begins it and one that ends it";
  const auto exists = [&](int event) { return event >= 0 && event < events; };
  int waits = 0;
  for (size_t i = 0; i < graph.tasks.size(); ++i) {
    const Task& task = graph.tasks[i];
    if (task.begin < 0 || task.begin >= task.end) return name_of(graph, i) + " has no slices";
    if (!exists(task.waits) || task.waits == events - 1)
      return fmt::format("{} waits for event {}", name_of(graph, i), task.waits);
    if (task.triggers.empty()) return name_of(graph, i) + " triggers nothing";
    for (int event : task.triggers)
      if (!exists(event) || event == 0) return fmt::format("{} triggers event {}", name_of(graph, i), event);
    if (task.waits < waits) return name_of(graph, i) + " is not beside those that wait for the same event";
    waits = task.waits;
  }
  for (int i = 0; i < events; ++i)
    for (int event : graph.events[static_cast<size_t>(i)].then)
      if (!exists(event) || event == 0) return fmt::format("event {} triggers event {}", i, event);
  return {};
}

std::string count_fault(const TaskGraph& graph) {
  std::vector<int> triggered(graph.events.size(), 0);
  for (const Task& task : graph.tasks)
    for (int event : task.triggers) ++triggered[static_cast<size_t>(event)];
  for (const Event& event : graph.events)
    for (int next : event.then) ++triggered[static_cast<size_t>(next)];
  for (size_t i = 0; i < graph.events.size(); ++i) {
    if (triggered[i] != graph.events[i].needed)
      return fmt::format("event {} needs {} triggers and gets {}", i, graph.events[i].needed, triggered[i]);
    if (i > 0 && triggered[i] == 0) return fmt::format("event {} never fires", i);
  }
  if (graph.events.back().then.empty()) return {};
  return "the last event triggers others";
}

// Bits of the tasks that are over when an event fires: one row per event.
BitRows tasks_before(const TaskGraph& graph) {
  BitRows before(graph.events.size(), graph.tasks.size());
  const std::vector<std::pair<int, int>> waiting = waiting_tasks(graph);
  size_t stuck = 0;
  for (int e : firing_order(graph, &stuck)) {
    const auto event = static_cast<size_t>(e);
    for (int next : graph.events[event].then) before.add(static_cast<size_t>(next), event);
    for (int task = waiting[event].first; task < waiting[event].second; ++task)
      for (int next : graph.tasks[static_cast<size_t>(task)].triggers) {
        before.add(static_cast<size_t>(next), event);
        before.set(static_cast<size_t>(next), static_cast<size_t>(task));
      }
  }
  return before;
}

}  // namespace

std::vector<std::pair<int, int>> waiting_tasks(const TaskGraph& graph) {
  std::vector<std::pair<int, int>> waiting(graph.events.size(), {0, 0});
  for (size_t i = 0; i < graph.tasks.size(); ++i) {
    auto& [first, last] = waiting[static_cast<size_t>(graph.tasks[i].waits)];
    if (last == 0) first = static_cast<int>(i);
    last = static_cast<int>(i) + 1;
  }
  return waiting;
}

std::string structural_fault(const TaskGraph& graph) {
  if (std::string fault = reference_fault(graph); !fault.empty()) return fault;
  if (std::string fault = count_fault(graph); !fault.empty()) return fault;
  size_t stuck = 0;
  const std::vector<int> order = firing_order(graph, &stuck);
  if (stuck < graph.tasks.size()) return name_of(graph, stuck) + " stands before what it waits for";
  if (order.size() == graph.events.size() && order.back() == static_cast<int>(graph.events.size()) - 1)
    return {};
  return "events wait for each other, or the last one does not come last";
}

void widen(std::vector<MemoryUse>& whole, const std::vector<MemoryUse>& part) {
  const auto add = [](ByteRanges& to, const ByteRanges& from) {
    const ByteRange more = hull(from);
    if (more.begin == more.end) return;
    if (to.empty())
      to = {more};
    else
      to[0] = {std::min(to[0].begin, more.begin), std::max(to[0].end, more.end)};
  };
  for (const MemoryUse& use : part) {
    auto known = std::find_if(whole.begin(), whole.end(),
                              [&](const MemoryUse& other) { return other.memory == use.memory; });
    if (known == whole.end()) known = whole.insert(known, {use.memory, {}, {}});
    add(known->read, use.read);
    add(known->written, use.written);
  }
}

bool conflict(const std::vector<MemoryUse>& a, const std::vector<MemoryUse>& b) {
  for (const MemoryUse& x : a)
    for (const MemoryUse& y : b)
      if (x.memory == y.memory &&
          (overlap(x.written, y.written) || overlap(x.written, y.read) || overlap(x.read, y.written)))
        return true;
  return false;
}

std::string ordering_fault(const TaskGraph& graph, const std::vector<std::vector<MemoryUse>>& uses) {
  std::map<std::pair<int, int>, std::vector<size_t>> phases;
  for (size_t i = 0; i < graph.tasks.size(); ++i)
    phases[{graph.tasks[i].step, graph.tasks[i].phase}].push_back(i);
  std::vector<std::pair<std::vector<MemoryUse>, const std::vector<size_t>*>> together;
  for (const auto& [phase, tasks] : phases) {
    together.push_back({{}, &tasks});
    for (size_t task : tasks) widen(together.back().first, uses[task]);
  }
  const BitRows before = tasks_before(graph);
  for (size_t q = 0; q < together.size(); ++q)
    for (size_t p = 0; p < q; ++p) {
      if (!conflict(together[p].first, together[q].first)) continue;
      for (size_t j : *together[q].second)
        for (size_t i : *together[p].second) {
          if (before.get(static_cast<size_t>(graph.tasks[j].waits), i) || !conflict(uses[i], uses[j]))
            continue;
          return fmt::format("{} does not come after {}, though they meet in memory", name_of(graph, j),
                             name_of(graph, i));
        }
    }
  const auto last = graph.events.size() - 1;
  for (size_t i = 0; i < graph.tasks.size(); ++i)
    if (!before.get(last, i)) return fmt::format("the end does not wait for {}", name_of(graph, i));
  return {};
}

std::vector<size_t> places(const TaskGraph& graph, const std::vector<TaskUse>& tasks) {
  std::vector<size_t> order(tasks.size()), result;
  for (size_t i = 0; i < tasks.size(); ++i) order[i] = i;
  const auto key = [](const auto& task) { return std::tuple(task.step, task.phase, task.begin); };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(tasks[a]) < key(tasks[b]); });
  for (const Task& task : graph.tasks)
    result.push_back(*std::lower_bound(order.begin(), order.end(), key(task),
                                       [&](size_t a, const auto& wanted) { return key(tasks[a]) < wanted; }));
  return result;
}

std::string print(const TaskGraph& graph) {
  std::string text = "tasks {\n";
  for (size_t i = 0; i < graph.events.size(); ++i) {
    const Event& event = graph.events[i];
    text += fmt::format("  event {} of {}", i, event.needed);
    if (!event.then.empty()) text += fmt::format(" then {}", fmt::join(event.then, ", "));
    text += "\n";
  }
  for (const Task& task : graph.tasks)
    text += fmt::format("  task step {} phase {} slices {}..{} us {} waits {} triggers {}\n", task.step,
                        task.phase, task.begin, task.end, task.cost_us, task.waits,
                        fmt::join(task.triggers, ", "));
  return text + "}\n";
}

}  // namespace korch
